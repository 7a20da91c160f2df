import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** Minimum rate at which a client must read a response. */
export interface ReaderPace {
  /** Longest time without a byte read, milliseconds. */
  stallMs: number
  /** A period, milliseconds, and the bytes that a client must read in each. */
  spanMs: number
  spanBytesMin: number
  /** Interval of the checks, milliseconds. */
  checkMs: number
  /** Monotonic time, milliseconds; by default since the start of the process. */
  monotonicMs?: () => number
}

export const defaultReaderPace: ReaderPace = {
  stallMs: 60_000,
  spanMs: 300_000,
  spanBytesMin: 1_000_000,
  checkMs: 5_000,
}

/** Progress of a client, from the first check that finds unsent bytes to the next one that finds none. */
interface Progress {
  taken: number
  /** Time of the last check that found progress. */
  takenAtMs: number
  spanTaken: number
  spanStartedMs: number
}

/**
 * Closes connections of clients that read slower than `pace` while a response has unsent bytes, so that it holds its
 * memory, its query and its export slot for a bounded time. Time without unsent bytes does not count.
 * @param onClose called for each, with the total bytes that the client has taken
 */
export function enforceReaderPace(
  server: Server,
  pace: ReaderPace,
  onClose: (client: { address: string | undefined; bytesTaken: number }) => void,
): void {
  const { monotonicMs = () => performance.now() } = pace
  const connections = new Map<Socket, Progress | undefined>()
  server.on('connection', (socket) => {
    connections.set(socket, undefined)
    socket.once('close', () => connections.delete(socket))
  })
  const check = () => {
    const nowMs = monotonicMs()
    for (const [socket, last] of connections) {
      if (socket.writableLength === 0) {
        connections.set(socket, undefined)
        continue
      }
      const progress = progressOf(last, bytesTaken(socket), pace, nowMs)
      connections.set(socket, progress)
      if (!isTooSlow(progress, pace, nowMs)) continue
      onClose({ address: socket.remoteAddress, bytesTaken: progress.taken })
      socket.destroy()
    }
  }
  server.once('listening', () => {
    const timer = setInterval(check, pace.checkMs).unref()
    server.once('close', () => clearInterval(timer))
  })
}

function progressOf(last: Progress | undefined, taken: number, { spanMs, spanBytesMin }: ReaderPace, nowMs: number) {
  if (!last) return { taken, takenAtMs: nowMs, spanTaken: taken, spanStartedMs: nowMs }
  const progress = taken > last.taken ? { ...last, taken, takenAtMs: nowMs } : last
  const isNextSpan = nowMs - last.spanStartedMs >= spanMs && taken - last.spanTaken >= spanBytesMin
  return isNextSpan ? { ...progress, spanTaken: taken, spanStartedMs: nowMs } : progress
}

function isTooSlow({ takenAtMs, spanStartedMs }: Progress, { stallMs, spanMs }: ReaderPace, nowMs: number): boolean {
  return nowMs - takenAtMs >= stallMs || nowMs - spanStartedMs >= spanMs
}

/**
 * Bytes that the operating system has taken from a socket. Node's public counters change only at the end of a write of any
 * size; Node's own socket timeouts use this internal field too, to distinguish slow from stalled writes.
 */
function bytesTaken(socket: Socket): number {
  const { _handle: handle } = socket as Socket & { _handle?: { bytesWritten: number; writeQueueSize: number } | null }
  return handle ? handle.bytesWritten - handle.writeQueueSize : socket.bytesWritten - socket.writableLength
}

import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** The least that a client has to read of a response that waits for it. */
export interface ReaderPace {
  /** Longest time without a byte, in milliseconds. */
  stallMs: number
  /** A span of time, in milliseconds, and the bytes that a client has to read in each. */
  spanMs: number
  spanBytesMin: number
  /** How often connections are checked, in milliseconds. */
  checkMs: number
}

export const defaultReaderPace: ReaderPace = {
  stallMs: 60_000,
  spanMs: 300_000,
  spanBytesMin: 1_000_000,
  checkMs: 5_000,
}

/** How a client reads what waits for it; kept from the check that first finds something waiting to the one that finds nothing. */
interface Progress {
  taken: number
  /** When a check last found that more had been taken. */
  takenAtMs: number
  spanTaken: number
  spanStartedMs: number
}

/**
 * Closes connections whose clients read slower than `pace` while bytes wait for them, so that a response holds its
 * memory, its query and its place among the exports for a bounded time. Time in which nothing waits does not count.
 * @param onClose is told of each, with the bytes taken in all
 */
export function enforceReaderPace(
  server: Server,
  pace: ReaderPace,
  onClose: (client: { address: string | undefined; bytesTaken: number }) => void,
): void {
  const connections = new Map<Socket, Progress | undefined>()
  server.on('connection', (socket) => {
    connections.set(socket, undefined)
    socket.once('close', () => connections.delete(socket))
  })
  const check = () => {
    const nowMs = performance.now()
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
 * Bytes that the operating system has taken from a socket. Node's public counters change only when a whole write, of any
 * size, has ended; its own time limits of sockets tell a slow write from a stalled one by this field, too.
 */
function bytesTaken(socket: Socket): number {
  const { _handle: handle } = socket as Socket & { _handle?: { bytesWritten: number; writeQueueSize: number } | null }
  return handle ? handle.bytesWritten - handle.writeQueueSize : socket.bytesWritten - socket.writableLength
}

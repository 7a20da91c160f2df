import type { Server } from 'node:http'
import type { Socket } from 'node:net'

export interface ReaderPace {
  /** Longest time without a byte read, milliseconds. */
  stallMs: number
  /** A period, milliseconds, and the bytes that a client must read in each; a period begins when they have been read. */
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

/** A time of a check, and the bytes that the client had taken by then. */
type Mark = { atMs: number; taken: number }

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
  const { stallMs, spanMs, spanBytesMin, monotonicMs = () => performance.now() } = pace
  /** Where the time without a byte and the present period of a client began, while it has unsent bytes. */
  const connections = new Map<Socket, { stall: Mark; span: Mark } | undefined>()
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
      const now = { atMs: nowMs, taken: bytesTaken(socket) }
      const stall = last && now.taken === last.stall.taken ? last.stall : now
      const span = last && now.taken - last.span.taken < spanBytesMin ? last.span : now
      connections.set(socket, { stall, span })
      if (nowMs - stall.atMs < stallMs && nowMs - span.atMs < spanMs) continue
      onClose({ address: socket.remoteAddress, bytesTaken: now.taken })
      socket.destroy()
    }
  }
  server.once('listening', () => {
    const timer = setInterval(check, pace.checkMs).unref()
    server.once('close', () => clearInterval(timer))
  })
}

/**
 * Bytes that the operating system has taken from a socket. Node's public counters change only at the end of a write of any
 * size; Node's own socket timeouts use this internal field too, to distinguish slow from stalled writes.
 */
function bytesTaken(socket: Socket): number {
  const { _handle: handle } = socket as Socket & { _handle?: { bytesWritten: number; writeQueueSize: number } | null }
  return handle ? handle.bytesWritten - handle.writeQueueSize : socket.bytesWritten - socket.writableLength
}

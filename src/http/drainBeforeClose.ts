import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/** Limits of what is read before a connection closes: bytes, milliseconds in all, and milliseconds without a byte. */
const drainedMaxBytes = 8 << 20
const drainMaxMs = 5_000
const idleMaxMs = 500

const checkMs = 100

/** Connections that get no response but the present ones, and with an error in the last request, the response to it. */
export const ending = new WeakSet<Socket>()

/**
 * Sends the last bytes of a connection, and reads and drops what arrives until the client closes it, within limits. TRAP: a
 * close with unread bytes resets the connection; a client can lose the response, and a proxy takes the server for broken and
 * sends it no other requests.
 */
export function endAndDrain(socket: Socket, bytes = ''): void {
  ending.add(socket)
  socket.end(bytes)
  const atStart = { bytes: socket.bytesRead, ms: performance.now() }
  let last = atStart
  const timer = setInterval(() => {
    const now = { bytes: socket.bytesRead, ms: performance.now() }
    if (now.bytes > last.bytes) last = now
    const isOver = now.bytes - atStart.bytes > drainedMaxBytes || now.ms - atStart.ms > drainMaxMs
    if (isOver || now.ms - last.ms > idleMaxMs) socket.destroy()
  }, checkMs).unref()
  socket.once('close', () => clearInterval(timer))
}

/** Drains connections that close after a response, if the request is incomplete. @param inFlight returns the present request */
export function drainBeforeClose(socket: Socket, inFlight: () => IncomingMessage | undefined): void {
  const close = socket.destroySoon.bind(socket)
  socket.destroySoon = () => {
    const request = inFlight()
    if (!request || request.complete) return close()
    request.once('end', close)
    endAndDrain(socket)
  }
}

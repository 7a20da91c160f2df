import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Requests of one connection that may wait behind the one in flight. TRAP: Node parses everything it has read at once,
 * up to 64 KiB, which holds some 3,600 requests; this number is what bounds their memory.
 */
export const pipelinedMax = 32

type Handler = (request: IncomingMessage, response: ServerResponse) => void

interface Connection {
  inFlight: { request: IncomingMessage; response: ServerResponse } | undefined
  /** In the order of arrival; each is called when everything before it has been answered. */
  readonly waiting: (() => void)[]
}

const connections = new WeakMap<Socket, Connection>()

/**
 * Hands a connection's requests to `handler` one after the other: the next one when the response to the last has been
 * sent. Node hands all of them over at once, and a response that waits for its turn has no socket and never emits `close`,
 * so whatever its request holds would never be released. Requests that wait hold nothing, and go when the connection closes.
 * The socket is not paused meanwhile: a paused socket does not notice that the client has disconnected.
 * @param onExcess ends a connection on which more than `pipelinedMax` requests wait; called for each one that is too many
 */
export function oneRequestPerConnection(
  handler: Handler,
  onExcess: (socket: Socket, inFlight: ServerResponse) => void,
): Handler {
  return (request, response) => {
    const { socket } = request
    const connection = connections.get(socket) ?? { inFlight: undefined, waiting: [] }
    connections.set(socket, connection)
    const start = () => {
      connection.inFlight = { request, response }
      response.once('close', () => {
        connection.inFlight = undefined
        if (socket.destroyed) connection.waiting.length = 0
        else connection.waiting.shift()?.()
      })
      handler(request, response)
    }
    if (!connection.inFlight) start()
    else if (connection.waiting.length < pipelinedMax) connection.waiting.push(start)
    else onExcess(socket, connection.inFlight.response)
  }
}

/**
 * Runs `act` when every request that has arrived whole on this connection has been answered; now, when none is in flight
 * or the one in flight is still arriving; never, when the connection closes first.
 */
export function afterRequests(socket: Socket, act: () => void): void {
  const connection = connections.get(socket)
  if (connection?.inFlight?.request.complete) connection.waiting.push(act)
  else act()
}

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { drainBeforeClose } from './drainBeforeClose.ts'

/**
 * Limit of queued requests per connection, behind the one in flight. TRAP: Node parses all bytes it has read at once, up
 * to 64 KiB or about 3,600 requests; this limit bounds their memory.
 */
export const pipelinedMax = 32

export type Handler = (request: IncomingMessage, response: ServerResponse) => void

interface Connection {
  inFlight: { request: IncomingMessage; response: ServerResponse } | undefined
  /** In order of arrival; each is called when all responses before it have been sent. */
  readonly queued: (() => void)[]
}

const connections = new WeakMap<Socket, Connection>()

/**
 * Passes the requests of a connection to `handler` one at a time: the next one when the response to the last has been
 * sent. Node passes all of them on at once, and a queued response has no socket and never emits `close`, so resources of its
 * request would never be released. Queued requests hold no resources and are dropped when the connection closes. The socket
 * is not paused: a paused socket does not detect that the client has disconnected.
 * @param onExcess closes a connection with more than `pipelinedMax` queued requests; called for each request above the limit
 */
export function oneRequestPerConnection(
  handler: Handler,
  onExcess: (socket: Socket, inFlight: ServerResponse) => void,
): Handler {
  return (request, response) => {
    const { socket } = request
    // The connection closes after the response to an earlier request.
    if (!socket.writable) return
    const connection = connections.get(socket) ?? openConnection(socket)
    const start = () => {
      connection.inFlight = { request, response }
      response.once('close', () => {
        connection.inFlight = undefined
        if (socket.destroyed) connection.queued.length = 0
        else connection.queued.shift()?.()
      })
      handler(request, response)
    }
    if (!connection.inFlight) start()
    else if (connection.queued.length < pipelinedMax) connection.queued.push(start)
    else onExcess(socket, connection.inFlight.response)
  }
}

function openConnection(socket: Socket): Connection {
  const connection: Connection = { inFlight: undefined, queued: [] }
  connections.set(socket, connection)
  drainBeforeClose(socket, () => connection.inFlight?.request)
  return connection
}

/**
 * Calls `act` when every complete request of this connection has its response: immediately when no request is in flight or
 * the one in flight is incomplete; never when the connection closes first.
 */
export function afterRequests(socket: Socket, act: () => void): void {
  const connection = connections.get(socket)
  if (connection?.inFlight?.request.complete) connection.queued.push(act)
  else act()
}

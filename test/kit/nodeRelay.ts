import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Forwards connections to a port of this machine. */
export interface NodeRelay {
  readonly port: number
  close(): void
}

/**
 * Starts a relay that ends connections gracefully: where one side resets a connection, the other side reads the end of the
 * stream. TRAP: the embedded engine aborts when the other node resets a connection of the native protocol.
 */
export async function startNodeRelay(targetPort: number): Promise<NodeRelay> {
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (incoming) => {
    const outgoing = connect({ port: targetPort, host: '127.0.0.1', allowHalfOpen: true })
    forward(incoming, outgoing)
    forward(outgoing, incoming)
    for (const socket of [incoming, outgoing]) {
      sockets.add(socket.setNoDelay(true))
      socket.once('close', () => sockets.delete(socket))
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** After a failure of `from`, `to` gets the end of the stream, and what it still sends is read and dropped. */
function forward(from: Socket, to: Socket): void {
  from.pipe(to)
  from.on('error', () => {
    to.end()
    to.resume()
  })
}

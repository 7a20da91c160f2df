import { connect, createServer, type Socket } from 'node:net'

/**
 * Listens on a Unix socket and relays every connection to a TCP port of 127.0.0.1. ClickHouse listens on TCP only, where a
 * client cannot tell the engine from another user's process that has bound the port since. The socket is in a private
 * folder, and the relay runs in the engine's process: they end together, so connections reach the engine or nothing.
 * @param port of this process
 */
export async function relay(socketPath: string, port: number): Promise<void> {
  const server = createServer((client) => {
    const engine = connect(port, '127.0.0.1').setNoDelay()
    join(client, engine)
    join(engine, client)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(socketPath, resolve)
  })
}

/** One direction. A connection that breaks on one side is closed on the other, so that the engine notices abandoned queries. */
function join(from: Socket, to: Socket): void {
  from.pipe(to)
  from.on('error', () => to.destroy())
  from.on('close', () => {
    if (from.readableEnded) to.destroySoon()
    else to.destroy()
  })
}

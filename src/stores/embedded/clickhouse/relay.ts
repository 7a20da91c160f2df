import { connect, createServer, type Socket } from 'node:net'

/** Bytes that are read from the engine at a time. */
const bufferBytes = 256 * 1024

/**
 * Listens on a Unix socket and relays every connection to a TCP port of 127.0.0.1. ClickHouse listens on TCP only, where a
 * client cannot tell the engine from another user's process that has bound the port since. The socket is in a private
 * folder, and the relay runs in the engine's process: they end together, so connections reach the engine or nothing.
 * @param port of this process
 */
export async function relay(socketPath: string, port: number): Promise<void> {
  const server = createServer((client) => {
    const engine = connectTo(port, client)
    client.pipe(engine)
    engine.on('end', () => client.end())
    closeTogether(client, engine)
    closeTogether(engine, client)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(socketPath, resolve)
  })
}

/**
 * Connects to the engine and writes what it sends to the client. Every read has the same buffer, since a new one for each would
 * double the time of the relay; so the next read waits until the last one is written.
 */
function connectTo(port: number, client: Socket): Socket {
  const engine = connect({
    port,
    host: '127.0.0.1',
    noDelay: true,
    onread: {
      buffer: Buffer.allocUnsafeSlow(bufferBytes),
      callback(size, buffer) {
        client.write(buffer.subarray(0, size), () => engine.resume())
        return client.writableLength === 0
      },
    },
  })
  return engine
}

/** A connection that breaks on one side is closed on the other, so that the engine notices abandoned queries. */
function closeTogether(from: Socket, to: Socket): void {
  from.on('error', () => to.destroy())
  from.on('close', () => {
    if (from.readableEnded) to.destroySoon()
    else to.destroy()
  })
}

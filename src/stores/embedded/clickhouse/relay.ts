import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

const bufferBytes = 256 * 1024

/**
 * Relays connections of a Unix socket to a TCP port of 127.0.0.1. ClickHouse listens on TCP only, where another user's process
 * could have bound the port since. Relay and engine are one process and end together.
 * @param port of this process
 */
export async function relay(socketPath: string, port: number): Promise<void> {
  const server = createServer((client) => {
    const engine = connectEngine(port, client)
    client.pipe(engine)
    engine.on('end', () => client.end())
    closeTogether(client, engine)
    closeTogether(engine, client)
  })
  await once(server.listen(socketPath), 'listening')
}

/** Writes what the engine sends to the client. All reads share a buffer, so the next one waits until the last is written. */
function connectEngine(port: number, client: Socket): Socket {
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

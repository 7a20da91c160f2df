import { once } from 'node:events'
import { connect, createServer } from 'node:net'

const bufferBytes = 256 * 1024

/**
 * Relays connections of a Unix socket to a TCP port of 127.0.0.1. ClickHouse listens on TCP only, where another user's process
 * could have bound the port since. Relay and engine are one process and end together.
 * @param port of this process
 */
export async function relay(socketPath: string, port: number): Promise<void> {
  const server = createServer((client) => {
    const engine = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      // All reads share a buffer, so the next one waits until the last is written: a pipe takes twice the CPU time.
      onread: {
        buffer: Buffer.allocUnsafeSlow(bufferBytes),
        callback(size, buffer) {
          client.write(buffer.subarray(0, size), () => engine.resume())
          return client.writableLength === 0
        },
      },
    })
    client.pipe(engine)
    engine.on('end', () => client.end())
    // A connection that breaks on one side is closed on the other, so that the engine notices abandoned queries.
    engine.on('error', () => client.destroy())
    client.on('error', () => {}).on('close', () => engine.destroy())
  })
  await once(server.listen(socketPath), 'listening')
}

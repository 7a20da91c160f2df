// @module-tag all

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { relay } from '../../../src/stores/embedded/clickhouse/relay.ts'
import { useFolder } from '../../kit/fixtures.ts'
import { until } from '../../kit/until.ts'

const folder = useFolder()
let sockets = 0
const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** @returns a client, and the connection of the relay to a server in place of the engine */
async function connectThroughRelay(): Promise<{ client: Socket; engine: Socket }> {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  sockets += 1
  const path = folder(`relay-${sockets}.sock`)
  await relay(path, (server.address() as AddressInfo).port)
  const client = connect(path)
  const [engine] = (await once(server, 'connection')) as [Socket]
  closing.push(() => {
    client.destroy()
    engine.destroy()
    server.close()
  })
  for (const socket of [client, engine]) socket.on('error', () => {})
  return { client, engine }
}

/** Chunks of all sizes, with a different number in each place. */
function* numbered(bytes: number): Generator<Buffer> {
  let number = 0
  for (let sent = 0; sent < bytes; ) {
    const chunk = Buffer.alloc(4 * (1 + (number % 70_001)))
    for (let at = 0; at < chunk.length; at += 4) chunk.writeUInt32LE(number++, at)
    sent += chunk.length
    yield chunk
  }
}

it('forwards every byte of a request and of its response in order, also to a client that pauses, and then the end', async () => {
  const { client, engine } = await connectThroughRelay()
  const [request, response] = [[...numbered(16 * 1024 * 1024)], [...numbered(64 * 1024 * 1024)]]
  const sending = pipeline(Readable.from(request), client, { end: false })
  const received = createHash('sha256')
  let missing = request.reduce((bytes, chunk) => bytes + chunk.length, 0)
  engine.on('data', (chunk: Buffer) => {
    received.update(chunk)
    missing -= chunk.length
  })
  await sending
  await until(() => missing === 0)
  expect(received.digest('hex')).toBe(digest(request))

  const responding = pipeline(Readable.from(response), engine)
  const forwarded = createHash('sha256')
  let count = 0
  for await (const chunk of client) {
    forwarded.update(chunk as Buffer)
    count += 1
    for (let turn = 0; turn < count % 50; turn++) await nextTurn()
  }
  await responding
  expect(forwarded.digest('hex')).toBe(digest(response))
})

function digest(chunks: readonly Buffer[]): string {
  const hash = createHash('sha256')
  for (const chunk of chunks) hash.update(chunk)
  return hash.digest('hex')
}

it('closes the connection to the engine when the client disconnects in the middle of a response', async () => {
  const { client, engine } = await connectThroughRelay()
  engine.write(Buffer.alloc(8 * 1024 * 1024))
  await once(client, 'data')
  client.destroy()
  await new Promise((resolve) => engine.once('close', resolve))
})

it('closes the connection of the client when the engine ends', async () => {
  const { client, engine } = await connectThroughRelay()
  client.resume()
  engine.write('half of a response')
  await once(client, 'data')
  engine.resetAndDestroy()
  await once(client, 'close')
})

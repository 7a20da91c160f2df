// @module-tag all

import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { PassThrough } from 'node:stream'
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { createTributary, sendRows, type Tributary } from '../../../src/packages/client/client.ts'
import { bridge } from '../../../src/packages/mcp/bridge.ts'
import { fetchByHttp } from '../../../src/packages/sync/source/fetch.ts'
import { useOpened } from '../../kit/fixtures.ts'
import { openHttpServer } from '../../kit/httpServer.ts'

let answer: (response: ServerResponse) => void
let requests = 0
/** Bytes that a client may have received at most, besides the buffers of its connection. */
let written = 0
let clients: [Tributary, Tributary]

const server = useOpened(() =>
  openHttpServer((_request, response) => {
    requests += 1
    answer(response)
  }),
)
beforeAll(() => {
  const options = { baseUrl: server.url, apiKey: 'key', wait: async () => {} }
  clients = [createTributary(options), createTributary({ ...options, fetch: fetchByHttp })]
})
beforeEach(() => {
  requests = 0
  written = 0
})

/** Sends a text without an end until the client closes the connection. */
function sendForEver(response: ServerResponse, contentType: string, status = 200): void {
  response.writeHead(status, { 'content-type': contentType })
  const part = Buffer.alloc(65_536, 'x')
  const send = () => {
    while (!response.destroyed) {
      written += part.length
      if (!response.write(part)) return response.once('drain', send)
    }
  }
  response.write('{"id":"')
  send()
}

async function readAll(rows: AsyncIterable<unknown>): Promise<void> {
  for await (const _row of rows);
}

const unreadable = (message: string) => expect.objectContaining({ code: 'unreadable_response', message })

it('a line of an export without an end is refused at 4 MiB, without a retry', async () => {
  answer = (response) => sendForEver(response, 'application/x-ndjson')
  for (const client of clients) {
    await expect(readAll(client.exportRows('/clicks'))).rejects.toEqual(
      unreadable('A line of the export is longer than 4 MiB.'),
    )
  }
  expect(requests).toBe(clients.length)
  expect(written).toBeLessThan(clients.length * 40 * 1_048_576)
})

it('a body without an end is refused at 64 MiB, with any type and any status', async () => {
  const [client] = clients
  for (const type of ['application/json', 'text/html']) {
    answer = (response) => sendForEver(response, type)
    await expect(client.get('/key')).rejects.toEqual(unreadable('The response is longer than 64 MiB.'))
  }
  answer = (response) => sendForEver(response, 'application/x-ndjson', 503)
  await expect(readAll(client.exportRows('/clicks'))).rejects.toMatchObject({ status: 503 })
  const [input, output] = [new PassThrough(), new PassThrough()]
  const ended = bridge(server.url, 'key', input, output)
  input.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
  const [line] = await once(output, 'data')
  expect(`${line}`).toContain('The response is longer than 64 MiB.')
  input.end()
  await ended
  expect(requests).toBe(4)
})

it('a page that repeats, or is followed by rows that no page has, ends a report', async () => {
  for (const body of [{ next: 'offset=1' }, { next: null }, {}]) {
    answer = (response) => response.end(JSON.stringify({ data: [{ id: 'a' }], truncated: true, ...body }))
    const rows = clients[0].rows('/reports', { query: { group_by: 'day', offset: 0 } })
    await expect(readAll(rows)).rejects.toEqual(
      unreadable('The page says that rows follow, but has no query of the next page: select fewer rows.'),
    )
  }
  expect(requests).toBe(4)
})

it('a cursor that repeats ends a list and an export', async () => {
  answer = (response) => response.end(JSON.stringify({ data: [{ id: 'a' }], nextCursor: 'same' }))
  for (const client of clients) {
    await expect(readAll(client.rows('/clicks'))).rejects.toEqual(
      unreadable('The page says that rows follow, but has no rows or no new cursor.'),
    )
  }
  expect(requests).toBe(2 * clients.length)
  // Each connection breaks after the row.
  answer = (response) => response.write('{"id":"a","cursor":"same"}\n', () => setImmediate(() => response.destroy()))
  for (const client of clients) {
    await expect(readAll(client.exportRows('/clicks'))).rejects.toEqual(
      unreadable('A line of the export repeats the row before.'),
    )
  }
  expect(requests).toBe(4 * clients.length)
})

it('a response that is not one of a feed ends sendRows, and none makes it repeat without a wait', async () => {
  const waits: number[] = []
  const wait = async (ms: number) => void waits.push(ms)
  const send = () => readAll(sendRows(['{}', '{}'], { url: server.url, token: 'x', wait }))
  const type = 'application/x-ndjson'
  const inserted = '{"result":"inserted"}\n'
  for (const [status, body, message] of [
    [200, inserted, 'The response does not have 2 results.'],
    [200, inserted.repeat(3), 'The response does not have 2 results.'],
    [503, `${inserted}${inserted.trim()}x\n`, 'A line of the response is not the result of a row.'],
    [200, '{"result":"stored"}\n'.repeat(2), 'A line of the response is not the result of a row.'],
    [200, `${inserted}null\n`, 'A line of the response is not the result of a row.'],
    [200, `${inserted}{"result":"retry"}\n`, 'The response has status 200 and no message.'],
    [404, '[]', 'The response has status 404 and no message.'],
  ] as const) {
    answer = (response) => response.writeHead(status, { 'content-type': type }).end(body)
    await expect(send()).rejects.toEqual(unreadable(message))
  }
  answer = (response) => sendForEver(response, type, 503)
  await expect(send()).rejects.toEqual(unreadable('The response is longer than 64 MiB.'))
  answer = (response) => response.writeHead(503, { 'retry-after': '86400' }).end()
  await expect(send()).rejects.toMatchObject({ status: 503 })
  expect(waits).toEqual([])
  answer = (response) => {
    if (requests < 12) return response.writeHead(503, { 'retry-after': '0' }).end()
    response.writeHead(200, { 'content-type': type }).end(inserted.repeat(2))
  }
  requests = 0
  await send()
  expect([waits.length, Math.min(...waits) > 330, Math.max(...waits) <= 30_000]).toEqual([11, true, true])
})

it('a response that is not one of the API is refused with the reason', async () => {
  const lines = {
    null: 'has no cursor',
    '{"id":"a"}': 'has no cursor',
    '{"cursor":7}': 'has no cursor',
    '<p>': 'is not JSON',
  }
  for (const client of clients) {
    for (const [line, reason] of Object.entries(lines)) {
      answer = (response) => response.end(`${line}\n`)
      await expect(readAll(client.exportRows('/clicks'))).rejects.toEqual(unreadable(`A line of the export ${reason}.`))
    }
    for (const nextCursor of [7, '', undefined, {}]) {
      answer = (response) => response.end(JSON.stringify({ data: [], nextCursor }))
      await expect(readAll(client.rows('/clicks'))).rejects.toMatchObject({ code: 'unreadable_response' })
    }
    answer = (response) => response.end('<p>')
    await expect(client.get('/key')).rejects.toEqual(unreadable('The response is not JSON.'))
    answer = (response) => response.writeHead(204).end()
    await expect(client.get('/key')).rejects.toMatchObject({ status: 204 })
    answer = (response) => response.writeHead(400).end('{"error":{},"message":["no"],"param":1}')
    await expect(client.get('/key')).rejects.toEqual(unreadable('The response has status 400 and no message.'))
    answer = (response) => response.writeHead(400).end(JSON.stringify({ message: 'x'.repeat(100_000) }))
    await expect(client.get('/key')).rejects.toEqual(unreadable('x'.repeat(4_000)))
  }
})

it('a status that no response may have is an error of the request', async () => {
  answer = (response) => response.writeHead(799).end()
  for (const client of clients) await expect(client.get('/key')).rejects.toThrow()
})

// @module-tag all

import type { RequestListener } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { afterEach, expect, it } from 'vitest'
import { createTributary } from '../../../src/packages/client/client.ts'
import { fetchByHttp } from '../../../src/packages/sync/source/fetch.ts'
import { type HttpServer, openHttpServer } from '../../kit/httpServer.ts'

let server: HttpServer | undefined
afterEach(() => server?.close())

async function serve(listener: RequestListener): Promise<string> {
  server = await openHttpServer(listener)
  return `${server.url}/`
}

it('takes no more of a large response than it reads, beyond the buffers of the connection', async () => {
  const part = Buffer.alloc(2_000, 'x')
  let sent = 0
  const url = await serve((_, response) => {
    const send = () => {
      while (sent < 500_000_000) {
        sent += part.length
        if (!response.write(part)) return response.once('drain', send)
      }
      response.end()
    }
    send()
  })
  const { body } = await fetchByHttp(new Request(url))
  const reader = body?.getReader()
  let read = 0
  for (let parts = 0; parts < 1_000; parts++) {
    read += (await reader?.read())?.value?.length ?? 0
    await setImmediate()
  }
  await reader?.cancel()
  expect(read).toBeGreaterThan(1_000_000)
  expect(sent - read).toBeLessThan(16_000_000)
})

it('asks for no compression on the same machine, and decodes a compressed response', async () => {
  let accepted: unknown
  const url = await serve(({ headers }, response) => {
    accepted = headers['accept-encoding']
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('rows'))
  })
  expect(await (await fetchByHttp(new Request(url))).text()).toBe('rows')
  expect(accepted).toBe('identity')
})

it('fails with the reason of the signal, before the response and within its body', async () => {
  const url = await serve(({ url }, response) => void (url === '/body' && response.write('first')))
  for (const path of ['', 'body']) {
    const controller = new AbortController()
    const received = fetchByHttp(new Request(url + path, { signal: controller.signal }))
    const text = path ? (await received).text() : received
    controller.abort(new Error('stopped by the user'))
    await expect(text).rejects.toThrow('stopped by the user')
  }
})

it('fails if the connection breaks within the body, compressed or not', async () => {
  const url = await serve(({ url }, response) => {
    const isCompressed = url === '/gzip'
    response.writeHead(200, isCompressed ? { 'content-encoding': 'gzip' } : {})
    response.write(isCompressed ? gzipSync('x'.repeat(1_000)).subarray(0, 20) : 'first', () => response.destroy())
  })
  for (const path of ['', 'gzip']) {
    const response = await fetchByHttp(new Request(url + path))
    await expect(response.text()).rejects.toThrow()
  }
})

it('says where a redirect leads, and does not send the key there', async () => {
  let requests = 0
  const url = await serve((_, response) => {
    requests += 1
    response.writeHead(308, { location: 'https://api.example.com/api/v1/key' }).end()
  })
  const client = createTributary({ baseUrl: url, apiKey: 'key', fetch: fetchByHttp })
  await expect(client.get('/key')).rejects.toThrow(
    `${url.slice(0, -1)} redirects to https://api.example.com/api/v1/key; use that address.`,
  )
  expect(requests).toBe(1)
})

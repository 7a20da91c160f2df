import { EventEmitter, once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { beforeAll, describe, expect, it } from 'vitest'
import { setPlanLimits } from '../../src/accounts/plans.ts'
import { useTestApp } from '../kit/app.ts'
import { sendRaw } from '../kit/rawConnection.ts'
import { probeRoutes } from './probe.ts'

const api = useTestApp({ routes: [probeRoutes] })
let key: string

beforeAll(async () => {
  key = await api.account('acme')
  await api.app.listen({ port: 0 })
})

const good = '/api/v1/probe?group_by=day'

function request(
  url: string,
  {
    method = 'GET',
    apiKey = key,
    ...rest
  }: { method?: string; apiKey?: string | null; headers?: object; payload?: string | Buffer } = {},
) {
  return api.app.inject({
    // Some tested methods are not in the types of inject.
    method: method as 'GET',
    url,
    ...rest,
    headers: { ...(apiKey !== null && { authorization: `ApiKey ${apiKey}` }), ...rest.headers },
  })
}

type InjectResponse = Awaited<ReturnType<typeof request>>

function expectProblem(response: InjectResponse, status: number, code: string): void {
  expect([response.statusCode, response.json().error]).toEqual([status, code])
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
  expect(response.json().requestId).toBe(response.headers['x-request-id'])
  expect(response.json().message).toMatch(/^[^\n]+\.$/)
}

function expectBudget(response: InjectResponse): void {
  expect(Number(response.headers['x-ratelimit-limit'])).toBeGreaterThan(0)
  expect(Number(response.headers['x-ratelimit-remaining'])).toBeGreaterThanOrEqual(0)
  expect(Number(response.headers['x-ratelimit-reset'])).toBeGreaterThan(0)
  expect(Number(response.headers['x-ratelimit-reset'])).toBeLessThanOrEqual(60)
}

describe('authentication', () => {
  it('accepts a key with the scheme ApiKey or Bearer in any case, or without a scheme', async () => {
    const schemes = ['ApiKey ', 'apikey ', 'APIKEY   ', 'Bearer ', 'bearer  ', '']
    for (const authorization of [...schemes.map((scheme) => scheme + key), `ApiKey ${key} `])
      expect((await request(good, { apiKey: null, headers: { authorization } })).statusCode).toBe(200)
  })

  it('accepts a key as the password of Basic with any user name, and never offers Basic or takes a key from the address', async () => {
    const send = (authorization: string, url = good) => request(url, { apiKey: null, headers: { authorization } })
    const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
    for (const user of ['', 'api', 'müller', 'x'.repeat(300)])
      expect((await send(basic(`${user}:${key}`))).statusCode).toBe(200)
    expect((await send(basic(`user:${key}`).replace('Basic', 'basic '))).statusCode).toBe(200)
    const malformed = ['Basic ???', `Basic ${key}`, 'Basic e Q==', basic(key), basic(`${key}:`), basic(`a:b:${key}`)]
    for (const authorization of [...malformed, basic('user:wrong'), basic('user:'), 'Basic']) {
      const response = await send(authorization)
      const isMissing = ['Basic', basic('user:'), basic(`${key}:`)].includes(authorization)
      expectProblem(response, 401, isMissing ? 'missing_api_key' : 'invalid_api_key')
      expect(response.headers['www-authenticate']).toBe('ApiKey')
      if (!isMissing) expect(response.json().message).toContain('as the password of Basic, with any user name.')
    }
    for (const name of ['api_key', 'key', 'Authorization'])
      expectProblem(await request(`${good}&${name}=${key}`, { apiKey: null }), 401, 'missing_api_key')
  })

  it('refuses a value of Authorization above 512 characters unread, also around a valid key', async () => {
    const send = (authorization: string) => request(good, { apiKey: null, headers: { authorization } })
    const spaced = (length: number) => `ApiKey${key.padStart(length - 'ApiKey'.length)}`
    expect((await send(spaced(512))).statusCode).toBe(200)
    for (const authorization of [spaced(513), `ApiKey${' '.repeat(16_000)}x y`, `Basic ${'x'.repeat(16_000)}`]) {
      const response = await send(authorization)
      expectProblem(response, 401, 'invalid_api_key')
      expect(response.json().message).toContain('longer than 512 characters')
    }
  })

  it('takes the account from the key; nothing in the request can select another', async () => {
    const other = await api.account('other')
    const response = await request('/api/v1/probe/mine', { apiKey: other, headers: { 'x-account-id': 'acme' } })
    expect(response.json()).toEqual({ accountId: 'other', plan: 'scale' })
  })
})

it('a server does not start when a route under /api/v1 declares no scope', async () => {
  for (const path of ['/open', '/docsx', '']) {
    const server = api.open({ routes: [(app) => void app.get(path, () => ({}))] })
    await expect(server).rejects.toThrow(`/api/v1${path} declares no scope`)
  }
})

it('a server counts reads and events separately and each key alone; above the limit it responds 429 with Retry-After', async () => {
  await setPlanLimits(api.stores.postgres, 'pro', { requestsPerMinute: 3, eventsPerMinute: 2 })
  const narrow = await api.account('narrow', { plan: 'pro' })
  const reads = []
  for (let count = 0; count < 5; count++) reads.push(await request(good, { apiKey: narrow }))
  expect(reads.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 429, 429])
  expect(reads.map(({ headers }) => headers['x-ratelimit-remaining'])).toEqual(['2', '1', '0', '0', '0'])
  const refused = reads[4] as InjectResponse
  expectProblem(refused, 429, 'rate_limited')
  expectBudget(refused)
  expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1)
  expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60)
  const events = []
  const event = { method: 'POST', payload: '{}', headers: json, apiKey: narrow }
  for (let count = 0; count < 3; count++) events.push(await request('/api/v1/events', event))
  expect(events.map(({ statusCode }) => statusCode)).toEqual([200, 200, 429])
  expect((await request(good)).statusCode).toBe(200)
})

describe('paths', () => {
  it('responds 404 to an unknown path, with or without a key', async () => {
    for (const url of [
      '/api',
      '/api/v1',
      '/api/v1/',
      '/api/v1/nope',
      '/api/v1/probe/',
      '/api/v1/probe/mine/x',
      '/api/v2/probe',
      '/metrics',
    ]) {
      expectProblem(await request(url), 404, 'not_found')
      expectProblem(await request(url, { apiKey: null }), 404, 'not_found')
      expectProblem(await request(url, { apiKey: 'nonsense' }), 404, 'not_found')
    }
    expectProblem(await request('/api/v1/nope', { method: 'POST', payload: '{', headers: json }), 404, 'not_found')
  })

  it('responds to HEAD as to GET, without the body', async () => {
    const response = await request(good, { method: 'HEAD' })
    expect([response.statusCode, response.body]).toEqual([200, ''])
    expect((await request(good, { method: 'HEAD', apiKey: null })).statusCode).toBe(401)
    expect((await request('/api/v1/probe?nope=1', { method: 'HEAD' })).statusCode).toBe(400)
  })

  it('responds 400 to a path that is not percent-encoded UTF-8', async () => {
    for (const url of ['/api/v1/probe/%zz', '/api/v1/%ff', '/%']) {
      expectProblem(await request(url), 400, 'invalid_url')
      expectProblem(await request(url, { apiKey: null }), 400, 'invalid_url')
    }
  })
})

const json = { 'content-type': 'application/json' }

describe('request bodies', () => {
  const send = (payload: string | Buffer, headers: object = json) =>
    request('/api/v1/events', { method: 'POST', payload, headers })

  it('reads the content type in any case, with parameters, and no other type', async () => {
    const read = await send('{"a":1}', { 'content-type': 'Application/JSON; charset=utf-8' })
    expect(read.json()).toEqual({ body: { a: 1 } })
    for (const type of ['application/x-www-form-urlencoded', 'application/jsonx', 'nonsense'])
      expectProblem(await send('{"a":1}', { 'content-type': type }), 415, 'unsupported_media_type')
    expectProblem(await request('/api/v1/events', { method: 'POST' }), 400, 'invalid_body')
    expectProblem(await send(Buffer.from([0xff, 0xfe])), 400, 'invalid_json')
  })
})

describe('responses', () => {
  it('sends its own request id, a UUIDv7, whatever the client sends', async () => {
    const response = await request(good, { headers: { 'x-request-id': 'mine', 'request-id': 'mine' } })
    expect(response.headers['x-request-id']).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    )
    const ids = await Promise.all([good, '/nope', '/api/v1/docs/json', '/healthz', '/%'].map((url) => request(url)))
    expect(new Set(ids.map(({ headers }) => headers['x-request-id'])).size).toBe(5)
  })

  it('sends responses in flight before the server closes', async () => {
    const steps = new EventEmitter()
    const started = once(steps, 'started')
    const slow = await api.open({
      routes: [
        (app) =>
          void app.get('/slow', { config: { scope: 'read:clicks' } }, async () => {
            steps.emit('started')
            await once(steps, 'response')
            return { done: true }
          }),
      ],
    })
    const url = await slow.listen({ port: 0 })
    const response = fetch(`${url}/api/v1/slow`, { headers: { authorization: `ApiKey ${key}` } })
    await started
    const closed = slow.close()
    await expect.poll(() => fetch(`${url}/healthz`).catch(() => 'refused')).toBe('refused')
    steps.emit('response')
    expect(await (await response).json()).toEqual({ done: true })
    await closed
  })

  it('sends the security headers with every response', async () => {
    for (const response of [await request(good), await request(good, { apiKey: null }), await request('/nope')]) {
      expect(response.headers['x-content-type-options']).toBe('nosniff')
      expect(response.headers['content-security-policy']).toBe("default-src 'none';frame-ancestors 'none'")
      expect(response.headers['access-control-allow-origin']).toBeUndefined()
    }
  })
})

describe('invalid HTTP', () => {
  it('responds to invalid HTTP with an error of the API and closes the connection', async () => {
    for (const [bytes, status, code] of [
      ['HELLO\r\n\r\n', 400, 'invalid_request'],
      ['GET / HTTP/9.9\r\n\r\n', 400, 'invalid_request'],
      ['POST /api/v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: abc\r\n\r\n', 400, 'invalid_request'],
      [`GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431, 'headers_too_large'],
      [`GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'headers_too_large'],
      ...['GET / HTTP/2.0', 'GET / HTTP/0.9', 'POST /api/v1/events HTTP/2.0'].map(
        (line) => [`${line}\r\nHost: x\r\n\r\n`, 400, 'invalid_request'] as const,
      ),
      ['GET / HTTP/1.1\r\n\r\n', 400, 'invalid_request'],
      ['GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n', 400, 'invalid_request'],
      ['GET /healthz HTTP/1.1\r\nHOST: x\r\nA: b\r\nhost: y\r\n\r\n', 400, 'invalid_request'],
      [`GET / HTTP/1.1\r\nHost: x\r\n${'a:b\r\n'.repeat(1_200)}\r\n`, 431, 'headers_too_large'],
      [`GET /api/v1/key HTTP/1.1\r\nHost: x\r\n${'a:b\r\n'.repeat(1_000)}\r\n`, 431, 'headers_too_large'],
    ] as const) {
      const response = await sendRaw(api.app, bytes)
      const [head = '', body = ''] = response.split('\r\n\r\n')
      expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
      expect(JSON.parse(body)).toMatchObject({ error: code, requestId: expect.any(String) })
      expect(head.toLowerCase()).toContain(`x-request-id: ${JSON.parse(body).requestId}`)
    }
  })

  it('reads each of 1,000 headers', async () => {
    const many = `Host: x\r\n${'a:b\r\n'.repeat(997)}`
    const response = await sendRaw(
      api.app,
      `GET ${good} HTTP/1.1\r\n${many}Connection: close\r\nAuthorization: ApiKey ${key}\r\n\r\n`,
    )
    expect(response).toMatch(/^HTTP\/1\.1 200 /)
  })

  it('responds to an invalid HEAD request without a body, which the client would read as the next response', async () => {
    const response = await sendRaw(api.app, 'HEAD / HTTP/9.9\r\n\r\n')
    expect(response).toMatch(/^HTTP\/1\.1 400 /)
    expect(response.split('\r\n\r\n')).toEqual([expect.stringMatching(/content-length: \d+/i), ''])
  })

  it('applies the body limit to a body without Content-Length', async () => {
    const head = `POST /api/v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: ApiKey ${key}\r\nContent-Type: application/json\r\n`
    const chunk = `2710\r\n${'x'.repeat(10_000)}\r\n`
    const response = await sendRaw(api.app, `${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(20)}0\r\n\r\n`)
    expect(response).toMatch(/^HTTP\/1\.1 413 /)
  })

  it('sends the response to a refused body while its rest arrives, and reads at most 8 MiB of it', async () => {
    const { port } = api.app.server.address() as AddressInfo
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {})
    const closed = new Promise((resolve) => socket.once('close', resolve))
    let received = ''
    socket.on('data', (bytes) => {
      received += bytes
    })
    socket.write(`POST /api/v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: ApiKey ${key}\r\n`)
    socket.write('Content-Type: application/json\r\nContent-Length: 1000000000\r\n\r\n')
    let sent = 0
    const sendUpTo = async (bytes: number) => {
      for (const part = Buffer.alloc(100_000, 'x'); sent < bytes && !socket.destroyed; sent += part.length) {
        if (!socket.write(part)) await Promise.race([once(socket, 'drain').catch(() => closed), closed])
      }
    }
    await expect.poll(() => received).toMatch(/^HTTP\/1\.1 413 /)
    await sendUpTo(4_500_000)
    expect(socket.destroyed).toBe(false)
    await sendUpTo(100_000_000)
    expect(sent).toBeLessThan(100_000_000)
  })
})

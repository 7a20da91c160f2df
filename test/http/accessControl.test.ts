import { EventEmitter, once } from 'node:events'
import { request as rawRequest } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { scopes } from '../../schema/scopes.ts'
import { makeKeyText } from '../../src/accounts/keyFormat.ts'
import { setPlanLimits } from '../../src/accounts/plans.ts'
import { buildApp } from '../../src/app.ts'
import { testNowMs } from '../kit/app.ts'
import { openProbe, type Probe } from './probe.ts'

let probe: Probe
let key: string

beforeAll(async () => {
  probe = await openProbe()
  key = await probe.key('acme')
  await probe.app.listen({ port: 0 })
})
afterAll(() => probe.close())

const good = '/api/v1/probe?group_by=day'

function ask(
  url: string,
  {
    method = 'GET',
    apiKey = key,
    ...rest
  }: { method?: string; apiKey?: string | null; headers?: object; payload?: string | Buffer } = {},
) {
  return probe.app.inject({
    // Methods that the types of inject do not know are sent as well.
    method: method as 'GET',
    url,
    ...rest,
    headers: { ...(apiKey !== null && { authorization: `ApiKey ${apiKey}` }), ...rest.headers },
  })
}

type Answer = Awaited<ReturnType<typeof ask>>

function expectProblem(answer: Answer, status: number, code: string): void {
  expect([answer.statusCode, answer.json().error]).toEqual([status, code])
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
  expect(answer.json().requestId).toBe(answer.headers['x-request-id'])
  expect(answer.json().message).toMatch(/^[^\n]+\.$/)
}

function expectBudget(answer: Answer): void {
  expect(Number(answer.headers['x-ratelimit-limit'])).toBeGreaterThan(0)
  expect(Number(answer.headers['x-ratelimit-remaining'])).toBeGreaterThanOrEqual(0)
  expect(Number(answer.headers['x-ratelimit-reset'])).toBeGreaterThan(0)
  expect(Number(answer.headers['x-ratelimit-reset'])).toBeLessThanOrEqual(60)
}

describe('the key', () => {
  it('is asked for before anything else is judged', async () => {
    for (const url of [good, '/api/v1/probe?nope=1', '/api/v1/probe/x', '/api/v1/probe/%20']) {
      const answer = await ask(url, { apiKey: null })
      expectProblem(answer, 401, 'missing_api_key')
      expect(answer.headers['www-authenticate']).toBe('ApiKey')
      expect(answer.headers['x-ratelimit-limit']).toBeUndefined()
    }
    expectProblem(await ask('/api/v1/events', { method: 'POST', apiKey: null, payload: '{' }), 401, 'missing_api_key')
  })

  it('is taken with any spelling of the scheme and any number of spaces', async () => {
    for (const authorization of [`ApiKey ${key}`, `apikey ${key}`, `APIKEY   ${key} `]) {
      expect((await ask(good, { apiKey: null, headers: { authorization } })).statusCode).toBe(200)
    }
  })

  it('of another form, scheme or checksum, or of nobody, is invalid', async () => {
    for (const authorization of [`Bearer ${key}`, `Basic ${key}`, key, `ApiKey ${key} x`, `ApiKey ${makeKeyText()}`]) {
      expectProblem(await ask(good, { apiKey: null, headers: { authorization } }), 401, 'invalid_api_key')
    }
  })

  it('names the account, and nothing in the request can name another', async () => {
    const other = await probe.key('other')
    const answer = await ask('/api/v1/probe/mine', { apiKey: other, headers: { 'x-account-id': 'acme' } })
    expect(answer.json()).toEqual({ accountId: 'other', plan: 'scale' })
  })

  it('of an account without API is refused with plan_required, before its scopes', async () => {
    const free = await probe.key('free', { plan: 'free', scopes: [] })
    const answer = await ask(good, { apiKey: free })
    expectProblem(answer, 403, 'plan_required')
    expect(answer.headers['x-ratelimit-limit']).toBe('0')
    expect(answer.headers['x-ratelimit-remaining']).toBe('0')
  })
})

describe('the scope', () => {
  it('that a route declares is what its keys need; the answer names it', async () => {
    const reader = await probe.key('reader', { scopes: scopes.filter((scope) => scope !== 'write:events') })
    expect((await ask(good, { apiKey: reader })).statusCode).toBe(200)
    const refused = await ask('/api/v1/events', { method: 'POST', apiKey: reader, payload: '{' })
    expectProblem(refused, 403, 'insufficient_scope')
    expect(refused.json().required).toBe('write:events')
    const writer = await probe.key('writer', { scopes: ['write:events'] })
    const sent = await ask('/api/v1/events', { method: 'POST', apiKey: writer, payload: '{}', headers: json })
    expect(sent.statusCode).toBe(200)
    const missing = await ask('/api/v1/probe?nope=1', { apiKey: writer })
    expectProblem(missing, 403, 'insufficient_scope')
    expect(missing.json().required).toBe('read:clicks')
  })

  it('must be declared by every route under /api/v1, or the server does not start', async () => {
    const { stores } = probe
    const build = (path: string) =>
      buildApp({
        settings: stores.settings,
        stores,
        now: () => testNowMs,
        routes: [(app) => void app.get(path, () => ({}))],
      })
    await expect(build('/open')).rejects.toThrow('/api/v1/open declares no scope')
    await expect(build('/docsx')).rejects.toThrow('declares no scope')
    await expect(build('')).rejects.toThrow('declares no scope')
  })
})

describe('the rate limit', () => {
  it('is the plan’s, per key, and told in the headers of every answer to a key', async () => {
    const answers = [
      await ask(good),
      await ask(good, { method: 'HEAD' }),
      await ask('/api/v1/probe/mine'),
      await ask('/api/v1/probe?nope=1'),
      await ask('/api/v1/probe/absent'),
      await ask('/api/v1/bug'),
      await ask('/api/v1/events', { method: 'POST', payload: '{}', headers: json }),
      await ask('/api/v1/events', { method: 'POST', payload: '{', headers: json }),
      await ask('/api/v1/events', { method: 'POST', payload: '<x/>', headers: { 'content-type': 'text/xml' } }),
      await ask('/api/v1/events', { method: 'POST', payload: `{"a":"${'x'.repeat(70_000)}"}`, headers: json }),
      await ask('/api/v1/nowhere'),
      await ask(good, { method: 'DELETE' }),
    ]
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([
      200, 200, 200, 400, 404, 500, 200, 400, 415, 413, 404, 405,
    ])
    for (const answer of answers) expectBudget(answer)
    expect(answers[0]?.headers['x-ratelimit-limit']).toBe('6000')
    expect(answers[6]?.headers['x-ratelimit-limit']).toBe('60000')
  })

  it('counts reads and events apart, refuses what is too many with the seconds to wait, and no key pays for another', async () => {
    await setPlanLimits(probe.stores.postgres, 'pro', { requestsPerMinute: 3, eventsPerMinute: 2 })
    const narrow = await probe.key('narrow', { plan: 'pro' })
    const reads = []
    for (let count = 0; count < 5; count++) reads.push(await ask(good, { apiKey: narrow }))
    expect(reads.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 429, 429])
    expect(reads.map(({ headers }) => headers['x-ratelimit-remaining'])).toEqual(['2', '1', '0', '0', '0'])
    const refused = reads[4] as Answer
    expectProblem(refused, 429, 'rate_limited')
    expectBudget(refused)
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1)
    expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60)
    const events = []
    const event = { method: 'POST', payload: '{}', headers: json, apiKey: narrow }
    for (let count = 0; count < 3; count++) events.push(await ask('/api/v1/events', event))
    expect(events.map(({ statusCode }) => statusCode)).toEqual([200, 200, 429])
    expect((await ask(good)).statusCode).toBe(200)
  })

  it('comes after the scope and before the parameters', async () => {
    const spent = await probe.key('spent', { plan: 'pro', scopes: ['read:clicks'] })
    for (let count = 0; count < 3; count++) await ask(good, { apiKey: spent })
    expectProblem(await ask('/api/v1/probe?nope=1', { apiKey: spent }), 429, 'rate_limited')
    const event = { method: 'POST', payload: '{}', headers: json, apiKey: spent }
    for (let count = 0; count < 4; count++) {
      expectProblem(await ask('/api/v1/events', event), 403, 'insufficient_scope')
    }
    expectProblem(await ask('/api/v1/nowhere', { apiKey: spent }), 404, 'not_found')
  })
})

describe('a path', () => {
  it('that is unknown is 404 with or without a key', async () => {
    for (const url of [
      '/',
      '/api',
      '/api/v1',
      '/api/v1/',
      '/api/v1/nope',
      '/api/v1/probe/',
      '/api/v2/probe',
      '/metrics',
    ]) {
      expectProblem(await ask(url), 404, 'not_found')
      expectProblem(await ask(url, { apiKey: null }), 404, 'not_found')
      expectProblem(await ask(url, { apiKey: 'nonsense' }), 404, 'not_found')
    }
    expectProblem(await ask('/api/v1/nope', { method: 'POST', payload: '{', headers: json }), 404, 'not_found')
  })

  it('that is known says which methods it takes', async () => {
    for (const [url, method, allow] of [
      [good, 'POST', 'GET, HEAD'],
      [good, 'DELETE', 'GET, HEAD'],
      [good, 'OPTIONS', 'GET, HEAD'],
      [good, 'PROPFIND', 'GET, HEAD'],
      ['/api/v1/probe/x', 'PATCH', 'GET, HEAD'],
      ['/api/v1/events', 'GET', 'POST'],
      ['/api/v1/docs/json', 'POST', 'GET, HEAD'],
      ['/healthz', 'POST', 'GET, HEAD'],
    ] as const) {
      const answer = await ask(url, { method, apiKey: null })
      expectProblem(answer, 405, 'method_not_allowed')
      expect(answer.headers.allow).toBe(allow)
    }
  })

  it('answers HEAD like GET, without the body', async () => {
    const answer = await ask(good, { method: 'HEAD' })
    expect([answer.statusCode, answer.body]).toEqual([200, ''])
    expect((await ask(good, { method: 'HEAD', apiKey: null })).statusCode).toBe(401)
    expect((await ask('/api/v1/probe?nope=1', { method: 'HEAD' })).statusCode).toBe(400)
  })

  it('with an id that can’t be one answers like one with an id that is not there', async () => {
    const absent = await ask('/api/v1/probe/absent')
    expectProblem(absent, 404, 'not_found')
    for (const id of ['%20', 'a%2Fb', 'x'.repeat(65), 'x'.repeat(5_000), '%C3%A9', '%00', "'%20OR%201=1"]) {
      const answer = await ask(`/api/v1/probe/${id}`)
      expectProblem(answer, 404, 'not_found')
      expect(answer.json().message).toBe(absent.json().message)
    }
  })

  it('that is no percent-encoded UTF-8 is 400', async () => {
    for (const url of ['/api/v1/probe/%zz', '/api/v1/%ff', '/%']) {
      expectProblem(await ask(url), 400, 'invalid_url')
      expectProblem(await ask(url, { apiKey: null }), 400, 'invalid_url')
    }
  })
})

describe('parameters', () => {
  it('that a route does not declare are refused, also where it declares none', async () => {
    for (const url of ['/api/v1/probe?group_by=day&nope=1', '/api/v1/probe/mine?nope=1']) {
      const answer = await ask(url)
      expectProblem(answer, 400, 'unknown_parameter')
      expect(answer.json().param).toBe('nope')
    }
  })

  it('reach the handler typed', async () => {
    const answer = await ask('/api/v1/probe?group_by=day&converted=true&limit=3')
    expect(answer.json().query).toEqual({ group_by: 'day', converted: true, limit: 3 })
  })
})

const json = { 'content-type': 'application/json' }

describe('a body', () => {
  const send = (payload: string | Buffer, headers: object = json) =>
    ask('/api/v1/events', { method: 'POST', payload, headers })

  it('that is a JSON object reaches the handler as it is, uncoerced', async () => {
    const body = { click_id: 5, value: '1', deep: [{ a: null }], é: 'ü' }
    expect((await send(JSON.stringify(body))).json()).toEqual({ body })
    const charset = await send('{"a":1}', { 'content-type': 'Application/JSON; charset=utf-8' })
    expect(charset.json()).toEqual({ body: { a: 1 } })
  })

  it('loses the keys __proto__ and constructor, and is not refused for them', async () => {
    const answer = await send('{"a":1,"__proto__":{"x":1},"constructor":{"prototype":{"y":1}},"b":{"__proto__":1}}')
    expect([answer.statusCode, answer.body]).toEqual([200, '{"body":{"a":1,"b":{}}}'])
  })

  it('that is no JSON, or no object, is refused', async () => {
    for (const payload of ['', '{', '{"a":1}}', "{'a':1}", '{"a":NaN}', '\u0000', Buffer.from([0xff, 0xfe])]) {
      expectProblem(await send(payload), 400, 'invalid_json')
    }
    for (const payload of ['[]', '[{}]', 'null', '1', '"x"', 'true']) {
      expectProblem(await send(payload), 400, 'invalid_body')
    }
    expectProblem(await ask('/api/v1/events', { method: 'POST' }), 400, 'invalid_body')
  })

  it('of another type is refused, and so is one without a type', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx', 'nonsense', '']) {
      expectProblem(await send('{"a":1}', { 'content-type': type }), 415, 'unsupported_media_type')
    }
  })

  it('may have 64 KiB and not a byte more', async () => {
    const bodyOf = (bytes: number) => `{"a":"${'x'.repeat(bytes - 8)}"}`
    expect((await send(bodyOf(65_536))).statusCode).toBe(200)
    expectProblem(await send(bodyOf(65_537)), 413, 'payload_too_large')
  })
})

describe('an answer', () => {
  it('carries a request id of ours, a UUIDv7, whatever the caller sends', async () => {
    const answer = await ask(good, { headers: { 'x-request-id': 'mine', 'request-id': 'mine' } })
    expect(answer.headers['x-request-id']).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    )
    const ids = await Promise.all([good, '/nope', '/api/v1/docs/json', '/healthz', '/%'].map((url) => ask(url)))
    expect(new Set(ids.map(({ headers }) => headers['x-request-id'])).size).toBe(5)
  })

  it('that is under way leaves before the server closes', async () => {
    const { stores } = probe
    const steps = new EventEmitter()
    const asked = once(steps, 'asked')
    const slow = await buildApp({
      settings: stores.settings,
      stores,
      now: () => testNowMs,
      routes: [
        (app) =>
          void app.get('/slow', { config: { scope: 'read:clicks' } }, async () => {
            steps.emit('asked')
            await once(steps, 'answer')
            return { done: true }
          }),
      ],
    })
    const url = await slow.listen({ port: 0 })
    const answer = fetch(`${url}/api/v1/slow`, { headers: { authorization: `ApiKey ${key}` } })
    await asked
    const closed = slow.close()
    await expect.poll(() => fetch(`${url}/healthz`).catch(() => 'refused')).toBe('refused')
    steps.emit('answer')
    expect(await (await answer).json()).toEqual({ done: true })
    await closed
  })

  it('that is a bug of ours tells nothing of the inside', async () => {
    const answer = await ask('/api/v1/bug')
    expectProblem(answer, 500, 'internal_error')
    expect(answer.body).not.toContain('secret')
  })

  it('carries the headers that keep browsers from making something else of it', async () => {
    for (const answer of [await ask(good), await ask(good, { apiKey: null }), await ask('/nope')]) {
      expect(answer.headers['x-content-type-options']).toBe('nosniff')
      expect(answer.headers['content-security-policy']).toBe("default-src 'none';frame-ancestors 'none'")
      expect(answer.headers['access-control-allow-origin']).toBeUndefined()
    }
  })
})

describe('bytes that are no proper request', () => {
  /** Sends bytes as they are and reads until the server closes. */
  async function sendBytes(bytes: string): Promise<string> {
    const socket = connect((probe.app.server.address() as AddressInfo).port, '127.0.0.1')
    socket.write(bytes)
    return await text(socket)
  }

  it('are answered in the words of the API, and the connection ends', async () => {
    for (const [bytes, status, code] of [
      ['HELLO\r\n\r\n', 400, 'invalid_request'],
      ['GET / HTTP/9.9\r\n\r\n', 400, 'invalid_request'],
      ['POST /api/v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: abc\r\n\r\n', 400, 'invalid_request'],
      [`GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431, 'headers_too_large'],
      [`GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'headers_too_large'],
    ] as const) {
      const answer = await sendBytes(bytes)
      const [head = '', body = ''] = answer.split('\r\n\r\n')
      expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
      expect(JSON.parse(body)).toMatchObject({ error: code, requestId: expect.any(String) })
      expect(head.toLowerCase()).toContain(`x-request-id: ${JSON.parse(body).requestId}`)
    }
  })

  it('are answered without a body when they ask HEAD, as what follows would be read as the next answer', async () => {
    const answer = await sendBytes('HEAD / HTTP/9.9\r\n\r\n')
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer.split('\r\n\r\n')).toEqual([expect.stringMatching(/content-length: \d+/i), ''])
  })

  it('are counted to the body limit also when they come without a length', async () => {
    const { port } = probe.app.server.address() as AddressInfo
    const headers = { authorization: `ApiKey ${key}`, ...json }
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const sent = rawRequest({ port, path: '/api/v1/events', method: 'POST', headers }, (answer) => {
        answer.resume()
        resolve(answer.statusCode)
      })
      sent.on('error', reject)
      for (let chunk = 0; chunk < 20; chunk++) sent.write('x'.repeat(10_000))
      sent.end()
    })
    expect(status).toBe(413)
  })
})

import { EventEmitter, once } from 'node:events'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { Ajv } from 'ajv'
import fc from 'fast-check'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { setPlanLimits } from '../../../src/accounts/plans.ts'
import { openMetrics } from '../../../src/http/prometheusMetrics.ts'
import { testNowMs, useTestApp } from '../../kit/app.ts'
import { forEachConcurrently } from '../../kit/forEachConcurrently.ts'
import { interceptClickHouse } from '../../kit/interceptedClickHouse.ts'
import { type Arguments, callTool, parseTable, reproduced, sendMcp, toolResult } from '../../kit/mcp.ts'
import { randomCases } from '../../kit/randomCases.ts'
import { openRaw } from '../../kit/rawConnection.ts'
import { storeClicks, storeMetadata } from '../../kit/rows.ts'

const metrics = openMetrics()
const api = useTestApp({ metrics })
const keys = { acme: '', other: '' }
let url: URL
const numbers = (length: number) => Array.from({ length }, (_, n) => n)
const clickIds = numbers(30).map((n) => `c${String(n).padStart(2, '0')}`)

beforeAll(async () => {
  for (const account of ['acme', 'other'] as const) {
    const clicks = account === 'acme' ? clickIds : clickIds.slice(0, 7)
    keys[account] = await api.account(account)
    await storeMetadata(api.stores, 'campaigns', account, [{ id: 'k1', name: `Spring of ${account}` }])
    const rows = clicks.map((id, n) => ({
      ...{ id, clicked_at: `2026-11-20 10:00:${id.slice(1)}.000`, campaign_id: 'k1', country: n % 2 ? 'DE' : 'US' },
      ...{ utm_term: ['17', '17', 'a, b', '!x'][n] ?? '', referrer: `https://example.com/${'x'.repeat(4_000)}` },
    }))
    await storeClicks(api.stores, account, rows)
  }
  url = new URL('/api/v1/mcp', await api.app.listen({ port: 0, host: '127.0.0.1' }))
})

const toolNames = 'get_reports get_stats list_rows get_item search get_funnels get_journeys get_account'.split(' ')
const request = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 1, method, params })
const call = (name: string, given: Arguments = {}) => request('tools/call', { name, arguments: given })

/** Calls a tool that refuses. @returns the text of the error */
async function errorOf(key: string, name: string, given: Arguments): Promise<string> {
  const { isError, texts } = await callTool(api.app, key, name, given)
  expect([name, given, isError, texts.length]).toEqual([name, given, true, 1])
  return texts.join()
}

/** Reads all pages of a tool by the hints of its results. @returns the rows, and how many each result has */
async function readPages(name: string, given: Arguments) {
  const rows: Record<string, string>[] = []
  const sizes: number[] = []
  for (let next: Arguments | undefined = given; next; ) {
    const { texts } = await callTool(api.app, keys.acme, name, next)
    expect(texts.join('\n').length).toBeLessThanOrEqual(40_000)
    const page = parseTable(texts[0]).rows
    rows.push(...page)
    sizes.push(page.length)
    const [, cursor, others] =
      /^.*More rows: call again with (?:the same arguments and cursor "(.*)"|({.*}))\.$/.exec(texts[2] ?? '') ?? []
    next = cursor ? { ...given, cursor } : others && JSON.parse(others)
  }
  return { rows, sizes }
}

describe('clients of both generations', () => {
  const connectModern = async (mode: 'legacy' | 'auto' | { pin: '2026-07-28' }) => {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit }))
    return client
  }
  const requestInit = { headers: { authorization: '' } }
  const kinds = {
    'SDK 1': async () => {
      const client = new LegacyClient({ name: 'test', version: '1' })
      // The two packages of the same client differ in optional types.
      await client.connect(new LegacyTransport(url, { requestInit }) as Parameters<LegacyClient['connect']>[0])
      return client
    },
    'SDK 2 with initialize': () => connectModern('legacy'),
    'SDK 2 that discovers': () => connectModern('auto'),
    'SDK 2 without a handshake': () => connectModern({ pin: '2026-07-28' }),
  }

  it.each(Object.entries(kinds))('list the tools, call them and get errors: %s', async (_kind, connect) => {
    requestInit.headers.authorization = `Bearer ${keys.acme}`
    const client = await connect()
    onTestFinished(() => client.close())
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(toolNames)
    const resources = 'clicks conversions costs events campaigns offers landing-pages traffic-sources'.split(' ')
    const calls: [string, Arguments][] = [
      ...['key', 'usage', 'schema'].map((resource): [string, Arguments] => ['get_account', { resource }]),
      ...['stats/overview', 'stats/daily'].map((resource): [string, Arguments] => ['get_stats', { resource, days: 7 }]),
      ...resources.map((resource): [string, Arguments] => ['list_rows', { resource, limit: 5 }]),
      ...['day', ['country', 'device']].map((names): [string, Arguments] => ['get_reports', { group_by: names }]),
      ['get_reports', { group_by: 'landing_page', compare: 'previous_period', filters: [['>=', 'clicks', 0]] }],
      ['search', { resource: 'campaigns', q: 'spring' }],
      ['get_item', { resource: 'campaigns', id: 'k1' }],
      ['get_funnels', { steps: 'click,signup' }],
      ['get_journeys', { click_id: 'c01' }],
    ]
    expect(calls).toHaveLength(20)
    for (const [name, given] of calls) {
      const { isError, texts } = toolResult(await client.callTool({ name, arguments: given }))
      expect([name, given, isError, texts[1]]).toEqual([
        name,
        given,
        false,
        expect.stringMatching(/^Reproduce: GET http/),
      ])
    }
    const { isError, texts } = toolResult(await client.callTool({ name: 'get_reports', arguments: { group_by: 'x' } }))
    expect([isError, texts.join()]).toEqual([
      true,
      expect.stringMatching(/^invalid_group_by: .*\(parameter group_by, request id [\w-]+\)$/),
    ])
    await expect(client.callTool({ name: 'post_events', arguments: {} })).rejects.toThrow('Unknown tool')
  })

  it('get the error of the API for a key that is not valid', async () => {
    requestInit.headers.authorization = 'Bearer trb_live_x'
    for (const connect of Object.values(kinds)) await expect(connect()).rejects.toThrow()
  })
})

describe('a message', () => {
  it('that is not one request is refused, and nothing is executed', async () => {
    const one = call('list_rows', { resource: 'clicks' })
    for (const message of [
      ...[[one], [one, one], [], null, 7, 'text', {}, { ...one, jsonrpc: '1.0' }, { ...one, method: 1 }],
      ...[null, 1.5, 2 ** 53, true, {}].map((id) => ({ ...one, id })),
      { jsonrpc: '2.0', id: 1, result: {} },
    ]) {
      const response = await sendMcp(api.app, keys.acme, JSON.stringify(message))
      expect([message, response.statusCode, response.json().error]).toEqual([message, 400, 'invalid_body'])
    }
    expect(await metrics.registry.getSingleMetricAsString('report_responses_total')).not.toMatch(/ [1-9]/)
  })

  it('without an id gets 202 and no body, of an unknown method an error', async () => {
    for (const method of ['notifications/initialized', 'tools/call', 'unknown']) {
      const { statusCode, body } = await sendMcp(api.app, keys.acme, { jsonrpc: '2.0', method, params: {} })
      expect([method, statusCode, body]).toEqual([method, 202, ''])
    }
    for (const method of ['unknown', 'prompts/list', 'toString']) {
      const response = await sendMcp(api.app, keys.acme, { ...request(method), id: 'a\u2028data: b' })
      expect([response.headers['content-type'], response.json()]).toEqual([
        expect.stringContaining('application/json'),
        { jsonrpc: '2.0', id: 'a\u2028data: b', error: expect.objectContaining({ code: -32601 }) },
      ])
    }
  })

  it('gets errors of HTTP in the form of the API', async () => {
    const ping = request('ping')
    const cases: [number, string, unknown, Record<string, string>][] = [
      [401, 'invalid_api_key', ping, { authorization: 'Bearer x' }],
      [413, 'payload_too_large', 'x'.repeat(65_537), {}],
      [415, 'unsupported_media_type', ping, { 'content-type': 'text/plain' }],
      [400, 'invalid_json', '{"jsonrpc":', {}],
      ...['http://example.com', 'null', 'http://127.0.0.1:1', 'http://localhost'].map(
        (origin): (typeof cases)[number] => [403, 'forbidden_origin', ping, { origin }],
      ),
    ]
    for (const [status, error, message, headers] of cases) {
      const response = await sendMcp(api.app, keys.acme, message, headers)
      expect([headers, response.statusCode, response.json().error]).toEqual([headers, status, error])
    }
    for (const method of ['GET', 'DELETE', 'PUT'] as const) {
      const { statusCode, headers } = await api.app.inject({ method, url: '/api/v1/mcp' })
      expect([method, statusCode, headers.allow]).toEqual([method, 405, 'POST'])
    }
    for (const origin of [url.origin, url.origin.replace('127.0.0.1', 'localhost')])
      expect((await sendMcp(api.app, keys.acme, ping, { origin })).json()).toMatchObject({ id: 1, result: {} })
    const origins = { PUBLIC_URL: 'https://api.example.com/x', CORS_ORIGINS: 'https://a.example,https://b.example' }
    const named = await api.open({ settings: { ...api.stores.settings, ...origins } })
    for (const origin of ['https://api.example.com', 'https://b.example'])
      expect((await sendMcp(named, keys.acme, ping, { origin })).statusCode).toBe(200)
    expect((await sendMcp(named, keys.acme, ping, { origin: url.origin })).statusCode).toBe(403)
  })
})

describe('the list of tools', () => {
  const listOf = async (key: string) => (await sendMcp(api.app, key, request('tools/list'))).json().result.tools

  it('has complete schemas of names that the API takes, in at most 14 KiB', async () => {
    const tools = await listOf(keys.acme)
    expect(JSON.stringify({ tools }).length).toBeLessThanOrEqual(14_336)
    const ajv = new Ajv({ strict: false })
    for (const { name, description, inputSchema, annotations } of tools) {
      expect([name, ajv.validateSchema(inputSchema), annotations]).toEqual([name, true, { readOnlyHint: true }])
      expect([name, description]).toEqual([name, expect.stringMatching(/^[A-Z].*\.$/)])
      for (const [parameter, schema] of Object.entries<Arguments>(inputSchema.properties)) {
        expect([parameter, schema.type]).toEqual([parameter, expect.stringMatching(/^(string|integer|boolean|array)$/)])
        expect(parameter).not.toMatch(/^(format|csv_|totals|updated_)/)
      }
    }
    const [{ inputSchema }] = tools
    expect(inputSchema.properties.group_by.items.anyOf[0].enum).toEqual(
      expect.arrayContaining(['campaign', 'sub10', 'hour']),
    )
    expect(inputSchema.properties.metrics.items.anyOf[0].enum).toEqual(expect.arrayContaining(['clicks', 'roi']))
    expect(inputSchema.properties.limit).toMatchObject({ type: 'integer', minimum: 1, maximum: 100, default: 20 })
    expect(inputSchema.required).toEqual(['group_by'])
    expect(inputSchema.additionalProperties.description).toMatch(/campaign_id.*status/)
  })

  it('has what the scopes of the key allow, and other calls are refused', async () => {
    const key = await api.keyOf('acme', ['read:stats', 'read:campaigns', 'search:campaigns'])
    const resourcesOf = ({
      name,
      inputSchema,
    }: {
      name: string
      inputSchema: { properties: Record<string, { enum?: string[] }> }
    }) => `${name} ${inputSchema.properties.resource?.enum}`
    expect((await listOf(key)).map(resourcesOf)).toEqual([
      'get_stats stats/overview,stats/daily',
      ...['list_rows campaigns', 'get_item campaigns', 'search campaigns', 'get_account key,usage,schema'],
    ])
    expect(await errorOf(key, 'list_rows', { resource: 'clicks' })).toMatch(/^insufficient_scope: .*read:clicks/)
  })
})

describe('a result', () => {
  it('has 20 rows by default, fewer if they are long, and leads to each row once', async () => {
    const short = await readPages('list_rows', { resource: 'clicks', fields: ['id', 'country'] })
    expect([short.rows.map(({ id }) => id), short.sizes]).toEqual([clickIds.toReversed(), [20, 10]])
    const long = await readPages('list_rows', { resource: 'clicks', limit: 100 })
    expect(long.rows.map(({ id }) => id)).toEqual(clickIds.toReversed())
    expect(Math.max(...long.sizes)).toBeLessThan(12)
    const report = { group_by: ['utm_term', 'country'], range: 'this_week', compare: 'previous_period', limit: 2 }
    const { rows, sizes } = await readPages('get_reports', report)
    expect([sizes, rows.map(({ clicks }) => Number(clicks)).reduce((sum, one) => sum + one)]).toEqual([[2, 2, 2], 30])
  })

  it('names the times of its response, so its GET means the same on another day', async () => {
    const texts = async (time: number) => {
      api.setNow(time)
      return await Promise.all(paths.map(async (path) => JSON.parse((await api.get(path, keys.acme)).body).data))
    }
    const paths: string[] = []
    for (const [name, given] of [
      ['get_reports', { group_by: 'country', days: 2, compare: 'previous_period' }],
      ['get_reports', { group_by: 'campaign', range: 'this_month', compare: 'previous_period' }],
      ['get_stats', { resource: 'stats/daily', range: 'this_week', tz: 'Asia/Tokyo', compare: 'previous_year' }],
      ['list_rows', { resource: 'clicks', days: 2, limit: 3, fields: ['id'] }],
    ] as const)
      paths.push(reproduced(await callTool(api.app, keys.acme, name, given)))
    const withoutState = (bodies: unknown) => JSON.stringify(bodies).replace(/"complete":\w+/g, '')
    const before = withoutState(await texts(testNowMs))
    const after = withoutState(await texts(testNowMs + 40 * 86_400_000))
    api.setNow(testNowMs)
    expect([after, before]).toEqual([before, expect.stringContaining('"DE"')])
  })
})

describe('an argument', () => {
  it('names unknown names and numbers that may have lost digits, and takes arrays as literal values', async () => {
    const report = { group_by: 'campaign', from: '2026-11-20', metrics: 'clicks' }
    for (const [name, given, message] of [
      [
        'get_reports',
        { ...report, contry: 'US' },
        /^unknown_parameter: .*"contry"; .* has country\. \(parameter contry, /,
      ],
      ['get_reports', { ...report, format: 'csv' }, /^unknown_parameter: .*"format"/],
      ['get_reports', { ...report, limit: 101 }, /^invalid_limit: limit must be a whole number from 1 to 100/],
      ['get_reports', { ...report, limit: 2.5 }, /^invalid_limit: limit must be a whole number from 1 to 100/],
      ['get_reports', { ...report, campaign_id: 120_210_000_000_000_000 }, /^invalid_campaign_id: .* quotes/],
      ['get_reports', { ...report, campaign_id: ['k1', 2 ** 53] }, /^invalid_campaign_id: .* quotes/],
      ['list_rows', { resource: 'clicks', sub1: 1.1 }, /^invalid_sub1: .* quotes/],
      ['get_item', { resource: 'campaigns' }, /^invalid_id: id is required/],
      ['get_item', { resource: 'campaigns', id: 1e21 }, /^invalid_id: .* quotes/],
      ['get_item', { resource: 'campaigns', id: '../reports' }, /^not_found: /],
      ['get_item', { resource: 'campaigns', id: '..' }, /^not_found: /],
      ['list_rows', { resource: 'toString' }, /^invalid_resource: resource must be one of clicks, conversions, /],
      ['list_rows', { resource: 'clicks', visitor_id: '漢'.repeat(2_000) }, /^headers_too_large: /],
    ] as const)
      expect(await errorOf(keys.acme, name, given)).toMatch(message)
    const clicksOf = async (utm_term: unknown) => {
      const { texts } = await callTool(api.app, keys.acme, 'get_reports', { ...report, utm_term })
      return (parseTable(texts[0]).head.totals as { clicks: number }).clicks
    }
    expect([await clicksOf(17), await clicksOf(['a, b', '17']), await clicksOf(['!x'])]).toEqual([2, 3, 1])
  })

  it('may be any JSON: no call is an internal error', async () => {
    const send = async (name: string, args: unknown) => {
      const { statusCode, body } = await sendMcp(api.app, keys.acme, call(name, args as Arguments))
      expect([args, statusCode, /-32603|internal_error/.exec(body)]).toEqual([args, 200, null])
    }
    const deep = '['.repeat(30_000) + ']'.repeat(30_000)
    for (const name of ['group_by', 'country', 'filters', 'limit', 'resource']) {
      const message = JSON.stringify(call('get_reports', { [name]: 'DEEP' })).replace('"DEEP"', deep)
      const { statusCode, body } = await sendMcp(api.app, keys.acme, message)
      expect([name, statusCode, body]).toEqual([name, 200, expect.stringMatching(/"text":"(invalid|unknown)_/)])
    }
    for (const value of ['\ud800', { toString: 1 }, [{ toJSON: 1, toString: 1 }], [[[]]], -0]) {
      await send('get_item', { resource: 'campaigns', id: value })
      for (const name of ['group_by', 'country', 'filters', 'limit'])
        await send('get_reports', { group_by: 'day', [name]: value })
    }
    const parameters = 'group_by from to days range tz filters limit cursor fields id q steps click_id compare country'
    const given = fc.dictionary(fc.constantFrom(...parameters.split(' ')), fc.jsonValue())
    const resource = fc.constantFrom('clicks', 'campaigns', 'stats/daily', 'conversions')
    const args = fc.oneof(
      fc.jsonValue(),
      fc.tuple(resource, given).map(([one, all]) => ({ resource: one, ...all })),
    )
    await fc.assert(fc.asyncProperty(fc.constantFrom(...toolNames), args, send), { numRuns: randomCases(75) })
    const anyMessage = async (message: unknown) => {
      expect((await sendMcp(api.app, keys.acme, JSON.stringify(message))).statusCode).toBeLessThan(500)
    }
    const messages = fc.record({
      jsonrpc: fc.constant('2.0'),
      id: fc.oneof(fc.integer(), fc.jsonValue()),
      method: fc.constantFrom('tools/call', 'tools/list', 'initialize', 'ping'),
      params: fc.jsonValue(),
    })
    await fc.assert(fc.asyncProperty(messages, anyMessage), { numRuns: randomCases(25) })
  })
})

describe('a call', () => {
  it('is one request of the key, in its limit, its headers and the metrics', async () => {
    await setPlanLimits(api.stores.postgres, 'pro', { requestsPerMinute: 5 })
    const key = await api.account('limited', { plan: 'pro' })
    const requests = async () =>
      (await metrics.registry.getSingleMetricAsString('http_requests_total')).match(/^.* [1-9]\d*$/gm) ?? []
    const before = new Set(await requests())
    const responses = []
    for (const message of [call('get_stats', { resource: 'stats/overview' }), request('tools/list')])
      responses.push(await sendMcp(api.app, key, message))
    const [first = 0, second] = responses.map(({ headers }) => Number(headers['x-ratelimit-remaining']))
    expect(second).toBe(first - 1)
    const changed = (await requests()).filter((line) => !before.has(line))
    expect(changed).toEqual([expect.stringMatching(/method="POST",route="\/api\/v1\/mcp",status="200"/)])
    const ping = () => sendMcp(api.app, key, request('ping'))
    await forEachConcurrently(numbers(second ?? 0), 16, ping)
    const error = await errorOf(key, 'get_account', { resource: 'key' })
    expect(error).toMatch(/^rate_limited: .*\(request id .*, retry after \d+ s\)$/)
    const { statusCode, headers, body } = await ping()
    expect([statusCode, headers['retry-after'], JSON.parse(body).error]).toEqual([
      429,
      expect.any(String),
      'rate_limited',
    ])
  })

  it('has one read slot, and ends its query when its client disconnects', async () => {
    let running = 0
    let aborted = 0
    const stores = interceptClickHouse(api.stores, async ({ order }) => {
      const { signal } = order as { signal?: AbortSignal }
      if (!signal) return
      running += 1
      await once(signal, 'abort')
      aborted += 1
    })
    const counted = openMetrics()
    const settings = { ...api.stores.settings, READS_PER_ACCOUNT: 1 }
    const app = await api.open({ stores, settings, metrics: counted })
    await app.listen({ port: 0, host: '127.0.0.1' })
    const body = JSON.stringify(call('get_reports', { group_by: 'country' }))
    const headers = `Host: x\r\nAuthorization: Bearer ${keys.acme}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`
    for (const turn of [1, 2]) {
      const { socket } = await openRaw(app, `POST /api/v1/mcp HTTP/1.1\r\n${headers}\r\n\r\n${body}`)
      await expect.poll(() => running).toBeGreaterThanOrEqual(turn)
      socket.destroy()
      await expect.poll(() => aborted).toBe(running)
    }
    const requests = await counted.registry.getSingleMetricAsString('http_requests_total')
    expect(requests).not.toMatch(/method="GET".* [1-9]/)
  })

  it('that runs when the server shuts down gets its result, or is asked to retry', async () => {
    const gate = new EventEmitter()
    const held = once(gate, 'open')
    let isRunning = false
    const hold = () => {
      isRunning = true
      return held
    }
    const app = await api.open({ stores: interceptClickHouse(api.stores, hold) })
    const base = await app.listen({ port: 0, host: '127.0.0.1' })
    const headers = { authorization: `Bearer ${keys.acme}`, 'content-type': 'application/json' }
    const body = JSON.stringify(call('get_reports', { group_by: 'country' }))
    const sent = fetch(`${base}/api/v1/mcp`, { method: 'POST', headers, body })
    await expect.poll(() => isRunning).toBe(true)
    const closed = app.close()
    gate.emit('open')
    expect(JSON.stringify(await (await sent).json())).toMatch(/DE,|unavailable: The server is shutting down/)
    await closed
  })

  it('of two accounts at the same time never has rows of the other, whatever its headers say', async () => {
    const names =
      'x-request-id x-account-id x-forwarded-for x-caller x-inner-request via forwarded mcp-session-id'.split(' ')
    const claims = [keys.acme, keys.other, 'acme', 'other', 'true', '127.0.0.1', JSON.stringify({ accountId: 'acme' })]
    const report = call('get_reports', { group_by: 'campaign', metrics: 'clicks' })
    const item = call('get_item', { resource: 'campaigns', id: 'k1' })
    await forEachConcurrently(numbers(randomCases(100)), 16, async (n) => {
      const account = n % 2 ? 'acme' : 'other'
      const headers = { [names[n % names.length] ?? '']: claims[n % claims.length] ?? '' }
      const { body } = await sendMcp(api.app, keys[account], n % 3 ? report : item, headers)
      const expected = n % 3 ? `k1,Spring of ${account},${account === 'acme' ? 30 : 7}` : `Spring of ${account}`
      expect([n, body, body.match(/Spring of \w+/g)]).toEqual([
        n,
        expect.stringContaining(expected),
        [`Spring of ${account}`],
      ])
    })
  })
})

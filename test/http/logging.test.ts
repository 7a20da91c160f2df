import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { Writable } from 'node:stream'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildApp } from '../../src/app.ts'
import { openLog } from '../../src/http/logging.ts'
import { openClickHouse } from '../../src/stores/clickhouse/connection.ts'
import { openPostgres } from '../../src/stores/postgres/connection.ts'
import { openRedis } from '../../src/stores/redis.ts'
import { runHere } from '../cli/runCommand.ts'
import { testNowMs } from '../kit/app.ts'
import { openProbe, type Probe } from './probe.ts'

const lines: string[] = []
const destination = new Writable({
  write(chunk, _encoding, done) {
    lines.push(`${chunk}`)
    done()
  },
})
let probe: Probe

beforeAll(async () => {
  probe = await openProbe({ log: openLog('trace', destination) })
})
afterAll(() => probe.close())

it('says for every answer what was asked, by whom and how it ended', async () => {
  const key = await probe.key('logged')
  const answer = await probe.app.inject({
    url: '/api/v1/probe?group_by=day&limit=7',
    headers: { authorization: `ApiKey ${key}` },
  })
  const entries = lines.map((line) => JSON.parse(line))
  const entry = entries.find(({ reqId }) => reqId === answer.headers['x-request-id'])
  expect(entry).toMatchObject({
    level: 30,
    msg: 'answered',
    method: 'GET',
    url: '/api/v1/probe?group_by=day&limit=7',
    status: 200,
    account: 'logged',
    key: expect.stringMatching(/^[0-9a-f-]{36}$/),
    ms: expect.any(Number),
  })
})

it('says what a bug is, which the caller is not told', async () => {
  const key = await probe.key('buggy')
  const answer = await probe.app.inject({ url: '/api/v1/bug', headers: { authorization: `ApiKey ${key}` } })
  const entries = lines.map((line) => JSON.parse(line)).filter(({ reqId }) => reqId === answer.json().requestId)
  expect(entries.find(({ level }) => level === 50)?.err.message).toBe('a secret of the inside')
})

it('never holds a key, wherever callers put it', async () => {
  const key = await probe.key('careless')
  const authorization = `ApiKey ${key}`
  const wrong = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`
  const answers = []
  for (const request of [
    { url: '/api/v1/probe?group_by=day', headers: { authorization } },
    { url: '/api/v1/probe?group_by=day', headers: { authorization: `Bearer ${key}` } },
    { url: '/api/v1/probe?group_by=day', headers: { authorization: `ApiKey ${wrong}` } },
    { url: `/api/v1/probe?api_key=${key}`, headers: { authorization } },
    { url: `/api/v1/probe?${key}=1`, headers: {} },
    { url: `/api/v1/probe/${key}`, headers: { authorization } },
    { url: `/${key}`, headers: {} },
    { url: `/api/v1/probe/%zz${key}`, headers: {} },
    { url: `/api/v1/bug?${key}`, headers: { authorization } },
    { url: `/api/v1/probe?key=${key.replaceAll('_', '%5F')}`, headers: {} },
    { url: `/api/v1/probe?key=${encodeURIComponent(key.replaceAll('_', '%5f'))}`, headers: {} },
    { url: `/api/v1/probe/${key.replace(/./g, (it) => `%${it.charCodeAt(0).toString(16)}`)}`, headers: {} },
    { url: `/api/v1/probe?a=${'a'.repeat(970)}&key=${key}`, headers: {} },
    { url: '/api/v1/probe', headers: { referer: `https://example.com/?key=${key.replaceAll('_', '%5F')}` } },
    { url: '/api/v1/bug', headers: { authorization, 'x-api-key': key, cookie: key } },
    {
      url: '/api/v1/events',
      method: 'POST' as const,
      headers: { authorization, 'content-type': 'application/json' },
      payload: `{${key}`,
    },
    { url: '/api/v1/events', method: 'POST' as const, headers: { authorization, 'content-type': key }, payload: key },
  ]) {
    answers.push(await probe.app.inject(request))
  }
  const log = [1, 2].reduce((text) => text.replace(/%([0-9a-f]{2})/gi, decodeByte), lines.join(''))
  for (const secret of [key, wrong]) {
    expect(log).not.toContain(secret)
    expect(log).not.toContain(secret.slice('trb_live_'.length))
  }
  expect(log).toContain('trb_live_…')
  expect(log).not.toContain('authorization')
  const errors = answers.filter(({ statusCode }) => statusCode >= 400).map(({ body }) => body)
  expect(errors).toHaveLength(answers.length - 1)
  for (const body of errors) expect(body).not.toContain(key)
})

const decodeByte = (_found: string, code: string) => String.fromCharCode(Number.parseInt(code, 16))

it('never holds a password of a store, however the stores refuse us', async () => {
  const { stores } = probe
  const key = await probe.key('noisy')
  const refusing = await Promise.all([
    refuse(
      'HTTP/1.1 401 No\r\nX-ClickHouse-Exception-Code: 516\r\nConnection: close\r\n\r\nCode: 516. DB::Exception: x',
    ),
    refuse(Buffer.from('E\0\0\0\x1eSFATAL\0C28P01\0Mno entry\0\0\0', 'latin1')),
    refuse('-WRONGPASS invalid username-password pair\r\n'),
  ])
  const ports = refusing.map((server) => (server.address() as AddressInfo).port)
  const address = { username: 'x', password: 'hush', database: 'x' }
  const said: string[] = []
  const redis = await openRedis(`redis://x:hush@127.0.0.1:${ports[2]}`, ({ message }) => said.push(message))
  const clickhouse = openClickHouse({ ...address, url: `http://127.0.0.1:${ports[0]}` })
  const postgres = openPostgres({ url: `postgres://x:hush@127.0.0.1:${ports[1]}/x` })
  const statuses = new Set<number>()
  for (const broken of [
    { ...stores, clickhouse },
    { ...stores, postgres, postgresReader: postgres },
  ]) {
    const log = openLog('trace', destination)
    const app = await buildApp({ settings: stores.settings, stores: broken, redis, now: () => testNowMs, log })
    const headers = { authorization: `ApiKey ${key}` }
    for (const url of ['/readyz', '/api/v1/clicks', '/api/v1/campaigns', '/api/v1/reports?group_by=day']) {
      const answer = await app.inject({ url, headers })
      statuses.add(answer.statusCode)
      said.push(answer.body)
    }
    const payload = { visitor_id: 'v', campaign_id: 'c', event_name: 'a' }
    said.push((await app.inject({ method: 'POST', url: '/api/v1/events', headers, payload })).body)
    await app.close()
  }
  for (const [name, scheme, port] of [
    ['CLICKHOUSE_URL', 'http', ports[0]],
    ['DATABASE_URL', 'postgres', ports[1]],
  ] as const) {
    const environment = { ...stores.environment, [name]: `${scheme}://x:hush@127.0.0.1:${port}/x` }
    const { code, stdout, stderr } = await runHere(['account', 'list'], environment)
    expect([code, stderr]).toEqual([1, expect.stringContaining(name)])
    said.push(stdout, stderr)
  }
  // It was noisy: there are errors in it of all three.
  expect([...statuses]).toEqual(expect.arrayContaining([500, 503]))
  expect(lines.join('')).toMatch(/516/)
  expect(lines.join('')).toMatch(/28P01/)
  expect(said.join('\n')).toMatch(/Redis is unavailable/)
  expect([...lines, ...said].join('\n')).not.toMatch(/hush/)
  redis.close()
  await Promise.all([clickhouse.close(), postgres.end()])
  for (const server of refusing) server.close()
})

/** A server that answers whatever it is sent with the same bytes, and hangs up. */
async function refuse(bytes: string | Buffer): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => {}).once('data', () => socket.end(bytes))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { Writable } from 'node:stream'
import { expect, it } from 'vitest'
import { openLog } from '../../src/http/logging.ts'
import { openClickHouse } from '../../src/stores/cluster/connection.ts'
import { openPostgres } from '../../src/stores/postgres/connection.ts'
import { openRedis } from '../../src/stores/redis.ts'
import { runHere } from '../cli/runCommand.ts'
import { useTestApp } from '../kit/app.ts'
import { probeRoutes } from './probe.ts'

const lines: string[] = []
const destination = new Writable({
  write(chunk, _encoding, done) {
    lines.push(`${chunk}`)
    done()
  },
})
const api = useTestApp({ routes: [probeRoutes], log: openLog('trace', destination) })

it('logs the request, the caller and the status of every response', async () => {
  const key = await api.account('logged')
  const response = await api.get('/probe?group_by=day&limit=7', key)
  const entries = lines.map((line) => JSON.parse(line))
  const entry = entries.find(({ reqId }) => reqId === response.headers['x-request-id'])
  expect(entry).toMatchObject({
    level: 30,
    msg: 'request completed',
    method: 'GET',
    url: '/api/v1/probe?group_by=day&limit=7',
    status: 200,
    account: 'logged',
    key: expect.stringMatching(/^[0-9a-f-]{36}$/),
    ms: expect.any(Number),
  })
})

it('logs the details of an internal error, which the response does not contain', async () => {
  const key = await api.account('buggy')
  const response = await api.get('/bug', key)
  expect(response.body).not.toContain('secret')
  const entries = lines.map((line) => JSON.parse(line)).filter(({ reqId }) => reqId === response.json().requestId)
  expect(entries.find(({ level }) => level === 50)?.err.message).toBe('a secret detail')
})

it('never logs a key, wherever clients send it', async () => {
  const key = await api.account('careless')
  const authorization = `ApiKey ${key}`
  const wrong = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`
  const responses = []
  for (const request of [
    { url: '/api/v1/probe?group_by=day', headers: { authorization } },
    { url: '/api/v1/probe?group_by=day', headers: { authorization: `Bearer ${key}` } },
    { url: '/api/v1/probe?group_by=day', headers: { authorization: `Basic ${btoa(`user:${key}`)}` } },
    { url: '/api/v1/probe?group_by=day', headers: { authorization: `ApiKey ${wrong}` } },
    { url: '/api/v1/probe?group_by=day', headers: { authorization: `Basic ${btoa(`user:${wrong}`)}` } },
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
  ])
    responses.push(await api.app.inject(request))
  const log = [1, 2].reduce((text) => text.replace(/%([0-9a-f]{2})/gi, decodeByte), lines.join(''))
  for (const secret of [key, wrong]) {
    expect(log).not.toContain(secret)
    expect(log).not.toContain(secret.slice('trb_live_'.length))
  }
  expect(log).toContain('trb_live_…')
  expect(log).not.toContain('authorization')
  for (const secret of [key, wrong]) expect(log).not.toContain(btoa(`user:${secret}`))
  const errors = responses.filter(({ statusCode }) => statusCode >= 400).map(({ body }) => body)
  // The first three requests are valid: with the schemes ApiKey, Bearer and Basic.
  expect(errors).toHaveLength(responses.length - 3)
  for (const body of errors) expect(body).not.toContain(key)
})

const decodeByte = (_found: string, code: string) => String.fromCharCode(Number.parseInt(code, 16))

it('never logs a database password, whatever error the databases return', async () => {
  const { stores } = api
  const key = await api.account('noisy')
  const refusing = await Promise.all([
    refuse(
      'HTTP/1.1 401 No\r\nX-ClickHouse-Exception-Code: 516\r\nConnection: close\r\n\r\nCode: 516. DB::Exception: x',
    ),
    refuse(Buffer.from('E\0\0\0\x1eSFATAL\0C28P01\0Mno entry\0\0\0', 'latin1')),
    refuse('-WRONGPASS invalid username-password pair\r\n'),
  ])
  const ports = refusing.map((server) => (server.address() as AddressInfo).port)
  const address = { username: 'x', password: 'hush', database: 'x' }
  const messages: string[] = []
  const redis = await openRedis(`redis://x:hush@127.0.0.1:${ports[2]}`, ({ message }) => messages.push(message))
  const clickhouse = openClickHouse({ ...address, url: `http://127.0.0.1:${ports[0]}` })
  const postgres = openPostgres({ url: `postgres://x:hush@127.0.0.1:${ports[1]}/x` })
  const statuses = new Set<number>()
  for (const broken of [
    { ...stores, clickhouse },
    { ...stores, postgres, postgresReader: postgres },
  ]) {
    const log = openLog('trace', destination)
    const app = await api.open({ stores: broken, redis, log })
    const headers = { authorization: `ApiKey ${key}` }
    for (const url of ['/readyz', '/api/v1/clicks', '/api/v1/campaigns', '/api/v1/reports?group_by=day']) {
      const response = await app.inject({ url, headers })
      statuses.add(response.statusCode)
      messages.push(response.body)
    }
    const payload = { visitor_id: 'v', campaign_id: 'c', event_name: 'a' }
    messages.push((await app.inject({ method: 'POST', url: '/api/v1/events', headers, payload })).body)
    await app.close()
  }
  for (const [name, scheme, port] of [
    ['CLICKHOUSE_URL', 'http', ports[0]],
    ['DATABASE_URL', 'postgres', ports[1]],
  ] as const) {
    const environment = { ...stores.environment, [name]: `${scheme}://x:hush@127.0.0.1:${port}/x` }
    const { code, stdout, stderr } = await runHere(['account', 'list'], environment)
    expect([code, stderr]).toEqual([1, expect.stringContaining(name)])
    messages.push(stdout, stderr)
  }
  // Each of the three caused an error.
  expect([...statuses]).toEqual(expect.arrayContaining([500, 503]))
  expect(lines.join('')).toMatch(/516/)
  expect(lines.join('')).toMatch(/28P01/)
  expect(messages.join('\n')).toMatch(/Redis is unavailable/)
  expect([...lines, ...messages].join('\n')).not.toMatch(/hush/)
  redis.close()
  await Promise.all([clickhouse.close(), postgres.end()])
  for (const server of refusing) server.close()
})

/** Opens a server that responds to any bytes with the given ones and closes the connection. */
async function refuse(bytes: string | Buffer): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => {}).once('data', () => socket.end(bytes))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

// @module-tag all

import { once } from 'node:events'
import { Agent, type IncomingMessage, request as open } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { buffer, text } from 'node:stream/consumers'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ProblemBody } from '../../../schema/errorCodes.ts'
import { namedTables } from '../../../schema/metadata.ts'
import { setPlanLimits } from '../../../src/accounts/plans.ts'
import { assertSchema, useTestApp } from '../../kit/app.ts'
import { isNeeded, operations } from '../../kit/operations.ts'
import { randomCases } from '../../kit/randomCases.ts'
import { storeClicks, storeConversions, storeCosts, storeEvents, storeMetadata } from '../../kit/rows.ts'
import { type Request, requests } from './generators.ts'

const concurrency = 10
const batches = randomCases(20)

/** Part of every text of the other account's rows, and of no other text. */
const secret = 'zq8-secret'

const api = useTestApp()
let key: string
let cursors: string[]
let port: number
const agent = new Agent({ keepAlive: true, maxSockets: concurrency })

beforeAll(async () => {
  await setPlanLimits(api.stores.postgres, 'scale', { requestsPerMinute: 10_000_000, eventsPerMinute: 10_000_000 })
  key = await api.account('acme')
  await api.account('other')
  for (const [account, mark] of [
    ['acme', 'needle "quoted" \\ % _ Σς\n\t🎈'],
    ['other', secret],
  ] as const) {
    for (const table of namedTables) {
      const letter = table[0] === 'c' ? 'k' : table[0]
      const rows = [1, 2, 3].map((n) => ({ id: `${letter}${n}`, name: `${mark} ${n}` }))
      await storeMetadata(api.stores, table, account, rows)
    }
    const row = (n: number) => ({ campaign_id: `k${n % 4}`, offer_id: 'o1', country: n % 2 ? 'US' : '', sub1: mark })
    const at = (n: number) => `2026-11-${String(1 + (n % 21)).padStart(2, '0')} 10:00:00.${String(n).padStart(3, '0')}`
    const numbers = Array.from({ length: 60 }, (_, n) => n)
    const clicks = numbers.map((n) => ({
      id: `c${n}`,
      clicked_at: at(n),
      cost_base: 0.01,
      referrer: mark,
      city: mark,
      ...row(n),
    }))
    await storeClicks(api.stores, account, clicks)
    const costs = numbers.map((n) => ({
      id: `x${n}`,
      spent_at: at(n),
      cost: 0.01,
      cost_base: 0.01,
      sub2: mark,
      ...row(n),
    }))
    await storeCosts(api.stores, account, costs)
    const events = numbers.map((n) => ({
      id: `e${n}`,
      occurred_at: at(n),
      properties: JSON.stringify({ mark }),
      visitor_id: 'v1',
      campaign_id: `k${n % 4}`,
    }))
    await storeEvents(api.stores, account, events)
    const conversions = numbers.map((n) => ({
      id: `v${n}`,
      converted_at: at(n),
      coupon_code: mark,
      revenue_base: 1,
      ...row(n),
    }))
    await storeConversions(api.stores, account, conversions)
  }
  const pages = operations.filter(({ query }) => query.some(({ name }) => name === 'cursor'))
  const first = await Promise.all(
    pages.map(async ({ path, query }) => {
      const needed = { q: 'q=needle&', visitor_id: 'visitor_id=v1&' }
      const search = query.filter(isNeeded).map(({ name }) => needed[name as keyof typeof needed])[0] ?? ''
      return (await api.get(`${path}?${search}limit=2`, key)).json().nextCursor
    }),
  )
  cursors = first
  await api.app.listen({ port: 0, host: '127.0.0.1' })
  port = (api.app.server.address() as AddressInfo).port
})
afterAll(() => agent.destroy())

it('hostile requests get a documented response, never a 5xx, and no data of another account', async () => {
  expect(cursors.every((cursor) => typeof cursor === 'string')).toBe(true)
  const statuses = new Map<number, number>()
  const batch = fc.array(requests({ key, cursors }), { minLength: concurrency, maxLength: concurrency })
  await fc.assert(
    fc.asyncProperty(batch, async (sent) => {
      for (const status of await Promise.all(sent.map(expectDocumentedResponse)))
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }),
    { numRuns: batches },
  )
  // Otherwise too few requests pass validation and reach a handler.
  expect(statuses.get(200)).toBeGreaterThan((batches * concurrency) / 5)
  expect([...statuses.keys()]).toEqual(expect.arrayContaining([400, 401, 404, 405]))
})

it('an address in a request is never connected to, whatever parameter, header or field contains it', async () => {
  let connections = 0
  const outside = createServer((socket) => {
    connections += 1
    socket.destroy()
  }).listen(0, '127.0.0.1')
  await once(outside, 'listening')
  const address = `http://127.0.0.1:${(outside.address() as AddressInfo).port}/`
  const forwarded = { referer: address, origin: address, 'x-forwarded-host': address, 'x-original-url': address }
  const headers = { authorization: `ApiKey ${key}`, 'content-type': 'application/json', ...forwarded }
  for (const [endpoint, { method, path, query, body = {} }] of operations.entries()) {
    const names = [...query.map(({ name }) => name), 'url']
    const targets = [path, ...names.map((name) => `${path}?${name}=${encodeURIComponent(address)}`)]
    const fields = Object.keys(body).map((name) => ({ event_name: 'paid', click_id: 'c1', [name]: address }))
    const sent: [string, object?][] =
      method === 'GET' ? targets.map((target) => [target]) : fields.map((field) => [path, field])
    for (const [target, field] of sent) {
      const url = `/api/v1${target.replace('{id}', encodeURIComponent(address))}`
      const json = field && Buffer.from(JSON.stringify(field))
      const response = await send({ endpoint, method, path: url, headers, body: json })
      expect(response.statusCode).toBeLessThan(500)
      await text(response)
    }
  }
  outside.close()
  expect(connections).toBe(0)
})

/** Sends a request and compares the response with the contract. @returns its status */
async function expectDocumentedResponse(request: Request): Promise<number> {
  const { endpoint, method } = request
  // With another method, the path may be another operation.
  const operation = operations.find((one) => one.method === method && one.path === operations[endpoint]?.path)
  const response = await send(request)
  const status = response.statusCode ?? 0
  const body = await decodedText(response)
  expect(status).toBeLessThan(500)
  expect(body).not.toContain(secret)
  expect(response.headers['x-request-id']).toBeDefined()
  if (status === 304 || method === 'HEAD') {
    expect(body).toBe('')
    return status
  }
  const declared = operation?.responses[status]?.content
  const type = response.headers['content-type']
  if (status === 200 && type !== 'application/json; charset=utf-8') {
    expect(Object.keys(declared ?? {})).toContain(type?.split(';')[0])
    return status
  }
  expect(type).toBe('application/json; charset=utf-8')
  assertSchema(
    status < 300 ? (declared?.['application/json'].schema ?? ProblemBody) : ProblemBody,
    JSON.parse(body),
    request.path,
  )
  return status
}

/** Responses above 1 KiB are compressed as the request accepts. */
async function decodedText(response: IncomingMessage): Promise<string> {
  const bytes = await buffer(response)
  const coding = response.headers['content-encoding']
  if (bytes.length === 0) return ''
  if (coding === 'br') return brotliDecompressSync(bytes).toString()
  return (coding === 'gzip' ? gunzipSync(bytes) : bytes).toString()
}

async function send({ method, path, headers, body }: Request): Promise<IncomingMessage> {
  const outgoing = open({ agent, port, host: '127.0.0.1', method, path, headers })
  outgoing.end(body)
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  return response
}

// @module-tag all

import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { createAccount } from '../../../src/accounts/accounts.ts'
import { type FeedRow, type RowResult, type SendRowsOptions, sendRows } from '../../../src/packages/client/client.ts'
import { openTestFeed, token } from '../../feed/openFeed.ts'
import { useTestStores } from '../../kit/fixtures.ts'
import { withWriter } from '../../writer/withWriter.ts'

const stores = useTestStores()
beforeAll(async () => {
  for (const id of ['acme', 'beta'])
    await createAccount(stores.postgres, { id, name: id, plan: 'scale', currency: 'EUR' })
})

const clickOf = (accountId: string, id: string): FeedRow => {
  return { accountId, resource: 'clicks', id, clickedAt: '2026-11-20T10:00:00Z', cost: '0.25', sub1: 's' }
}
const statusOf = (status: string): FeedRow => {
  return { accountId: 'acme', resource: 'conversions', id: 'v', convertedAt: '2026-11-20T11:00:00Z', status }
}

/** Starts a feed. @returns a function that sends rows to it, and the lines of requests and of their responses */
async function openFeed(parts: Parameters<typeof openTestFeed>[1] = {}) {
  const { app, close } = openTestFeed(stores, parts)
  onTestFinished(close)
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const requests: string[][] = []
  const responses: string[][] = []
  const send = async (
    rows: Parameters<typeof sendRows>[0],
    { fetch: answer = fetch, ...options }: Partial<SendRowsOptions> = {},
  ): Promise<RowResult[]> => {
    const recording: SendRowsOptions['fetch'] = async (request) => {
      requests.push((await request.clone().text()).split('\n').slice(0, -1))
      const response = await answer(request)
      responses.push((await response.clone().text()).split('\n').slice(0, -1))
      return response
    }
    const results: RowResult[] = []
    for await (const one of sendRows(rows, { url, token, wait: async () => {}, fetch: recording, ...options }))
      results.push(one)
    return results
  }
  return { send, requests, responses }
}

it('sendRows yields the result of each row, in order, and sends texts as they are', async () => {
  const { send, requests } = await openFeed()
  async function* rows() {
    yield clickOf('acme', 'a1')
    yield ' {"accountId":"acme","resource":"clicks","id":1234567890123456789,"clickedAt":"2026-11-20T10:00:00Z"}'
    yield 'no json'
    yield '{}\n{}'
    yield ' '
    yield clickOf('acme', 'a1')
  }
  const results = await send(rows())
  expect(results.map(({ result }) => result)).toEqual([
    ...['inserted', 'inserted', 'rejected', 'rejected', 'rejected', 'duplicate'],
  ])
  expect(requests.map((lines) => lines.length)).toEqual([4])
  const query = "SELECT id FROM clicks WHERE startsWith(id, '123')"
  const found = await stores.clickhouse.client.query({ query, format: 'JSONEachRow' })
  expect(await found.json()).toEqual([{ id: '1234567890123456789' }])
})

it('sendRows sends requests of at most 10,000 rows and 8 MiB, and no row above 8 MiB', async () => {
  const { send, requests } = await openFeed()
  const long = 'x'.repeat(1_000_000)
  const rows = [...Array.from({ length: 10_001 }, () => 'x'), ...Array.from({ length: 12 }, () => long), long.repeat(9)]
  const results = await send(rows)
  expect(results.map(({ result }) => result)).toEqual(rows.map(() => 'rejected'))
  expect(results.at(-1)?.reason).toBe('is longer than 8388608 bytes')
  expect(requests.map((lines) => lines.length)).toEqual([10_000, 9, 4])
})

it('sendRows sends rows without a final result again, and no others', async () => {
  const { send, requests, responses } = await openFeed({ resultMs: 1_000 })
  let end = () => {}
  let writing: Promise<void> | undefined
  await new Promise<void>((start) => {
    writing = withWriter(stores, 'beta', () => {
      start()
      return new Promise((resolve) => {
        end = resolve
      })
    })
  })
  const isRetry = (line: string) => line.includes('"retry"')
  const wait = async () => {
    if (responses.at(-1)?.every(isRetry)) return
    end()
    await writing
  }
  const rows = [clickOf('acme', 'b1'), clickOf('beta', 'b2'), clickOf('acme', 'b3')]
  const results = await send(rows, { wait })
  expect(results.map(({ result }) => ['inserted', 'duplicate'].includes(result))).toEqual([true, true, true])
  const open = requests.map((lines, at) => lines.filter((_, index) => isRetry(responses[at]?.[index] ?? '')))
  expect([rows.map((row) => JSON.stringify(row)), ...open]).toEqual([...requests, []])
  expect(requests.at(-1)).toHaveLength(1)
})

it('sendRows repeats a request whose response is lost, with its updatedAt, and ends at an error or its signal', async () => {
  const { send, requests } = await openFeed()
  const failures = ['lost', 503, 'lost'] as (string | number)[]
  const failing: SendRowsOptions['fetch'] = async (request) => {
    const failure = failures.shift()
    if (typeof failure === 'number') return new Response(null, { status: failure, headers: { 'retry-after': '0' } })
    const response = await fetch(request)
    if (failure) throw new TypeError('lost')
    return response
  }
  const waits: number[] = []
  const wait = async (ms: number) => void waits.push(ms)
  const options = { fetch: failing, wait, updatedAt: '2026-11-21T10:00:00+01:00' }
  expect(await send([statusOf('pending')], options)).toEqual([{ result: 'duplicate' }])
  expect(new Set(requests.map(String)).size).toBe(1)
  expect(waits.map((ms, attempt) => ms > 330 * 2 ** attempt)).toEqual([true, true, true])
  expect(await send([statusOf('approved')], { updatedAt: '2026-11-21T09:00:01Z' })).toEqual([{ result: 'updated' }])

  await expect(send([statusOf('hold')], { updatedAt: 'now' })).rejects.toMatchObject({ code: 'invalid_updated_at' })
  await expect(send(['x'], { token: `${token}1` })).rejects.toMatchObject({ status: 401 })
  await expect(send(['x'], { token: `${token}\nx` })).rejects.toThrow('The token has a line break')
  const ending = new AbortController()
  const lost = async () => {
    setImmediate(() => ending.abort(new Error('enough')))
    return new Response(null, { status: 503, headers: { 'retry-after': '30' } })
  }
  const unheard: object = { fetch: lost, signal: ending.signal, wait: undefined }
  await expect(send(['x'], unheard as Partial<SendRowsOptions>)).rejects.toThrow('enough')
})

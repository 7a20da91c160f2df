import { beforeAll, expect, it } from 'vitest'
import { ClickPage } from '../../../schema/click.ts'
import { CostPage } from '../../../schema/cost.ts'
import { FunnelResponse } from '../../../schema/funnel.ts'
import { ReportResponse } from '../../../schema/report.ts'
import { openResponseCache } from '../../../src/http/responseCache.ts'
import { importContent } from '../../import/runImport.ts'
import { assertSchema, getFrom, testNowMs, useTestApp } from '../../kit/app.ts'

// The numbers of any report by these dimensions, and by filters of them: test/properties/reports.

const api = useTestApp()
let key: string
const long = `${'ö'.repeat(150)}, Network`
const shown = expect.stringMatching(/^ö{110}…[0-9a-f]{32}$/)

const offersOf = (networks: readonly (string | undefined)[]) =>
  networks.map((affiliateNetwork, n) => ({ id: `o${n}`, name: 'Offer', affiliateNetwork }))

/** Offer 4 is not stored, and the last click has none. */
async function store(accountId: string): Promise<string> {
  const made = await api.account(accountId)
  await importContent(api.stores, accountId, 'offers', offersOf(['CPA, Inc', long, '(not set)', undefined]))
  const at = '2026-11-20T10:00:00Z'
  const clicks = [0, 1, 2, 3, 4].map((n) => ({ id: `c${n}`, clickedAt: at, offerId: `o${n}`, cost: 2 ** n }))
  await importContent(api.stores, accountId, 'clicks', [...clicks, { id: 'c5', clickedAt: at, cost: 32 }])
  await importContent(api.stores, accountId, 'costs', [{ id: 'x1', spentAt: at, offerId: 'o1', cost: 100 }])
  return made
}
beforeAll(async () => {
  key = await store('acme')
})

async function report(query: string, by = key, server = api.app) {
  const path = `/reports?from=2026-11-20&metrics=cost&sort=id&${query}`
  const body = (await getFrom(server, path, by)).json()
  assertSchema(ReportResponse, body, path)
  return (body as ReportResponse).data.map(({ id, name, cost = 0 }) => [id, name, cost] as const)
}
const tree = (...conditions: unknown[]) => `filters=${encodeURIComponent(JSON.stringify(conditions))}`

it('a filter selects the rows of its entities, by whole and shown values, on every endpoint that filters by them', async () => {
  const [, , [longest = '', name] = []] = await report('group_by=affiliate_network')
  expect([longest, name]).toEqual([shown, shown])
  const cases: [string, number][] = [
    ['affiliate_network=CPA\\, Inc', 1],
    [`affiliate_network=${encodeURIComponent(longest)}`, 102],
    [`affiliate_network=!${encodeURIComponent(long.replace(',', '\\,'))}`, 61],
    ['affiliate_network=!nowhere', 163],
    [tree(['contains', 'affiliate_network', ['NETWORK', 'x']]), 102],
    [tree(['is', 'affiliate_network', ['CPA, Inc']]).replace('network', 'n%5Cu0065twork'), 1],
  ]
  for (const [condition, cost] of cases) {
    const clicks = await api.read(`/clicks?${condition}`, key, ClickPage)
    const costs = await api.read(`/costs?${condition}`, key, CostPage)
    const ofRows = [...clicks.data, ...costs.data].reduce((sum, row) => sum + (row.costBase ?? 0), 0)
    const ofReport = (await report(`group_by=country&${condition}`))[0]?.[2] ?? 0
    expect([condition, ofReport, ofRows]).toEqual([condition, cost, cost])
  }
  const { steps } = await api.read('/funnels?steps=click&affiliate_network=!(not set)', key, FunnelResponse)
  expect(steps[0]?.entered).toBe(2)
})

it('a filter has any number of entities, and all conditions together at most 200,000', async () => {
  const many = await store('many')
  await api.stores.postgres`
    INSERT INTO offers (account_id, id, name, status, affiliate_network, created_at, updated_at, search_text)
    SELECT 'many', 'many-' || n, 'Offer', 'active', 'Many', now(), now(), '' FROM generate_series(0, 50000) AS n`
  const rows = Array.from({ length: 1_200 }, (_, n) => ({ id: `d${n}`, offerId: `many-${40 * n}`, cost: 1 }))
  const clicks = rows.map((row) => ({ ...row, clickedAt: '2026-11-20T11:00:00Z' }))
  await importContent(api.stores, 'many', 'clicks', clicks)
  const all = ['contains', 'affiliate_network', ['man']]
  for (const range of ['', 'to=2026-11-21T10:00&'])
    expect(await report(`${range}group_by=affiliate_network`, many)).toContainEqual(['Many', 'Many', 1_200])
  expect(await report(`group_by=country&${tree(all)}`, many)).toEqual([['(not set)', '(not set)', 1_200]])
  const refused = await api.get(`/clicks?${tree(all, all, all, all)}`, many)
  expect([refused.statusCode, refused.json().message]).toEqual([400, expect.stringContaining('200000')])
})

it('a changed network shows at most 5 s later, also where responses are cached, and in its account alone', async () => {
  const other = await store('other')
  const server = await api.open({ responseCache: openResponseCache({ ttlMs: 60_000 }) })
  const read = async (of: string) => await report('group_by=affiliate_network', of, server)
  const before = await read(other)
  expect(await read(key)).toEqual(before)
  await importContent(api.stores, 'other', 'offers', offersOf(['New', 'New']))
  api.setNow(testNowMs + 5_000)
  expect((await read(other)).map(([id, , cost]) => `${id} ${cost}`)).toEqual(['(not set) 60', 'New 103'])
  expect(await read(key)).toEqual(before)
})

import fc from 'fast-check'
import type { LightMyRequestResponse } from 'fastify'
import { beforeAll, expect, it } from 'vitest'
import { hideableNames, type KeyView } from '../../schema/keyView.ts'
import { readAccountKeys, storeKeys } from '../../src/accounts/keyTransfer.ts'
import { rotateKey } from '../../src/accounts/manageKeys.ts'
import { openResponseCache } from '../../src/http/responseCache.ts'
import { viewOf } from '../../src/query/keyView.ts'
import { makeKey } from '../kit/accounts.ts'
import { type TestApp, testNowMs, useTestApp } from '../kit/app.ts'
import { callTool, sendMcp } from '../kit/mcp.ts'
import { goodValues, isNeeded, operations } from '../kit/operations.ts'
import { queryParquet } from '../kit/parquet.ts'
import { randomCases } from '../kit/randomCases.ts'
import { csvRows, ndjsonRows } from '../kit/readRows.ts'
import {
  advanceWatermarks,
  type StoredRow,
  storeClicks,
  storeConversions,
  storeCosts,
  storeEvents,
  storeMetadata,
} from '../kit/rows.ts'

// Keys that see a part of their account. Responses are cached for the whole file: the part is in the key of every cache.
const cached = () => ({ responseCache: openResponseCache({ ttlMs: 600_000 }) })
const api = useTestApp(cached())
const twin = useTestApp(cached())
let full = ''

const pick = <Value>(values: readonly Value[], n: number) => values[n % values.length] as Value
const at = (n: number) => new Date(testNowMs - n * 3_700_000).toISOString().replace('T', ' ').replace('Z', '')
const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)

const attributesOf = (n: number) => ({
  campaign_id: pick(['k1', 'k2', 'k-secret', ''], n),
  offer_id: pick(['o1', 'o2'], n >> 1),
  country: pick(['US', 'DE', ''], n),
  device: pick(['desktop', 'mobile'], n >> 2),
  sub1: pick(['aff42', 'aff7', 'secret', ''], n >> 1),
  sub2: pick(['x', '', 'y'], n >> 3),
})

interface Rows {
  clicks: StoredRow[]
  conversions: StoredRow[]
  costs: StoredRow[]
  events: StoredRow[]
  campaigns: string[]
}

const clickOf = (n: number): StoredRow => ({
  ...attributesOf(n * 7),
  id: `c${n}`,
  clicked_at: at(n),
  stored_at: at(n),
  ...(n % 5 > 0 && { cost: n % 5, cost_base: n % 5, currency: 'USD' }),
  visitor_id: `w${n % 9}`,
  ip: '10.0.0.0',
  user_agent: 'agent',
  external_click_id: `x${n}`,
  utm_source: pick(['news', ''], n),
  is_bot: n % 17 === 0,
  is_test: n % 19 === 0,
})
const conversionOf = (n: number): StoredRow => ({
  ...attributesOf(n * 7 + (n % 6 === 0 ? 1 : 0)),
  id: `v${n}`,
  converted_at: at(n - 0.3),
  clicked_at: at(n),
  stored_at: at(n - 0.3),
  click_id: n % 4 === 3 ? '' : `c${n}`,
  status: pick(['approved', 'pending', 'hold', 'declined', 'refunded'], n),
  revenue: 3 * n + 1,
  revenue_base: 3 * n + 1,
  payout: n,
  currency: 'USD',
  event_name: pick(['lead', ''], n),
})
const costOf = (n: number): StoredRow => ({
  ...attributesOf(n * 5),
  ...(n % 3 === 0 && { sub1: '', country: '' }),
  ...(n % 4 === 0 && { country: 'FR' }),
  id: `x${n}`,
  spent_at: at(n * 2),
  stored_at: at(n * 2),
  cost: n,
  cost_base: n,
})
const eventOf = (n: number): StoredRow => ({
  id: `e${n}`,
  event_name: 'signup',
  campaign_id: pick(['k1', 'k2'], n),
  click_id: `c${n}`,
  occurred_at: at(n),
  received_at: at(n),
  stored_at: at(n),
})

async function store({ stores }: TestApp, account: string, { clicks, conversions, costs, events, campaigns }: Rows) {
  await storeClicks(stores, account, clicks)
  await storeConversions(stores, account, conversions)
  await storeCosts(stores, account, costs)
  await storeEvents(stores, account, events)
  for (const table of ['campaigns', 'offers', 'landing_pages', 'traffic_sources'] as const)
    await storeMetadata(
      stores,
      table,
      account,
      campaigns.map((id) => ({ id, name: `name of ${id}` })),
    )
  await advanceWatermarks(stores, account)
}

beforeAll(async () => {
  full = await api.account('acme')
  await api.stores.postgres`UPDATE plans SET requests_per_minute = 10000000`
  await twin.stores.postgres`UPDATE plans SET requests_per_minute = 10000000`
  await store(api, 'acme', {
    clicks: numbers(120).map(clickOf),
    conversions: numbers(60).map(conversionOf),
    costs: numbers(40).map(costOf),
    events: numbers(20).map(eventOf),
    campaigns: ['k-unused', 'k1', 'k2', 'k-secret', 'o1'],
  })
})

const values = (...names: string[]) => fc.subarray(names, { minLength: 1 })
const view = fc.record({
  filters: fc
    .record(
      {
        sub1: values('aff42', 'aff7', 'none'),
        campaign_id: values('k1', 'k2'),
        country: values('US', 'DE', 'FR'),
        utm_source: values('news'),
      },
      { requiredKeys: [] },
    )
    .filter((filters) => Object.keys(filters).length > 0)
    .map((filters): KeyView['filters'] => ({ ...filters })),
  hidden: fc.subarray(hideableNames),
})
const metrics =
  'clicks conversions revenue cost profit roi cr epc cpa cpc aov visitors pendingRevenue events eventVisitors events:signup'.split(
    ' ',
  )
const request = fc.record({
  path: fc.constantFrom(
    '/reports',
    '/reports',
    '/stats/overview',
    '/stats/daily',
    '/clicks',
    '/conversions',
    '/costs',
    '/events',
  ),
  tree: fc.constantFrom<unknown[]>(
    [],
    [['is', 'country', ['US', 'DE']]],
    [
      [
        'or',
        [
          ['is', 'sub2', ['x']],
          ['contains', 'sub1', ['sec']],
        ],
      ],
    ],
    [['not', ['is', 'device', ['mobile']]]],
    [['is_not', 'sub1', ['aff42']]],
  ),
  format: fc.constantFrom('json', 'csv', 'ndjson', 'parquet'),
  groupBy: fc.constantFrom('campaign', 'sub1', 'country', 'day', 'campaign,country', 'offer', 'status'),
  sort: fc.constantFrom('', ...metrics.map((name) => `-${name}`), 'change.cost', 'change.clicks', 'id'),
  metrics: fc.oneof(fc.constant([]), fc.subarray(metrics, { minLength: 1 })),
  condition: fc.constantFrom<unknown[]>([], [], ['>=', 'cost', 1], ['>=', 'clicks', 1], ['<', 'roi', 50]),
  compare: fc.boolean(),
  atClick: fc.boolean(),
  bots: fc.constantFrom('', '', '&bots=include', '&bots=only'),
  order: fc.constantFrom('', '&order=asc', '&updated_since=2026-11-01'),
  single: fc.constantFrom('', '&country=!US', '&sub2=x', '&sub1=secret'),
  fields: fc.constantFrom('', '', '&fields=sub1,currency', '&fields=ip,cost'),
  isFullFirst: fc.boolean(),
})
type Request = typeof request extends fc.Arbitrary<infer Value> ? Value : never

const isOfFacts = ({ path }: Request) => path.startsWith('/stats') || path === '/reports'

/** The format of the response: series have CSV, lists have all formats. */
function formatOf({ path, format }: Request): string {
  if (path === '/stats/overview') return 'json'
  return path === '/reports' || path === '/stats/daily' ? (format === 'csv' ? format : 'json') : format
}

/** @param filters conditions of a view */
function urlOf(one: Request, filters: KeyView['filters'] = {}): string {
  const { path, tree, groupBy, sort, metrics, condition, compare, atClick, bots, order, single, fields } = one
  const isReport = path === '/reports'
  const ofEvents = tree.length > 0 ? [['is_not', 'campaign_id', ['k2']]] : []
  const nodes = [
    ...(path === '/events' ? ofEvents : tree),
    ...(isReport && condition.length > 0 ? [condition] : []),
    ...Object.entries(filters).map(([name, values]) => ['is', name, values]),
  ]
  const format = formatOf(one)
  return [
    `${path}?range=this_month`,
    nodes.length > 0 ? `&filters=${encodeURIComponent(JSON.stringify(nodes))}` : '',
    path === '/events' ? '' : single,
    isReport ? `&group_by=${groupBy}${sort && `&sort=${sort}`}` : '',
    isReport && metrics.length > 0 ? `&metrics=${metrics.join()}` : '',
    isOfFacts(one) ? `${compare ? '&compare=previous_period' : ''}${atClick ? '&count_at=click' : ''}${bots}` : order,
    isOfFacts(one) || path === '/events' ? '' : fields,
    format === 'json' ? '' : `&format=${format}`,
    !isOfFacts(one) && format === 'json' ? '&limit=7' : '',
  ].join('')
}

/** Names that a request uses. */
function namesIn({ path, sort, metrics, condition, fields }: Request): string[] {
  if (path === '/reports') return [sort.replace(/^-?(change\.)?/, ''), ...metrics, `${condition[1]}`]
  return path.startsWith('/stats') || path === '/events' ? [] : fields.replace('&fields=', '').split(',')
}

/** The value without hidden fields. */
function cleaned(value: unknown, isHidden: (name: string) => boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => cleaned(item, isHidden))
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(([name]) => !isHidden(name))
  return Object.fromEntries(kept.map(([name, inner]) => [name, cleaned(inner, isHidden)]))
}

async function rowsOf(response: LightMyRequestResponse, format: string): Promise<unknown> {
  if (format === 'parquet') {
    const columns = await queryParquet<{ name: string }>(api.stores, response.rawPayload, 'DESCRIBE')
    // A file without rows cannot be selected from.
    const rows = await queryParquet(api.stores, response.rawPayload, 'SELECT *').catch(() => [])
    return [Object.fromEntries(columns.map(({ name }) => [name, null])), ...rows]
  }
  if (format === 'csv') return await csvRows(response.body)
  if (format === 'json') return response.json()
  return ndjsonRows(response.body)
}

/** Buckets that have nothing but a cost. */
async function costOnly(url: string): Promise<Set<unknown>> {
  const ofEvents = url.includes('events') || url.includes('eventVisitors') ? ' events' : ''
  const counts = `clicks conversions pendingConversions holdConversions declinedConversions refundedConversions${ofEvents}`
  const named = url.replace(/&(metrics|sort|format)=[^&]*/g, '')
  const { data } = (await api.get(`${named}&metrics=${counts.replaceAll(' ', ',')}`, full)).json()
  const isEmpty = (row: Record<string, unknown>) => counts.split(' ').every((name) => row[name] === 0)
  return new Set(data.filter(isEmpty).map(({ id }: { id: string }) => id))
}

/** Compares the response to a key with the response to a full key that sends the filters itself. */
async function compare(key: string, stored: KeyView, one: Request): Promise<void> {
  const hidden = viewOf(stored)?.hiddenNames ?? new Set()
  const currencyOf: Record<string, string[]> = { '/clicks': ['cost'], '/conversions': ['revenue', 'payout'] }
  const isHidden = (name: string) =>
    hidden.has(name) ||
    ['cursor', 'nextCursor', 'asOf', 'dataThrough', 'resources', 'next'].includes(name) ||
    (name === 'currency' && currencyOf[one.path]?.every((amount) => hidden.has(amount)) === true)
  const wideUrl = urlOf(one, stored.filters)
  if (one.isFullFirst) await api.get(urlOf(one), full)
  const narrow = await api.get(urlOf(one), key)
  const wide = await api.get(wideUrl, full)
  const request = [urlOf(one), stored]
  const isClosed =
    (one.path === '/costs' && hidden.has('cost')) ||
    (one.path === '/events' && Object.keys(stored.filters).some((name) => name !== 'campaign_id'))
  if (isClosed) {
    expect([request, narrow.statusCode, narrow.json().error]).toEqual([request, 403, 'restricted_key'])
    return
  }
  if (namesIn(one).some((name) => !['cursor', 'next'].includes(name) && isHidden(name))) {
    expect([request, narrow.statusCode]).toEqual([request, 400])
    const named = [...hidden].filter((name) => new RegExp(`\\b${name}\\b`).test(narrow.json().message))
    expect([request, named]).toEqual([request, []])
    return
  }
  expect([request, narrow.statusCode]).toEqual([request, wide.statusCode])
  if (wide.statusCode !== 200) return
  const format = formatOf(one)
  let [seen, all] = [
    await rowsOf(narrow, format),
    cleaned(await rowsOf(wide, format), (name) => isHidden(name.replace('previous_', ''))),
  ]
  if (one.path === '/reports' && hidden.has('cost')) {
    const dropped = await costOnly(wideUrl)
    const isKept = (row: Record<string, unknown>) => !dropped.has(idOf(row))
    if (format === 'csv') all = (all as Record<string, unknown>[]).filter(isKept)
    else {
      const report = all as { data: Record<string, unknown>[]; bucketCount: number }
      report.data = report.data.filter(isKept)
      report.bucketCount = report.data.length
    }
  }
  const headers = JSON.stringify([narrow.body, narrow.headers])
  expect([request, /k-unused|x-as-of|dataThrough|resources/.test(headers)]).toEqual([request, false])
  expect([request, cleaned(seen, (name) => ['cursor', 'nextCursor', 'asOf', 'next'].includes(name))]).toEqual([
    request,
    all,
  ])
  // Pages lead to the same rows.
  let [nextOfSeen, nextOfAll] = [narrow, wide].map((page) =>
    isOfFacts(one) || format !== 'json' ? null : page.json().nextCursor,
  )
  while (nextOfAll) {
    const pages = [
      await api.get(`${urlOf(one)}&cursor=${encodeURIComponent(`${nextOfSeen}`)}`, key),
      await api.get(`${wideUrl}&cursor=${encodeURIComponent(nextOfAll)}`, full),
    ].map((page) => page.json())
    ;[seen, all] = pages.map((page) => cleaned(page.data, isHidden))
    expect([request, seen]).toEqual([request, all])
    ;[nextOfSeen, nextOfAll] = pages.map((page) => page.nextCursor)
  }
  expect([request, nextOfSeen ?? null]).toEqual([request, null])
}

/** The id of a bucket, also in CSV. */
function idOf(row: Record<string, unknown>): unknown {
  if ('id' in row) return row.id
  const ids = Object.entries(row).flatMap(([name, value]) => (name.endsWith('_id') ? [value] : []))
  return ids.length === 1 ? ids[0] : JSON.stringify(ids)
}

it('a key that sees a part sees what a full key sees with its filters, without what is hidden', async () => {
  await fc.assert(
    fc.asyncProperty(view, fc.array(request, { minLength: 4, maxLength: 8 }), async (stored, requests) => {
      const { key } = await makeKey(api.stores, 'acme', undefined, { view: stored })
      for (const one of requests) await compare(key, stored, one)
    }),
    { numRuns: randomCases(6), endOnFailure: true },
  )
})

/** The status and the code of each operation, also of HEAD. */
async function statusesOf(key: string): Promise<Record<string, string>> {
  const statuses: Record<string, string> = {}
  for (const { method, path, query } of operations) {
    const needed = query.filter(isNeeded).map(({ name }) => `${name}=${goodValues[name]}`)
    const url = `/api/v1${path.replace('{id}', 'k1')}?${needed.join('&')}`
    for (const verb of method === 'GET' ? (['GET', 'HEAD'] as const) : ([method] as const)) {
      const body = verb === 'POST' ? { payload: { event_name: 'signup', click_id: 'c1' } } : {}
      const response = await api.app.inject({ method: verb, url, headers: { authorization: `ApiKey ${key}` }, ...body })
      const code = verb === 'HEAD' || response.statusCode < 400 ? '' : ` ${response.json().error}`
      statuses[`${verb} ${path}`] = `${response.statusCode}${code}`
    }
  }
  return statuses
}

it('every other operation is 403 restricted_key, also with HEAD', async () => {
  const views = {
    sub1: { filters: { sub1: ['aff42'] }, hidden: ['cost'] },
    campaign: { filters: { campaign_id: ['k1'] }, hidden: [] },
  }
  const open = ['/reports', '/stats/overview', '/stats/daily', '/clicks', '/conversions', '/key', '/schema']
  const paths = { sub1: open, campaign: [...open, '/costs', '/events'] }
  for (const [name, view] of Object.entries(views)) {
    const { key } = await makeKey(api.stores, 'acme', undefined, { view })
    const statuses = await statusesOf(key)
    const expected = Object.keys(statuses).map((operation) => {
      const [verb, path = ''] = operation.split(' ')
      if (verb !== 'POST' && paths[name as keyof typeof paths].includes(path)) return [operation, '200']
      return [operation, verb === 'HEAD' ? '403' : '403 restricted_key']
    })
    expect([name, statuses]).toEqual([name, Object.fromEntries(expected)])
  }
  const { key } = await makeKey(api.stores, 'acme', ['read:stats'], { view: views.sub1 })
  expect((await api.get('/campaigns', key)).json().error).toBe('insufficient_scope')
})

it('tools of a key that sees a part name what it sees, and call what it may call', async () => {
  const { key } = await makeKey(api.stores, 'acme', undefined, {
    view: { filters: { sub1: ['aff42'] }, hidden: ['cost'] },
  })
  const listed = await sendMcp(api.app, key, { jsonrpc: '2.0', id: 1, method: 'tools/list' })
  const { tools } = listed.json().result
  expect(tools.map(({ name }: { name: string }) => name)).toEqual([
    'get_reports',
    'get_stats',
    'list_rows',
    'get_account',
  ])
  const names = JSON.stringify(
    tools.map(({ inputSchema }: { inputSchema: { properties: object } }) => inputSchema.properties),
  )
  expect(names).toMatch(/"revenue"/)
  expect(names).not.toMatch(/"(cost|costBase|costs|campaigns|usage|profit|roi|cpa|cpc)"|\bcosts?\b/)
  expect((await api.get('/schema', key)).body).not.toMatch(/"(cost|costs|profit)"|costs\b/)
  const unknown = await callTool(api.app, key, 'list_rows', { resource: 'zz' })
  expect(unknown.texts[0]).toMatch(/must be one of clicks, conversions\./)
  const report = await callTool(api.app, key, 'get_reports', { group_by: 'sub1', range: 'this_month' })
  expect(report.texts.join()).toMatch(/aff42(?!.*secret)/s)
  expect((await callTool(api.app, key, 'get_reports', { group_by: 'sub1', sort: '-cost' })).texts[0]).toMatch(
    /^invalid_sort/,
  )
  expect((await callTool(api.app, key, 'search', { resource: 'campaigns', q: 'k-' })).texts[0]).toMatch(
    /^restricted_key/,
  )
})

it('a cursor belongs to the part: it is valid after a rotation, and with no other key', async () => {
  const stored = { filters: { sub1: ['aff42'] }, hidden: ['cost'] }
  const { key, id } = await makeKey(api.stores, 'acme', undefined, { view: stored })
  const others = [
    { filters: { sub1: ['aff7'] }, hidden: ['cost'] },
    { filters: { sub1: ['aff42'] }, hidden: [] },
  ]
  const parts = await Promise.all(others.map((view) => makeKey(api.stores, 'acme', undefined, { view })))
  const rotated = await rotateKey(api.stores.postgres, id, 3_600_000, testNowMs)
  expect(rotated?.row.view).toEqual(stored)
  const filters = `&filters=${encodeURIComponent(JSON.stringify([['is', 'sub1', ['aff42']]]))}`
  const next = async (url: string, one: string, cursor: string) =>
    (await api.get(`${url}&cursor=${encodeURIComponent(cursor)}`, one)).json()
  for (const path of ['/clicks?limit=2', '/conversions?limit=2', '/clicks?limit=2&days=20']) {
    const { nextCursor } = (await api.get(path, key)).json()
    const ofFull = (await api.get(path + filters, full)).json().nextCursor
    expect((await next(path, rotated?.key ?? '', nextCursor)).data).toHaveLength(2)
    for (const one of [full, ...parts.map((part) => part.key)])
      expect([path, (await next(path, one, nextCursor)).error]).toEqual([path, 'invalid_cursor'])
    expect((await next(path + filters, full, nextCursor)).error).toBe('invalid_cursor')
    expect((await next(path, key, ofFull)).error).toBe('invalid_cursor')
    expect((await next(path + filters, key, ofFull)).error).toBe('invalid_cursor')
  }
  const { next: query } = (await api.get('/reports?group_by=day&limit=1', key)).json()
  expect(query).not.toMatch(/filters|sub1|aff42/)
  const written = [
    ['cost', 'ip'],
    ['ip', 'cost', 'cost'],
  ].map((hidden) => ({ ...stored, hidden }))
  const [first, same] = await Promise.all(written.map((view) => makeKey(api.stores, 'acme', undefined, { view })))
  const { nextCursor: cursor } = (await api.get('/clicks?limit=2', `${first?.key}`)).json()
  expect((await next('/clicks?limit=2', `${same?.key}`, cursor)).error).toBeUndefined()
})

it('a cached report is of one part: keys with other filters or other hidden names get their own', async () => {
  const seen = []
  for (const [value = '', ...hidden] of [['aff42', 'cost'], ['aff7', 'cost'], ['aff42']]) {
    const { key } = await makeKey(api.stores, 'acme', undefined, { view: { filters: { sub1: [value] }, hidden } })
    const { data } = (await api.get('/reports?group_by=sub1&range=this_month', key)).json()
    seen.push(data.map(({ id, cost }: { id: string; cost?: number }) => [id, cost !== undefined]))
  }
  expect(seen).toEqual([[['aff42', false]], [['aff7', false]], [['aff42', true]]])
})

const all: KeyView = { filters: { sub1: ['aff42'] }, hidden: hideableNames.filter((name) => name !== 'revenue') }
const ofCampaign: KeyView = { filters: { campaign_id: ['k1'] }, hidden: [] }

/**
 * Stores rows in both servers that are equal where the keys of both parts see them; all else differs. The accounts have different rows for each
 * part: hidden amounts of seen rows differ too.
 */
async function storeTwins(account: string, isSeen: (row: StoredRow) => boolean, isHidden: (column: string) => boolean) {
  const rows = numbers(80)
  const clicks = rows.map(clickOf).filter(isSeen)
  const ids = new Set(clicks.map(({ id }) => id))
  // A click counts all of its conversions.
  const conversions = rows.map(conversionOf).filter((row) => isSeen(row) && (!row.click_id || ids.has(row.click_id)))
  const costs = rows.map(costOf).filter(isSeen)
  const events = rows.map(eventOf).filter(isSeen)
  const seen = { clicks, conversions, costs, events, campaigns: isHidden('cost') ? [] : ['k1', 'k2', 'o1'] }
  const changed = (row: StoredRow): StoredRow =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => {
        if (!isHidden(name)) return [name, value]
        return [name, typeof value === 'number' ? value * 7 + 1 : `other ${value}`]
      }),
    )
  const foreign = (row: StoredRow, n: number): StoredRow => ({
    ...row,
    id: `foreign-${n}`,
    ...('click_id' in row && { click_id: n % 2 ? '' : `foreign-${n}` }),
    campaign_id: 'k-foreign',
    sub1: 'foreign',
    country: 'FR',
    stored_at: at(n - 5),
  })
  const isCostHidden = isHidden('cost')
  await store(api, account, { ...seen, costs: isCostHidden ? [] : costs })
  await store(twin, account, {
    clicks: [
      ...clicks.map((row) => ({ ...changed(row), ...(isCostHidden && { currency: 'EUR' }) })),
      ...rows.map((n) => foreign(clickOf(n), n)),
    ],
    conversions: [...conversions.map(changed), ...rows.map((n) => foreign(conversionOf(n), n))],
    costs: [...costs, ...rows.map((n) => foreign(costOf(n), n))],
    events: [...events, ...rows.map((n) => ({ ...foreign(eventOf(n), n), event_name: 'secret_event' }))],
    campaigns: [...seen.campaigns, 'k-foreign', 'k-unused'],
  })
}

/** All that a response says, but the id of the request and its time. */
function saidBy({ statusCode, headers, rawPayload, body }: LightMyRequestResponse) {
  const { date: _date, 'x-request-id': id, ...others } = headers
  const isFile = `${headers['content-type']}`.includes('parquet')
  return { statusCode, others, body: isFile ? rawPayload.toString('hex') : body.replace(`${id}`, '') }
}

it.each([
  [
    'with hidden costs',
    all,
    (column: string) => /^(cost|cost_base|payout|ip|user_agent|external_click_id)$/.test(column),
  ],
  ['of a campaign', ofCampaign, () => false],
] as const)('says the same bytes, errors and headers whatever others have: %s', async (name, stored, isHidden) => {
  const account = name.replaceAll(' ', '-')
  const [[filter = '', [value] = []] = []] = Object.entries(stored.filters)
  await api.account(account)
  await twin.account(account)
  const { key } = await makeKey(api.stores, account, undefined, { view: stored })
  const keys = (await readAccountKeys(api.stores.postgres, account)).filter(({ view }) => view)
  expect(await storeKeys(twin.stores.postgres, account, keys)).toBe(1)
  await storeTwins(account, (row) => row[filter] === value, isHidden)
  const errors = [
    '/reports?group_by=day&metrics=x',
    '/clicks?fields=x',
    '/clicks?cursor=x',
    '/reports',
    '/nowhere',
    '/campaigns/k-foreign',
    '/campaigns/k-none',
    '/events/foreign-1',
    '/reports?group_by=day&sort=change.clicks',
    '/clicks?updated_since=2026-11-01&order=desc',
  ]
  const getOf = async (url: string, method: 'GET' | 'HEAD' = 'GET', headers = {}) => {
    const request = { method, url: `/api/v1${url}`, headers: { authorization: `ApiKey ${key}`, ...headers } }
    const [mine, theirs] = await Promise.all([api.app.inject(request), twin.app.inject(request)])
    expect([url, saidBy(theirs)]).toEqual([url, saidBy(mine)])
    return mine
  }
  for (const url of errors) await getOf(url)
  for (const { method, path, query } of operations) {
    if (method !== 'GET') continue
    const needed = query.filter(isNeeded).map(({ name }) => `${name}=${goodValues[name]}`)
    const url = `${path.replace('{id}', 'k1')}?${needed.join('&')}`
    await getOf(url, 'HEAD')
    const { etag } = (await getOf(url)).headers
    if (etag) expect((await getOf(url, 'GET', { 'if-none-match': etag })).statusCode).toBe(304)
  }
  let read = 0
  await fc.assert(
    fc.asyncProperty(request, async (one) => {
      let page = await getOf(urlOf(one))
      if (page.statusCode === 200) read += 1
      while (page.statusCode === 200 && !isOfFacts(one) && formatOf(one) === 'json' && page.json().nextCursor)
        page = await getOf(`${urlOf(one)}&cursor=${encodeURIComponent(page.json().nextCursor)}`)
    }),
    { numRuns: randomCases(40), endOnFailure: true },
  )
  expect(read).toBeGreaterThan(10)
})

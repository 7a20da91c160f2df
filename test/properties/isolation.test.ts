import type { TSchema } from '@sinclair/typebox'
import type { LightMyRequestResponse } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { filterNames } from '../../schema/filters.ts'
import { buildApp } from '../../src/app.ts'
import type { App } from '../../src/http/context.ts'
import { openResponseCache } from '../../src/http/responseCache.ts'
import type { Stores } from '../../src/stores/open.ts'
import { post } from '../api/events/send.ts'
import { rowsOfAccount, storeRows } from '../feed/openFeed.ts'
import { makeKey } from '../kit/accounts.ts'
import { getFrom, testNowMs, useTestApp } from '../kit/app.ts'
import { forEachConcurrently } from '../kit/forEachConcurrently.ts'
import { interceptClickHouse } from '../kit/interceptedClickHouse.ts'
import { interceptPostgres } from '../kit/interceptedPostgres.ts'
import { isNeeded, type Operation, operations } from '../kit/operations.ts'
import { randomCasesFactor } from '../kit/randomCases.ts'
import { until } from '../kit/until.ts'

// Two accounts with the same ids in every resource (campaigns, offers, landing pages, traffic sources, clicks, conversions,
// events), and some rows that only one of them has. Every text contains the name of its account.

const api = useTestApp({ responseCache: openResponseCache({ ttlMs: 60_000 }) })
/** A server without a response cache and with empty name caches. */
let uncached: App
const keys = { acme: '', other: '' }
type Account = keyof typeof keys

/** Responses of `acme` before `other` had rows, by URL. */
const responsesAlone = new Map<string, string>()
const eventChecksums = `/checksums/events?from=${at(0).slice(0, 10)}`
/** The text of each query to the stores for these responses. */
let queriesAlone: readonly string[] = []

beforeAll(async () => {
  for (const account of ['acme', 'other'] as const) keys[account] = await api.account(account)
  await fill('acme', 1)
  const before = await openRecording()
  const record = async (url: string) => {
    responsesAlone.set(url, (await send(before.app, url, 'acme')).body)
  }
  await forEachConcurrently(urls, concurrentReads, record)
  await forEachConcurrently(exportUrls, concurrentExportsMax, record)
  // Checksums have only events that are older than a second.
  await until(async () => (await send(before.app, eventChecksums, 'acme')).body.includes('"rows":3'))
  await record(eventChecksums)
  await before.close()
  queriesAlone = before.queries
  await fill('other', 1_000)
  uncached = await openUncached(api.stores)
})
afterAll(() => uncached?.close())

function openUncached(stores: Stores): Promise<App> {
  const { settings } = api.stores
  return buildApp({ settings, stores, responseCache: openResponseCache({ ttlMs: 0 }), now: () => testNowMs })
}

/** @param scale factor of all amounts, so that no sum of one account equals one of the other */
async function fill(account: Account, scale: number): Promise<void> {
  const text = `text of ${account}`
  const ids = (letter: string) => [`${letter}1`, `${letter}2`, `only-${account}`, `secret-${account}`]
  const entities = {
    campaigns: { tags: [text], userId: `user-${account}`, trafficSourceId: 't1' },
    offers: { url: text, affiliateNetwork: text },
    'landing-pages': { url: text },
    'traffic-sources': { category: text },
  }
  const entityRows = Object.entries(entities).map(([resource, more]) => {
    const letter = resource === 'campaigns' ? 'k' : resource.charAt(0)
    return [resource, ids(letter).map((id) => ({ id, name: `${id} of ${account}`, createdAt: at(0), ...more }))]
  })
  const entityIds = (n: number) => ({
    campaignId: ids('k')[n % 4],
    offerId: ids('o')[n % 4],
    landingPageId: 'l1',
    trafficSourceId: 't1',
  })
  const numbers = Array.from({ length: 12 }, (_, n) => n)
  const clicks = [
    ...numbers.map((n) => ({
      id: `c${n}`,
      clickedAt: at(n),
      ...entityIds(n),
      cost: scale * (n + 1),
      city: text,
      referrer: text,
      externalClickId: text,
      subIds: { sub1: text },
      browser: `browser of ${account}`,
      country: 'US',
    })),
    ...['only', 'secret'].map((kind) => ({
      id: `${kind}-${account}`,
      clickedAt: at(3),
      campaignId: 'k1',
      referrer: text,
    })),
  ]
  const conversions = [
    ...numbers.map((n) => ({
      id: `v${n}`,
      convertedAt: at(n),
      status: n % 2 ? 'approved' : 'pending',
      clickId: `c${n}`,
      revenue: scale,
      source: n % 3 ? 'cpa' : 'revenue',
      couponCode: text,
      transactionId: text,
      isTest: n === 7,
    })),
    // The click and the campaign exist only in the other account.
    ...[
      { id: `only-${account}`, clickId: `only-${otherOf(account)}` },
      { id: 'astray', campaignId: `only-${otherOf(account)}` },
    ].map((row) => ({ ...row, convertedAt: at(3), status: 'approved', revenue: scale })),
  ]
  const costs = numbers.map((n) => ({
    id: `x${n}`,
    spentAt: at(n),
    updatedAt: at(n),
    ...entityIds(n),
    cost: scale,
    subIds: { sub1: text },
  }))
  await storeRows(api.stores, rowsOfAccount(account, { ...Object.fromEntries(entityRows), clicks, conversions, costs }))
  for (const body of [...events, { ...events[1], event_id: `only-${account}` }]) {
    const sent = await post(api.app, keys[account], { ...body, properties: { text } })
    expect([account, body, sent.json()]).toEqual([account, body, { accepted: true }])
  }
}

const events = [
  { event_name: 'paid', event_id: 'e1', click_id: 'c1' },
  { event_name: 'paid', event_id: 'e2', visitor_id: 'x', campaign_id: 'k1' },
]

function at(hour: number): string {
  return new Date(testNowMs - 86_400_000 + hour * 3_600_000).toISOString()
}

function otherOf(account: Account): Account {
  return account === 'acme' ? 'other' : 'acme'
}

/** An id that both accounts have, and one of each account. */
const testedIds = (letter: string) => [`${letter}1`, 'only-acme', 'only-other']
/** Values of each parameter, which is also left out. */
const values: Record<string, readonly string[]> = {
  // `format` and the parameters of CSV are in `exportUrls`. Responses by `updated_since` depend on the clock: see updatedSince.test.ts. Filters
  // by ids are like campaign_id, the others like country.
  ...Object.fromEntries(
    [
      ...`limit cursor format csv_escape csv_bom csv_decimal updated_since updated_after from to days offset min_clicks min_conversions
        compare_from compare_to previous_until totals click_id transaction_id is_bot is_test coupon_code`.split(/\s+/),
      ...filterNames,
    ].map((name) => [name, []]),
  ),
  order: ['asc'],
  tz: ['Asia/Kathmandu'],
  converted: ['true', 'false'],
  status: ['active', 'archived'],
  origin: ['server', 'browser'],
  source: ['cpa', 'revenue'],
  include_test_mode: ['true'],
  q: ['text', 'of other', 'k1', 'only-'],
  fields: ['campaignName', 'name', 'referrer,sub1'],
  group_by: [
    'campaign',
    'offer,landing',
    'traffic_source,country,device',
    'os,browser',
    'sub1,region',
    'affiliate_network,traffic_source_category',
    'day',
    'event_origin,property:text',
  ],
  sort: ['id'],
  interval: ['week'],
  steps: ['paid,conversion', 'click,paid,conversion'],
  by: ['click'],
  window: ['30d'],
  compare: ['previous_period'],
  range: ['this_month'],
  count_at: ['click'],
  bots: ['include'],
  metrics: ['clicks,events,eventVisitors,events:paid'],
  filters: ['[["is","campaign_id",["k1","only-acme"]]]', '[["contains","campaign_id",["only"]]]'],
  event_name: ['paid'],
  visitor_id: ['x'],
  campaign_id: testedIds('k'),
  offer_id: testedIds('o'),
  country: ['!US'],
}

/** Whether a list takes a name: one of an enumeration, or of a pattern. */
const takes = ({ anyOf, ...items }: TSchema, name: string): boolean =>
  [...(anyOf ?? []), items].some(
    ({ enum: names, pattern }) => names?.includes(name) || (pattern && new RegExp(pattern).test(name)),
  )

/** Further values of parameters where these are required. */
const requiredValues: Record<string, readonly string[]> = {
  from: [at(0).slice(0, 10)],
  visitor_id: testedIds('v'),
  click_id: testedIds('c'),
}

// In the suite one value of a parameter that is neither a campaign nor required is sent, three parameters in a request, all but the
// first request with a campaign, each with one value of the required parameters; in test:long, all combinations are sent.
const isLong = randomCasesFactor > 1

/**
 * The query strings of an endpoint: empty, and each value of each parameter, alone, with other ones or with one of the campaigns; in
 * the suite only the last campaign, of the other account, is alone. Required parameters are in all of them.
 */
function queriesOf({ query, path }: Operation): string[] {
  const alternatives = query.flatMap(({ schema }) => (schema['x-required-without'] as string | undefined) ?? [])
  const pairs = query.map((parameter) => {
    const { name, schema } = parameter
    const required = isNeeded(parameter) || alternatives.includes(name)
    const tested = values[name]
    if (!tested) throw new Error(`The parameter ${name} of ${path} has no entry in values.`)
    const isAllowed = (value: string) =>
      // Of conversions it is a filter like the others.
      !(name === 'status' && !schema.enum) &&
      !(schema.enum && !schema.enum.includes(value)) &&
      !(schema.items && !value.split(',').every((name) => takes(schema.items, name))) &&
      !(schema.pattern && !new RegExp(schema.pattern).test(value))
    const allowed = (required ? [...tested, ...(requiredValues[name] ?? [])] : tested).filter(isAllowed)
    const isWhole = isLong || required || name === 'campaign_id'
    // The last id is of the other account.
    const given = isWhole ? allowed : name.endsWith('_id') ? allowed.slice(-1) : allowed.slice(0, 1)
    return { name, required, given: given.map((value) => `${name}=${encodeURIComponent(value)}`) }
  })
  const required = pairs.filter((pair) => pair.required).flatMap(({ given }) => given)
  const campaigns = pairs.flatMap(({ name, given }) => (name === 'campaign_id' ? given : []))
  const others = pairs.filter((pair) => !pair.required && pair.name !== 'campaign_id').flatMap(({ given }) => given)
  const requests = Math.ceil(others.length / (isLong ? 1 : 4))
  const sent = others.slice(0, requests).map((_, n) => others.filter((_, at) => at % requests === n))
  const withOthers = sent.flatMap((together, n) => {
    const pair = campaigns.length === 0 ? undefined : [campaigns[Math.max(0, n - 1) % campaigns.length], ...together]
    if (pair && isLong) return [together, pair]
    return [pair && n > 0 ? pair : together]
  })
  const combinations = [[], ...campaigns.slice(isLong ? 0 : -1).map((one) => [one]), ...withOthers]
  const alone = required.length > 0 ? required : ['']
  return combinations.flatMap((combination, n) => {
    const given = isLong || n === 0 ? alone : [alone[n % alone.length]]
    return given.map((one) => [one, ...combination].filter(Boolean).join('&'))
  })
}

const reads = operations.filter(({ method }) => method === 'GET')
const pathsOf = ({ path, hasId }: Operation, letter = path[1] === 'c' ? 'k' : path[1]) =>
  hasId ? testedIds(letter ?? '').map((id) => path.replace('{id}', id)) : [path]
const urls = reads.flatMap((operation) =>
  pathsOf(operation).flatMap((path) => queriesOf(operation).map((query) => (query ? `${path}?${query}` : path))),
)

const escapeOf = (format: string) => (format === 'csv' ? 'csv_escape=formulas' : '')
/** Exports: the empty query string in every format of an endpoint, and in its first format every second query string; in test:long, all of them. */
const exportUrls = reads.flatMap((operation) => {
  const schema = operation.query.find(({ name }) => name === 'format')?.schema
  const formats = ['ndjson', 'csv', 'parquet'].filter((format) => JSON.stringify(schema ?? '').includes(`"${format}"`))
  return formats.flatMap((format, n) =>
    queriesOf(operation)
      .filter((query, index) => query === '' || (n === 0 && (isLong || index % 2 === 0)))
      .map((query) => `${operation.path}?${[query, `format=${format}`, escapeOf(format)].filter(Boolean).join('&')}`),
  )
})
const concurrentExportsMax = 2
const concurrentReads = 8

/**
 * Sends a GET request and removes from the body what differs each time: the request id, and the watermark of events, which is
 * the present time of the store.
 */
async function send(app: App, url: string, account: Account): Promise<{ statusCode: number; body: string }> {
  const response = await getFrom(app, url, keys[account])
  const body = withoutRequestId(response)
  const isOfEvents = url.startsWith('/checksums/events')
  return { statusCode: response.statusCode, body: isOfEvents ? body.replace(/"asOf":"[^"]*"/, '') : body }
}

/** Whether `other` reads a URL too: in the suite every fourth one. */
const isRead = (index: number) => isLong || index % 4 === 0

const responsesOfOther = new Map<string, ReturnType<typeof send>>()

/** The response of `other` without a cache, read once: no test changes its rows. */
function readOfOther(url: string): ReturnType<typeof send> {
  const known = responsesOfOther.get(url) ?? send(uncached, url, 'other')
  responsesOfOther.set(url, known)
  return known
}

function withoutRequestId({ body, headers }: LightMyRequestResponse): string {
  return body.replace(String(headers['x-request-id']), '')
}

describe('an account', () => {
  it('receives the same bytes as before the other account had rows, and nothing of the other account', async () => {
    expect(urls.length).toBeGreaterThan(90)
    await forEachConcurrently([...urls.entries()], concurrentReads, async ([index, url]) => {
      /** A single row that only the other account has gets 404. */
      const statusFor = (account: Account) => (new RegExp(`/only-${otherOf(account)}`).test(url) ? 404 : 200)
      const mine = await send(uncached, url, 'acme')
      expect([url, mine]).toEqual([url, { statusCode: statusFor('acme'), body: responsesAlone.get(url) }])
      expect([url, foreignIn(mine.body, 'other')]).toEqual([url, []])
      if (!isRead(index)) return
      const theirs = await readOfOther(url)
      expect([url, theirs.statusCode]).toEqual([url, statusFor('other')])
      expect([url, foreignIn(theirs.body, 'acme')]).toEqual([url, []])
    })
  })

  it('receives the same bytes in each export, and nothing of the other account', async () => {
    expect(exportUrls.length).toBeGreaterThan(30)
    await forEachConcurrently([...exportUrls.entries()], concurrentExportsMax, async ([index, url]) => {
      const mine = await send(uncached, url, 'acme')
      expect([url, mine.statusCode, mine.body === responsesAlone.get(url)]).toEqual([url, 200, true])
      expect([url, foreignIn(mine.body, 'other')]).toEqual([url, []])
      if (!isRead(index)) return
      const theirs = await send(uncached, url, 'other')
      expect([url, foreignIn(theirs.body, 'acme')]).toEqual([url, []])
    })
    const [clicks = ''] = exportUrls
    expect(foreignIn((await send(uncached, clicks, 'other')).body, 'other')).not.toEqual([])
  })

  it('never receives a cached response of the other account', async () => {
    const cachedUrls = urls.filter((url, index) => url === '/usage' || (isRead(index) && /^.(stats|reports)/.test(url)))
    expect(new Set(cachedUrls.map((url) => url.split('?')[0])).size).toBe(4)
    await forEachConcurrently(cachedUrls, concurrentReads, async (url) => {
      await send(api.app, url, 'acme')
      const theirs = await send(api.app, url, 'other')
      expect([url, theirs]).toEqual([url, await readOfOther(url)])
    })
  })

  it('cannot use a cursor of the other account: the response is the same as for an invalid cursor', async () => {
    for (const { path, query } of reads) {
      if (!query.some(({ name }) => name === 'cursor')) continue
      const needed: Record<string, string> = { q: 'q=text&', visitor_id: 'visitor_id=x&' }
      const search = query.filter(isNeeded).map(({ name }) => needed[name])[0] ?? ''
      const { nextCursor } = (await api.get(`${path}?${search}limit=1`, keys.acme)).json()
      expect([path, typeof nextCursor]).toEqual([path, 'string'])
      const stolen = await send(api.app, `${path}?${search}limit=1&cursor=${nextCursor}`, 'other')
      const madeUp = await send(api.app, `${path}?${search}limit=1&cursor=x`, 'other')
      expect([path, stolen]).toEqual([path, madeUp])
      expect(JSON.parse(stolen.body).error).toBe('invalid_cursor')
    }
  })
})

describe('two keys of an account that see different parts', () => {
  it('never receive a response of the other, or of a key that sees all: from a cache, by a cursor, in an export', async () => {
    const parts = ['k1', 'only-acme'].map((id) => ({ filters: { campaign_id: [id] }, hidden: [] }))
    const made = await Promise.all(parts.map((view) => makeKey(api.stores, 'acme', undefined, { view })))
    const served = [...urls, ...exportUrls].filter((url) =>
      /^.(stats|reports|clicks|conversions|costs|events)\b(?!.search|.only|.absent|.k1)/.test(url),
    )
    const read = (server: App, url: string, key = '') => getFrom(server, url, key)
    const counts = [0, 0]
    for (const url of served) {
      await read(api.app, url, keys.acme)
      for (const [at, { key }] of made.entries()) {
        const [cached, alone] = [await read(api.app, url, key), await read(uncached, url, key)]
        expect([url, withoutRequestId(cached)]).toEqual([url, withoutRequestId(alone)])
        const [mine, others] = at === 0 ? ['k1 of acme', 'only-acme of acme'] : ['only-acme of acme', 'k1 of acme']
        expect([url, cached.body.includes(others)]).toEqual([url, false])
        if (cached.body.includes(mine)) counts[at] = (counts[at] ?? 0) + 1
      }
    }
    expect(Math.min(...counts)).toBeGreaterThan(5)
  })
})

/**
 * Finds data of an account in a response: its texts, names and users, and rows that only it has. A conversion may refer to
 * any id, so a bucket with an id of the other account leaks nothing unless it has a name. Earlier buckets have no name.
 */
function foreignIn(body: string, account: Account): string[] {
  const shown = new RegExp(
    `[^{}]{0,40}(of ${account}|user-${account}|(?<!"previous":{)"id":"only-${account}"(?!,"name":null))`,
    'g',
  )
  // A search response repeats its query.
  return [...body.replace(/"query":"[^"]*"/, '').matchAll(shown)].map(([found]) => found)
}

describe('a row of another account', () => {
  const isFirstWith = (operation: Operation, name: string) =>
    reads.find(({ query }) => query.some((parameter) => parameter.name === name)) === operation
  /**
   * URLs in pairs: with an id of the other account that no row of this one refers to, and with an id that does not exist. In the
   * suite one endpoint has the filters that are like campaign_id.
   */
  const pairs = reads.flatMap((operation) => [
    ...(operation.hasId ? ['secret-other', 'absent'] : []).map((id) => operation.path.replace('{id}', id)),
    ...operation.query
      .filter(({ name }) => name.endsWith('_id'))
      .filter(({ name }) => isLong || /^(campaign|click|visitor)_id$/.test(name) || isFirstWith(operation, name))
      .flatMap(({ name }) => {
        const required = operation.query
          .filter((one) => one.required)
          .map((one) => `${one.name}=${values[one.name]?.[0]}&`)
        return ['secret-other', 'absent'].map((id) => `${operation.path}?${required.join('')}${name}=${id}`)
      }),
  ])

  it('is indistinguishable from an absent row: same bytes, same store queries', async () => {
    expect(pairs.length).toBeGreaterThanOrEqual(20)
    const { app, queries, close } = await openRecording()
    for (let index = 0; index < pairs.length; index += 2) {
      const [foreign = '', absent = ''] = pairs.slice(index, index + 2)
      const responses = []
      for (const url of [foreign, absent]) {
        queries.length = 0
        responses.push({ ...(await send(app, url, 'acme')), queries: [...queries].sort() })
      }
      expect([foreign, responses[0]]).toEqual([foreign, responses[1]])
      expect(queries.length).toBeGreaterThan(0)
    }
    for (const field of ['click_id', 'campaign_id']) {
      const responses = []
      for (const id of ['secret-other', 'absent']) {
        queries.length = 0
        const body = { event_name: 'paid', [field]: id, ...(field === 'campaign_id' && { visitor_id: 'x' }) }
        const response = await post(app, keys.acme, body)
        responses.push({ status: response.statusCode, body: withoutRequestId(response), queries: [...queries].sort() })
      }
      expect(responses[0]).toEqual(responses[1])
      expect(responses[0]?.status).toBe(404)
    }
    await close()
  })
})

it('every ClickHouse query of a read has the account as the first condition on each table', () => {
  const tables = queriesAlone.flatMap((query) =>
    query.startsWith('ClickHouse') ? query.split(/\b(?:FROM|JOIN) (?=[a-z_]+\b(?!\())/).slice(1) : [],
  )
  const condition =
    /^\w+(?: AS \w+)?(?: FINAL)?\s+(?:PREWHERE (?!account_id)[\s\S]*?\s)?(?:PRE)?WHERE account_id (?:=|IN) \{p\d+:/
  expect(tables.length).toBeGreaterThan(100)
  expect(tables.filter((text) => !condition.test(text))).toEqual([])
})

async function openRecording(): Promise<{ app: App; queries: string[]; close: () => Promise<void> }> {
  const queries: string[] = []
  const postgres = interceptPostgres(api.stores.postgres, (text, run) => {
    queries.push(`Postgres: ${text}`)
    return run()
  })
  const recording = interceptClickHouse<Stores>(api.stores, ({ isReader, text }) => {
    if (isReader) queries.push(`ClickHouse: ${text}`)
  })
  const app = await openUncached({ ...recording, postgres, postgresReader: postgres })
  // Caches the key.
  await getFrom(app, '/offers', keys.acme)
  return { app, queries, close: () => app.close() }
}

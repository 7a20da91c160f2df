import type { LightMyRequestResponse } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildApp } from '../../src/app.ts'
import type { App } from '../../src/http/context.ts'
import { openResponseCache } from '../../src/http/responseCache.ts'
import { post, storedEvents } from '../api/events/send.ts'
import { importContent } from '../import/runImport.ts'
import { openTestApp, type TestApp, testNowMs } from '../kit/app.ts'
import { type Operation, operations } from '../kit/operations.ts'

// Two accounts that hold the same ids everywhere: campaigns, offers, landing pages, traffic sources, clicks, conversions,
// events; and each some of its own. Every text of theirs holds the name of its account.

let api: TestApp
/** Keeps no answers, and no names yet. */
let fresh: App
const keys = { acme: '', other: '' }
type Account = keyof typeof keys

/** What `acme` was answered while it was alone, by question. */
const alone = new Map<string, string>()

beforeAll(async () => {
  api = await openTestApp({ ttlMs: 60_000 })
  for (const account of ['acme', 'other'] as const) keys[account] = await api.account(account)
  await fill('acme', 1)
  const before = await openFresh()
  const note = async (question: string) => {
    alone.set(question, (await ask(before, question, 'acme')).body)
  }
  await each(questions, note)
  await each(exports, note, exportsAtATime)
  await before.close()
  await fill('other', 1_000)
  fresh = await openFresh()
})
afterAll(async () => {
  await fresh?.close()
  await api?.close()
})

function openFresh(): Promise<App> {
  const { settings } = api.stores
  return buildApp({
    settings,
    stores: api.stores,
    responseCache: openResponseCache({ ttlMs: 0 }),
    now: () => testNowMs,
  })
}

/** @param scale of its amounts, so that no sum of one account is one of the other */
async function fill(account: Account, scale: number): Promise<void> {
  const text = `text of ${account}`
  const store = async (resource: Parameters<typeof importContent>[2], rows: object[]) => {
    const { inserted } = await importContent(api.stores, account, resource, rows)
    expect([account, resource, inserted]).toEqual([account, resource, rows.length])
  }
  const named = (id: string, more: object = {}) => ({ id, name: `${id} of ${account}`, createdAt: at(0), ...more })
  const ids = (letter: string) => [`${letter}1`, `${letter}2`, `only-${account}`, `secret-${account}`]
  await store(
    'campaigns',
    ids('k').map((id) => named(id, { tags: [text], userId: `user-${account}`, trafficSourceId: 't1' })),
  )
  await store(
    'offers',
    ids('o').map((id) => named(id, { url: text, affiliateNetwork: text })),
  )
  await store(
    'landing-pages',
    ids('l').map((id) => named(id, { url: text })),
  )
  await store(
    'traffic-sources',
    ids('t').map((id) => named(id, { category: text })),
  )
  const places = (n: number) => ({
    campaignId: ids('k')[n % 4],
    offerId: ids('o')[n % 4],
    landingPageId: 'l1',
    trafficSourceId: 't1',
  })
  const numbers = Array.from({ length: 12 }, (_, n) => n)
  await store('clicks', [
    ...numbers.map((n) => ({
      ...{ id: `c${n}`, clickedAt: at(n), ...places(n), cost: scale * (n + 1), city: text, referrer: text },
      ...{ externalClickId: text, subIds: { sub1: text }, browser: `browser of ${account}`, country: 'US' },
    })),
    ...['only', 'secret'].map((kind) => ({
      id: `${kind}-${account}`,
      clickedAt: at(3),
      campaignId: 'k1',
      referrer: text,
    })),
  ])
  await store('conversions', [
    ...numbers.map((n) => ({
      ...{ id: `v${n}`, convertedAt: at(n), status: n % 2 ? 'approved' : 'pending', clickId: `c${n}`, revenue: scale },
      ...{ source: n % 3 ? 'cpa' : 'revenue', couponCode: text, transactionId: text, isTest: n === 7 },
    })),
    // Their clicks and names are there, but not theirs.
    { id: `only-${account}`, convertedAt: at(3), status: 'approved', clickId: `only-${not(account)}`, revenue: scale },
    { id: 'astray', convertedAt: at(3), status: 'approved', campaignId: `only-${not(account)}`, revenue: scale },
  ])
  for (const body of events) {
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

function not(account: Account): Account {
  return account === 'acme' ? 'other' : 'acme'
}

/** What each parameter is given, beside nothing; an id that both have, and one of each account. */
const theIds = (letter: string) => [`${letter}1`, 'only-acme', 'only-other']
const values: Record<string, readonly string[]> = {
  limit: [],
  cursor: [],
  // Beside the pages, in `exports`.
  format: [],
  csv_escape: [],
  from: [],
  order: ['asc'],
  // What it answers changes with the clock; test/properties/sync.test.ts looks into it.
  updated_since: [],
  to: [],
  days: [],
  tz: ['Asia/Kathmandu'],
  campaign_id: theIds('k'),
  offer_id: theIds('o'),
  converted: ['true', 'false'],
  status: ['active', 'archived', 'approved', 'pending'],
  source: ['cpa', 'revenue'],
  include_test_mode: ['true'],
  q: ['text', 'of other', 'k1', 'only-'],
  fields: ['campaignName', 'name', 'referrer,sub1', 'id'],
  group_by: ['campaign', 'country', 'device', 'os', 'browser', 'offer', 'landing', 'traffic_source', 'day'],
}

/**
 * The queries of an endpoint: none, each value of each parameter, and each of them with every campaign; what is required
 * stands in all of them, with each of its values.
 */
function queriesOf({ query, path }: Operation): string[] {
  const pairs = query.map(({ name, required, schema }) => {
    const wanted = values[name]
    if (!wanted) throw new Error(`No values are known for the parameter ${name} of ${path}.`)
    const isAllowed = (value: string) =>
      !(schema.enum && !schema.enum.includes(value)) && !(schema.pattern && !new RegExp(schema.pattern).test(value))
    return { name, required, given: wanted.filter(isAllowed).map((value) => `${name}=${encodeURIComponent(value)}`) }
  })
  const required = pairs.filter((pair) => pair.required).flatMap(({ given }) => given)
  const campaigns = pairs.flatMap(({ name, given }) => (name === 'campaign_id' ? given : []))
  const others = pairs.filter((pair) => !pair.required && pair.name !== 'campaign_id').flatMap(({ given }) => given)
  const mixes = ['', ...campaigns].flatMap((campaign) => ['', ...others].map((other) => [campaign, other]))
  return (required.length > 0 ? required : ['']).flatMap((one) =>
    mixes.map((mix) => [one, ...mix].filter(Boolean).join('&')),
  )
}

const reads = operations.filter(({ method }) => method === 'GET')
const pathsOf = ({ path, hasId }: Operation, letter = path[1] === 'c' ? 'k' : path[1]) =>
  hasId ? theIds(letter ?? '').map((id) => path.replace('{id}', id)) : [path]
const questions = reads.flatMap((operation) =>
  pathsOf(operation).flatMap((path) => queriesOf(operation).map((query) => (query ? `${path}?${query}` : path))),
)

const escapeOf = (format: string) => (format === 'csv' ? 'csv_escape=formulas' : '')
/** The same where whole lists leave: every query in the first form that an endpoint has, and no query in each. */
const exports = reads.flatMap((operation) => {
  const schema = operation.query.find(({ name }) => name === 'format')?.schema
  const formats = ['ndjson', 'csv', 'parquet'].filter((format) => JSON.stringify(schema ?? '').includes(`"${format}"`))
  return formats.flatMap((format, n) =>
    queriesOf(operation)
      .filter((query) => n === 0 || query === '')
      .map((query) => `${operation.path}?${[query, `format=${format}`, escapeOf(format)].filter(Boolean).join('&')}`),
  )
})
/** An account has no more. */
const exportsAtATime = 2

/** Does something for each question, a few at a time. */
async function each(all: readonly string[], act: (question: string) => Promise<void>, atATime = 8): Promise<void> {
  const left = [...all]
  const work = async () => {
    for (let question = left.pop(); question !== undefined; question = left.pop()) await act(question)
  }
  await Promise.all(Array.from({ length: atATime }, work))
}

/** Asks; the request id, which is another each time, is taken out of the answer. */
async function ask(app: App, question: string, account: Account): Promise<{ statusCode: number; body: string }> {
  const answer = await app.inject({ url: `/api/v1${question}`, headers: { authorization: `ApiKey ${keys[account]}` } })
  return { statusCode: answer.statusCode, body: withoutRequestId(answer) }
}

function withoutRequestId({ body, headers }: LightMyRequestResponse): string {
  return body.replace(String(headers['x-request-id']), '')
}

describe('an account', () => {
  it('is answered byte for byte what it was answered while it was alone, whatever it asks', async () => {
    expect(questions.length).toBeGreaterThan(150)
    await each(questions, async (question) => {
      expect([question, (await ask(fresh, question, 'acme')).body]).toEqual([question, alone.get(question)])
    })
  })

  it('is never shown a row, a number or a name of the other', async () => {
    await each(questions, async (question) => {
      const theirs = await ask(fresh, question, 'other')
      const mine = alone.get(question) ?? ''
      // Of single rows, one that is not theirs.
      const isNone = theirs.statusCode === 404 && question.includes('only-acme')
      expect([question, isNone || theirs.statusCode]).toEqual([question, isNone || 200])
      expect([question, foreignIn(mine, 'other'), foreignIn(theirs.body, 'acme')]).toEqual([question, [], []])
    })
  })

  it('is sent the same in each export, and nothing of the other', async () => {
    expect(exports.length).toBeGreaterThan(60)
    const compare = async (question: string) => {
      const mine = await ask(fresh, question, 'acme')
      const theirs = await ask(fresh, question, 'other')
      expect([question, mine.statusCode, mine.body === alone.get(question)]).toEqual([question, 200, true])
      expect([question, foreignIn(mine.body, 'other'), foreignIn(theirs.body, 'acme')]).toEqual([question, [], []])
    }
    await each(exports, compare, exportsAtATime)
    const [clicks = ''] = exports
    expect(foreignIn((await ask(fresh, clicks, 'other')).body, 'other')).not.toEqual([])
  })

  it('is not given an answer that was kept for the other', async () => {
    const kept = questions.filter((question) => /^.(stats|reports|usage)/.test(question))
    expect(kept.length).toBeGreaterThan(30)
    await each(kept, async (question) => {
      await ask(api.app, question, 'acme')
      const theirs = await ask(api.app, question, 'other')
      expect([question, theirs]).toEqual([question, await ask(fresh, question, 'other')])
    })
  })

  it('can’t read on with a cursor of the other, and is told the same as for any other text', async () => {
    for (const { path, query } of reads) {
      if (!query.some(({ name }) => name === 'cursor')) continue
      const search = query.some(({ name }) => name === 'q') ? 'q=text&' : ''
      const first = await api.app.inject({
        url: `/api/v1${path}?${search}limit=1`,
        headers: { authorization: `ApiKey ${keys.acme}` },
      })
      const { nextCursor } = first.json()
      expect([path, typeof nextCursor]).toEqual([path, 'string'])
      const stolen = await ask(api.app, `${path}?${search}limit=1&cursor=${nextCursor}`, 'other')
      const madeUp = await ask(api.app, `${path}?${search}limit=1&cursor=x`, 'other')
      expect([path, stolen]).toEqual([path, madeUp])
      expect(JSON.parse(stolen.body).error).toBe('invalid_cursor')
    }
  })

  it('keeps its own events under the ids that the other uses too', async () => {
    for (const account of ['acme', 'other'] as const) {
      const stored = await storedEvents(api.stores, account)
      expect(stored.map(({ id, user_id, properties }) => [id, user_id, JSON.parse(properties).text])).toEqual([
        ['e1', `user-${account}`, `text of ${account}`],
        ['e2', `user-${account}`, `text of ${account}`],
      ])
      const again = await post(api.app, keys[account], { ...events[0] })
      expect(again.json()).toEqual({ accepted: true, deduplicated: true })
    }
  })
})

/**
 * What an answer shows of an account: its texts, names and users, and rows that only it has. A conversion may carry any
 * id, so a bucket of that id is nothing of the other's as long as it has no name.
 */
function foreignIn(body: string, account: Account): string[] {
  const shown = new RegExp(`[^{}]{0,40}(of ${account}|user-${account}|"id":"only-${account}"(?!,"name":null))`, 'g')
  // A search says again what it was asked.
  return [...body.replace(/"query":"[^"]*"/, '').matchAll(shown)].map(([found]) => found)
}

describe('what is somebody else’s', () => {
  /** The same question about what is the other account's, which no row of this one names, and about what nobody has. */
  const pairs = reads.flatMap((operation) => [
    ...(operation.hasId ? ['secret-other', 'nobody'] : []).map((id) => operation.path.replace('{id}', id)),
    ...operation.query
      .filter(({ name }) => name.endsWith('_id'))
      .flatMap(({ name }) => {
        const required = operation.query
          .filter((one) => one.required)
          .map((one) => `${one.name}=${values[one.name]?.[0]}&`)
        return ['secret-other', 'nobody'].map((id) => `${operation.path}?${required.join('')}${name}=${id}`)
      }),
  ])

  it('answers byte for byte like what is not there, after the same questions to the stores', async () => {
    expect(pairs.length).toBeGreaterThanOrEqual(20)
    const { app, asked, close } = await openWatched()
    for (let index = 0; index < pairs.length; index += 2) {
      const [foreign = '', absent = ''] = pairs.slice(index, index + 2)
      const answers = []
      for (const question of [foreign, absent]) {
        asked.length = 0
        answers.push({ ...(await ask(app, question, 'acme')), asked: [...asked].sort() })
      }
      expect([foreign, answers[0]]).toEqual([foreign, answers[1]])
      expect(asked.length).toBeGreaterThan(0)
    }
    for (const field of ['click_id', 'campaign_id']) {
      const answers = []
      for (const id of ['secret-other', 'nobody']) {
        asked.length = 0
        const body = { event_name: 'paid', [field]: id, ...(field === 'campaign_id' && { visitor_id: 'x' }) }
        const answer = await post(app, keys.acme, body)
        answers.push({ status: answer.statusCode, body: withoutRequestId(answer), asked: [...asked].sort() })
      }
      expect(answers[0]).toEqual(answers[1])
      expect(answers[0]?.status).toBe(404)
    }
    await close()
  })
})

/** A server that notes the text of every question that it sends to its stores. */
async function openWatched(): Promise<{ app: App; asked: string[]; close: () => Promise<void> }> {
  const asked: string[] = []
  const { settings, postgres, clickhouse } = api.stores
  const watchedPostgres = new Proxy(postgres, {
    apply(target, self, given: unknown[]) {
      const [first] = given
      if (Array.isArray(first) && 'raw' in first) asked.push(`Postgres: ${first.join('?')}`)
      return Reflect.apply(target, self, given)
    },
  })
  const watchedReader = new Proxy(clickhouse.reader, {
    get: (target, name) => {
      if (name === 'query' || name === 'exec') {
        return (given: { query: string }) => {
          asked.push(`ClickHouse: ${given.query}`)
          return target[name](given as never)
        }
      }
      return Reflect.get(target, name)
    },
  })
  const stores = {
    postgres: watchedPostgres,
    postgresReader: watchedPostgres,
    clickhouse: Object.create(clickhouse, { reader: { value: watchedReader } }),
  }
  const app = await buildApp({ settings, stores, responseCache: openResponseCache({ ttlMs: 0 }), now: () => testNowMs })
  // The key is known from here on.
  await app.inject({ url: '/api/v1/offers', headers: { authorization: `ApiKey ${keys.acme}` } })
  return { app, asked, close: () => app.close() }
}

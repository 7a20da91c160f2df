// @module-tag all

import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { dimensions } from '../../../schema/dimensions.ts'
import { reportMetricNames } from '../../../schema/metrics.ts'
import type { ResourceName } from '../../../src/import/resourceNames.ts'
import { importContent } from '../../import/runImport.ts'
import { testNowMs, useTestApp } from '../../kit/app.ts'
import { forEachConcurrently } from '../../kit/forEachConcurrently.ts'
import { type Arguments, callTool, flatRow, parseTable, reproduced } from '../../kit/mcp.ts'
import { randomCases } from '../../kit/randomCases.ts'

// Calls of tools against the responses of the API, on rows whose texts try to look like something else.

const api = useTestApp()
let key: string

/** Texts that a table, JSON or a terminal could take for something else. */
const hostileTexts = [
  ...String.raw`plain|a,b|"quoted"|\|\u0041|{"a":1}|[1|{| both sides |null|true|1e5|'|漢 é 😀`.split('|'),
  ...['line\nbreak', '\u202eright\u202c', 'zero\u200bwidth', '\u2028', 'tag \u{e0041}', 'hangul\u3164', '\ufeff', '❤️'],
  '`!`',
]
const textAt = (at: number) => hostileTexts[at % hostileTexts.length] ?? ''
const textsAt = (n: number, names: string) =>
  Object.fromEntries(names.split(' ').map((name, at) => [name, textAt(n + at)]))
const timeAt = (n: number) => new Date(testNowMs - n * 7 * 3_600_000).toISOString()
const ofRow = (n: number) => ({
  ...{ campaignId: `x${n % 9}`, offerId: `x${n % 7}`, landingPageId: `x${n % 5}`, trafficSourceId: `x${n % 3}` },
  subIds: textsAt(n, 'sub1 sub2 sub3 sub10'),
})
const entity = (n: number) => ({ id: `x${n}`, name: `${textAt(n)} name` })
const clickTexts =
  'region city os osVersion browser browserVersion language referrer userAgent externalClickId utmSource utmMedium'
const rows: Record<string, [count: number, row: (n: number) => object]> = {
  campaigns: [9, (n) => ({ ...entity(n), tags: [textAt(n + 2)] })],
  offers: [7, (n) => ({ ...entity(n), url: textAt(n + 1), tags: [textAt(n + 2)] })],
  'landing-pages': [5, (n) => ({ ...entity(n), url: textAt(n + 1) })],
  'traffic-sources': [3, entity],
  clicks: [
    150,
    (n) => ({
      ...{ id: `c${n}`, clickedAt: timeAt(n), visitorId: `p${n % 9}`, country: ['DE', 'US', 'FR'][n % 3], cost: n / 7 },
      ...{
        ...ofRow(n),
        ...textsAt(n, `${clickTexts} utmCampaign utmTerm utmContent`),
        device: ['mobile', 'desktop'][n % 2],
      },
    }),
  ],
  conversions: [
    60,
    (n) => ({
      ...{
        id: `v${n}`,
        convertedAt: timeAt(n),
        status: n % 4 ? 'approved' : 'pending',
        clickId: `c${n * 2}`,
        revenue: n / 3,
      },
      ...{ ...ofRow(n), ...textsAt(n, 'couponCode externalStatus transactionId') },
    }),
  ],
  costs: [30, (n) => ({ id: `k${n}`, spentAt: timeAt(n), updatedAt: timeAt(n), ...ofRow(n), cost: n })],
  'pixel-events': [
    40,
    (n) => ({
      ...{
        id: `e${n}`,
        eventName: ['visit', 'signup'][n % 2],
        clickId: `c${n}`,
        origin: 'server',
        receivedAt: timeAt(n),
      },
      properties: { [textAt(n)]: textAt(n + 1), b: n },
    }),
  ],
}

beforeAll(async () => {
  key = await api.account('acme')
  for (const [resource, [count, row]] of Object.entries(rows)) {
    const content = Array.from({ length: count }, (_, n) => row(n))
    const { rejects } = await importContent(api.stores, 'acme', resource as ResourceName, content)
    expect([resource, rejects]).toEqual([resource, []])
  }
  await api.app.listen({ port: 0, host: '127.0.0.1' })
})

const anyOf = (...texts: string[]) => fc.constantFrom(...texts)
const ranges = anyOf(
  '',
  'days=9',
  'days=31',
  'range=this_week',
  'range=last_month',
  'range=today',
  'from=2026-11-03&to=2026-11-12',
)
const zones = anyOf('', 'tz=America/New_York', 'tz=Asia/Kathmandu')
const filters = anyOf(
  '',
  '',
  'country=US,DE',
  'country=!US',
  'utm_source=a\\,b,!x',
  'filters=[["contains","city",["e"]]]',
)
const compared = anyOf(
  '',
  'compare=previous_period',
  'compare=previous_year',
  'compare_from=2026-10-01&compare_to=2026-10-31',
)
const counted = anyOf('', 'count_at=click', 'bots=only', 'bots=include')
const limits = fc.integer({ min: 1, max: 100 }).map((limit) => `limit=${limit}`)
const groups = fc.uniqueArray(anyOf(...dimensions), { minLength: 1, maxLength: 3 }).map((names) => `group_by=${names}`)
const metrics = anyOf(
  '',
  'sort=-revenue',
  'sort=id',
  'metrics=clicks,roi',
  'metrics=clicks,events,events:signup',
  `metrics=${reportMetricNames}`,
)
/** A call with parts of a query as arguments. */
const callOf = (name: string, ...parts: fc.Arbitrary<string>[]) =>
  fc
    .tuple(...parts)
    .map((texts) => [name, Object.fromEntries(new URLSearchParams(texts.filter(Boolean).join('&')))] as const)
const series = anyOf('resource=stats/overview', 'resource=stats/daily', 'resource=stats/daily&interval=week')
const timed = anyOf('resource=clicks', 'resource=conversions', 'resource=costs', 'resource=events')
const named = anyOf('resource=campaigns', 'resource=offers', 'resource=landing-pages', 'resource=traffic-sources')
const question = fc.oneof(
  { weight: 4, arbitrary: callOf('get_reports', groups, ranges, zones, filters, compared, counted, metrics, limits) },
  callOf('get_stats', series, ranges, zones, filters, compared, counted),
  callOf('get_funnels', anyOf('steps=click,visit,conversion'), ranges, zones, anyOf('', 'group_by=campaign')),
  callOf('get_journeys', anyOf('click_id=c4', 'click_id=c6', 'visitor_id=p3'), limits),
  callOf('list_rows', timed, limits, anyOf('', 'days=20', 'range=last_week')),
  callOf('list_rows', named, limits),
  callOf('search', anyOf('resource=conversions&q=plain', 'resource=campaigns&q=name'), limits),
  callOf('get_item', anyOf('resource=campaigns&id=x1', 'resource=offers&id=x2', 'resource=landing-pages&id=x3')),
  callOf('get_account', anyOf('resource=key', 'resource=usage', 'resource=schema')),
)

/** Compared ranges up to the present: later hours have a counterpart too, and days of a range from 18:00 are not matched by position. */
const unfinished = [
  ['get_reports', { group_by: 'hour', range: 'this_week' }],
  ['get_stats', { resource: 'stats/daily', interval: 'hour', range: 'today' }],
  ['get_stats', { resource: 'stats/daily', from: '2026-11-19T18:00' }],
] as const

/** Removes null fields and the next page, and the value of what depends on the time of the request. */
const comparable = (body: object): Arguments =>
  JSON.parse(
    JSON.stringify(body, (name, value) => {
      if (name === 'next' || name === 'nextCursor' || value === null) return undefined
      return name === 'asOf' || name === 'dataThrough' ? 'a time' : value
    }),
  )

it('has all that the response to its GET has, and nothing else, in at most 40,000 characters', async () => {
  const questions = [
    ...unfinished.map(([name, given]) => [name, { ...given, compare: 'previous_period' }] as const),
    ...fc.sample(question, randomCases(200)),
  ]
  await forEachConcurrently(questions, 4, async ([name, given]) => {
    const result = await callTool(api.app, key, name, given)
    expect([name, given, result.isError && result.texts]).toEqual([name, given, false])
    const text = result.texts.join('\n')
    expect(text.length).toBeLessThanOrEqual(40_000)
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u)
    const { data, ...rest } = (await api.get(reproduced(result), key)).json()
    const table = parseTable(result.texts[0])
    const isTable = Array.isArray(data) && data.length > 0
    expect([name, given, comparable(table.head)]).toEqual([name, given, comparable(isTable ? rest : { data, ...rest })])
    if (!isTable) return
    const repeated = `${rest.groupBy}`.includes(',') ? /^(previous\.)?(id|name)$/ : /^dimensions\./
    const isShown = ([column]: [string, string]) => !rest.groupBy || !repeated.test(column)
    const expected = data.map((row: object) => Object.fromEntries(Object.entries(flatRow(row)).filter(isShown)))
    expect([name, given, table.rows]).toEqual([name, given, expected])
  })
})

// @module-tag all

import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Dimension, dimensions } from '../../../schema/dimensions.ts'
import { reportMetricNames } from '../../../schema/metrics.ts'
import type { ResourceName } from '../../../src/import/resourceNames.ts'
import { importContent } from '../../import/runImport.ts'
import { testNowMs, useTestApp } from '../../kit/app.ts'
import { forEachConcurrently } from '../../kit/forEachConcurrently.ts'
import { type Arguments, callTool, flatRow, parseTable, reproduced } from '../../kit/mcp.ts'
import { randomCases } from '../../kit/randomCases.ts'

// Calls of tools against the responses of the API, on rows whose texts try to look like something else.

const api = useTestApp()
const keys = { acme: '', other: '' }

/** Texts that a table, JSON or a terminal could take for something else. */
const hostileTexts = [
  ...[
    'plain',
    'a,b',
    'line\nbreak',
    '"quoted"',
    '\\',
    '\\u0041',
    '{"a":1}',
    '[1',
    '{',
    ' both sides ',
    'null',
    'true',
    '1e5',
    '-0',
  ],
  ...[
    '\u202eright\u202c',
    'zero\u200bwidth',
    '\u2028',
    'tag \u{e0041}',
    'hangul\u3164',
    '\ufeff',
    '❤️',
    '漢 é 😀',
    "'",
    '(not set)',
    '`!`',
  ],
]
const textAt = (at: number) => hostileTexts[at % hostileTexts.length] ?? ''

beforeAll(async () => {
  for (const account of ['acme', 'other'] as const) {
    keys[account] = await api.account(account)
    await fill(account)
  }
  await api.app.listen({ port: 0, host: '127.0.0.1' })
})

async function fill(account: string): Promise<void> {
  const rows = (count: number, row: (n: number) => object) => Array.from({ length: count }, (_, n) => row(n))
  const timeOf = (n: number) => new Date(testNowMs - n * 7 * 3_600_000).toISOString()
  const entity = (n: number) => ({ id: `x${n}`, name: `${textAt(n)} ${account}` })
  const tagged = (n: number) => ({ ...entity(n), tags: [textAt(n + 2)] })
  const entityIds = (n: number) => ({
    campaignId: `x${n % 9}`,
    offerId: `x${n % 7}`,
    landingPageId: `x${n % 5}`,
    trafficSourceId: `x${n % 3}`,
  })
  const texts = (n: number, ...names: string[]) => Object.fromEntries(names.map((name, at) => [name, textAt(n + at)]))
  const subIds = (n: number) => ({ subIds: texts(n, 'sub1', 'sub2', 'sub3', 'sub10') })
  const all: Record<string, object[]> = {
    campaigns: rows(9, tagged),
    offers: rows(7, tagged),
    'landing-pages': rows(5, (n) => ({ ...tagged(n), url: textAt(n + 1) })),
    'traffic-sources': rows(3, entity),
    clicks: rows(150, (n) => ({
      ...{
        id: `c${n}`,
        clickedAt: timeOf(n),
        ...entityIds(n),
        ...subIds(n),
        country: ['DE', 'US', 'FR'][n % 3],
        cost: n / 7,
      },
      ...texts(
        n,
        'region',
        'city',
        'os',
        'osVersion',
        'browser',
        'browserVersion',
        'language',
        'referrer',
        'userAgent',
      ),
      ...texts(n + 3, 'externalClickId', 'utmSource', 'utmMedium', 'utmCampaign', 'utmTerm', 'utmContent'),
      device: ['mobile', 'desktop'][n % 2],
    })),
    conversions: rows(60, (n) => ({
      ...{
        id: `v${n}`,
        convertedAt: timeOf(n),
        status: n % 4 ? 'approved' : 'pending',
        clickId: `c${n * 2}`,
        revenue: n / 3,
      },
      ...texts(n, 'couponCode', 'externalStatus', 'transactionId'),
      ...entityIds(n),
      ...subIds(n),
    })),
    costs: rows(30, (n) => ({
      id: `k${n}`,
      spentAt: timeOf(n),
      updatedAt: timeOf(n),
      ...entityIds(n),
      ...subIds(n),
      cost: n,
    })),
    'pixel-events': rows(40, (n) => ({
      ...{
        id: `e${n}`,
        eventName: ['visit', 'signup'][n % 2],
        clickId: `c${n}`,
        origin: 'server',
        receivedAt: timeOf(n),
      },
      properties: { [textAt(n)]: textAt(n + 1), b: n },
    })),
  }
  for (const [resource, content] of Object.entries(all)) {
    const { rejects } = await importContent(api.stores, account, resource as ResourceName, content)
    expect([resource, rejects]).toEqual([resource, []])
  }
}

const oneOf = <T>(...values: T[]) => fc.constantFrom(...values)
const ranges = oneOf<Arguments>(
  {},
  { days: 9 },
  { days: 40 },
  { range: 'this_week' },
  { range: 'last_month' },
  { range: 'today' },
  { from: '2026-11-03', to: '2026-11-12' },
)
const zones = oneOf<Arguments>({}, { tz: 'America/New_York' }, { tz: 'Asia/Kathmandu' })
const filters = oneOf<Arguments>(
  {},
  {},
  { country: 'US' },
  { country: ['US', 'DE'] },
  { country: '!US' },
  { utm_source: ['a,b', '!x', '\\'] },
  { filters: [['contains', 'city', ['e']]] },
)
const compared = oneOf<Arguments>(
  {},
  {},
  { compare: 'previous_period' },
  { compare: 'previous_year' },
  { compare_from: '2026-10-01', compare_to: '2026-10-31' },
)
const counted = oneOf<Arguments>({}, { count_at: 'click' })
const together = (...parts: fc.Arbitrary<Arguments>[]) =>
  fc.tuple(...parts).map((all): Arguments => Object.assign({}, ...all))
const limits = fc.integer({ min: 1, max: 100 }).map((limit): Arguments => ({ limit }))
const resources = [
  'clicks',
  'conversions',
  'costs',
  'events',
  'campaigns',
  'offers',
  'landing-pages',
  'traffic-sources',
]
const grouped = fc
  .uniqueArray(oneOf<Dimension>(...dimensions), { minLength: 1, maxLength: 3 })
  .map((names): Arguments => ({ group_by: names }))
const sorted = oneOf<Arguments>(
  {},
  { sort: '-revenue' },
  { sort: 'id' },
  { metrics: ['clicks', 'roi'] },
  { metrics: [...reportMetricNames] },
)
const isOfTime = (resource: unknown) =>
  !`${resource}`.includes('-') && resource !== 'campaigns' && resource !== 'offers'
const question: fc.Arbitrary<[string, Arguments]> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.tuple(
      fc.constant('get_reports'),
      together(grouped, ranges, zones, filters, compared, counted, sorted, limits),
    ),
  },
  fc.tuple(
    fc.constant('get_stats'),
    together(
      oneOf<Arguments>(
        { resource: 'stats/overview' },
        { resource: 'stats/daily' },
        { resource: 'stats/daily', interval: 'week' },
      ),
      ranges,
      zones,
      filters,
      compared,
      counted,
    ),
  ),
  fc.tuple(
    fc.constant('get_funnels'),
    together(
      fc.constant({ steps: 'click,visit,conversion' }),
      ranges,
      zones,
      oneOf<Arguments>({}, { group_by: 'campaign' }),
    ),
  ),
  fc.tuple(fc.constant('get_journeys'), together(oneOf<Arguments>({ click_id: 'c4' }, { click_id: 'c6' }), limits)),
  fc.tuple(
    fc.constant('list_rows'),
    together(
      fc.constantFrom(...resources).map((resource): Arguments => ({ resource })),
      limits,
      oneOf<Arguments>({}, { days: 20 }, { range: 'last_week' }),
    ).map(
      ({ days, range, ...rest }): Arguments =>
        isOfTime(rest.resource)
          ? { ...rest, ...(days !== undefined && { days }), ...(range !== undefined && { range }) }
          : rest,
    ),
  ),
  fc.tuple(
    fc.constant('search'),
    together(oneOf<Arguments>({ resource: 'conversions', q: 'plain' }, { resource: 'campaigns', q: 'acme' }), limits),
  ),
  fc.tuple(
    fc.constant('get_item'),
    oneOf<Arguments>({ resource: 'campaigns', id: 'x1' }, { resource: 'offers', id: 'x2' }),
  ),
  fc.tuple(
    fc.constant('get_account'),
    oneOf<Arguments>({ resource: 'key' }, { resource: 'usage' }, { resource: 'schema' }),
  ),
)

/** Removes null fields, the next page, and what depends on the time of the request. */
const comparable = (body: object): Arguments =>
  JSON.parse(
    JSON.stringify(body, (name, value) =>
      /^(asOf|dataThrough|next|nextCursor)$/.test(name) ? undefined : (value ?? undefined),
    ),
  )

describe('a result', () => {
  it('has all that the response to its GET has, and nothing else, in at most 40,000 characters', async () => {
    const ask = async ([name, given]: [string, Arguments]) => {
      const result = await callTool(api.app, keys.acme, name, given)
      expect([name, given, result.isError && result.texts]).toEqual([name, given, false])
      const text = result.texts.join('\n')
      expect(text.length).toBeLessThanOrEqual(40_000)
      expect(text.replaceAll('\n', '')).not.toMatch(/[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u)
      const { data, ...rest } = (await api.get(reproduced(result), keys.acme)).json()
      const { head, rows } = parseTable(result.texts[0])
      const isTable = Array.isArray(data) && data.length > 0
      expect([name, given, comparable(head)]).toEqual([name, given, comparable(isTable ? rest : { data, ...rest })])
      if (!isTable) return
      const repeated = `${rest.groupBy}`.includes(',') ? /^(previous\.)?(id|name)$/ : /^dimensions\./
      const shown = (row: object) =>
        Object.entries(flatRow(row)).filter(([column]) => !rest.groupBy || !repeated.test(column))
      expect([name, given, rows]).toEqual([name, given, data.map((row: object) => Object.fromEntries(shown(row)))])
    }
    await forEachConcurrently(fc.sample(question, randomCases(200)), 4, ask)
  })
})

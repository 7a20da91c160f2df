import fc from 'fast-check'
import { comparisons } from '../../../schema/comparison.ts'
import { dimensions } from '../../../schema/dimensions.ts'
import { type FilterName, filterNames } from '../../../schema/filters.ts'
import { metricNames } from '../../../schema/metrics.ts'
import { statuses } from '../consistency/model.ts'
import { domains, languages } from './attributes.ts'
import { addDays, dateOf, startOfDate } from './localTime.ts'
import type { Query } from './model.ts'

// Generates rows with few values, so that groups and filters match, and report queries over them.

const dayMs = 86_400_000

/** The present: a Sunday on which clocks in Berlin are set back, 10:20 UTC. */
export const nowMs = Date.UTC(2026, 9, 25, 10, 20)
const zones = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/Santiago', // 6 September starts at 01:00
  'Asia/Kathmandu',
  'Asia/Beirut',
  'Australia/Lord_Howe',
  'Africa/Abidjan',
  'Africa/Cairo',
]

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 3 })
const one = (...values: string[]) => maybe(fc.constantFrom(...values))

/** Fields that clicks and conversions have. */
export const sharedFields = {
  campaignId: one('k1', 'k2', 'K1'),
  offerId: one('o1', 'o2'),
  landingPageId: one('l1', 'l2'),
  trafficSourceId: one('t1'),
  country: one('US', 'DE', 'NP'),
  device: one('desktop', 'mobile'),
  os: one('iOS', 'Windows', '(not set)'),
  browser: one('Chrome', 'Ünïcode "quoted" \\ %, !'),
}
/** Fields that only clicks have; conversions have those of their click. */
export const clickOnlyFields = {
  region: one('Bavaria'),
  city: one('Munich', 'München'),
  osVersion: one('18.1'),
  browserVersion: one('129', '(not set)'),
  language: one(...Object.keys(languages)),
  referrer: one(...Object.keys(domains)),
  utmSource: one('news'),
  utmMedium: one('cpc', 'email'),
  utmCampaign: one('autumn'),
  utmTerm: one('a, b'),
  utmContent: one('banner'),
}
export const subIds = fc.record({ sub1: one('a', 'b,c', '!x'), sub2: one('a"b', '\\'), sub10: one('z') })
/** Within the last 100 days and the next day, often next to midnights. */
const atMs = fc
  .tuple(
    fc.integer({ min: -100, max: 1 }),
    fc.constantFrom(0, 4, 5.25, 13, 22, 23.75),
    fc.constantFrom(0, -1, 1, 1_801_000),
  )
  .map(([days, hours, shiftMs]) => Math.floor(nowMs / dayMs) * dayMs + days * dayMs + hours * 3_600_000 + shiftMs)
const millionths = fc.oneof(
  fc.integer({ min: 0, max: 9_999 }).map((cents) => cents * 10_000),
  fc.integer({ min: 1, max: 9_999_999 }),
)

const click = fc.record({
  ...sharedFields,
  atMs,
  ...clickOnlyFields,
  subIds,
  cost: maybe(millionths),
  isBot: fc.constantFrom(false, false, false, false, true),
  isTest: fc.constantFrom(false, false, false, false, true),
})
export type ClickRow = Omit<typeof click extends fc.Arbitrary<infer Row> ? Row : never, never> & { id: string }

const seldom = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 1 })
const conversion = fc.record({
  ...(Object.fromEntries(
    Object.entries(sharedFields).map(([name, value]) => [name, seldom(value)]),
  ) as typeof sharedFields),
  subIds,
  atMs,
  status: fc.constantFrom('approved' as const, ...statuses),
  clickNumber: maybe(fc.nat(330)),
  revenue: maybe(millionths),
  isTest: fc.constantFrom(false, false, false, false, true),
})
export type ConversionRow = (typeof conversion extends fc.Arbitrary<infer Row> ? Row : never) & { id: string }

const seed = 19
export const clickRows: ClickRow[] = fc.sample(click, { seed, numRuns: 300 }).map((row, n) => ({ ...row, id: `c${n}` }))
/** Each id once or twice; the later row replaces the earlier one. */
export const conversionRows: ConversionRow[] = fc
  .sample(conversion, { seed, numRuns: 160 })
  .map((row, n) => ({ ...row, id: `v${n % 110}` }))

/** Values of filters: those of rows, and one that no row has. */
const values: Record<FilterName, string[]> = {
  ...(Object.fromEntries(filterNames.map((name) => [name, []])) as unknown as Record<FilterName, string[]>),
  campaign_id: ['k1', 'k2', 'K1', 'k9'],
  offer_id: ['o1', 'o2'],
  landing_page_id: ['l1', 'l2'],
  traffic_source_id: ['t1'],
  country: ['US', 'DE', 'NP', 'ZZ'],
  region: ['Bavaria'],
  city: ['Munich', 'München', 'munich'],
  device: ['desktop', 'mobile', 'tablet'],
  os: ['iOS', 'Windows'],
  browser: ['Chrome', 'Ünïcode "quoted" \\ %, !'],
  language: ['de-de', 'en', 'fr', 'EN'],
  referrer_domain: ['example.com', 'news.example.org'],
  utm_source: ['news'],
  utm_medium: ['cpc', 'email'],
  utm_campaign: ['autumn'],
  utm_term: ['a, b'],
  utm_content: ['banner'],
  sub1: ['a', 'b,c', '!x'],
  sub2: ['a"b', '\\'],
  sub10: ['z'],
}

const filter = fc.constantFrom(...filterNames).chain((name) =>
  fc.record({
    name: fc.constant(name),
    values: fc.subarray([...values[name], '(not set)'], { minLength: 1 }),
    isExcluded: fc.boolean(),
  }),
)

/** A range as parameters, and as instants in a zone. */
export interface Window {
  text: string
  resolve(zone: string): Query['range']
}

const instantText = (epochMs: number) => encodeURIComponent(new Date(epochMs).toISOString())
const quarterMs = 900_000
const window: fc.Arbitrary<Window> = fc.oneof(
  fc.constantFrom(1, 2, 7, 30, 90).map((days) => ({
    text: `days=${days}`,
    resolve: (zone: string) => {
      const today = dateOf(nowMs, zone)
      return { fromMs: startOfDate(addDays(today, 1 - days), zone), untilMs: startOfDate(addDays(today, 1), zone) }
    },
  })),
  fc.tuple(fc.integer({ min: -100, max: 0 }), fc.integer({ min: 0, max: 40 })).map(([first, more]) => {
    const from = addDays(dateOf(nowMs, 'UTC'), first)
    const to = addDays(from, more)
    return {
      text: `from=${from}&to=${to}`,
      resolve: (zone: string) => ({ fromMs: startOfDate(from, zone), untilMs: startOfDate(addDays(to, 1), zone) }),
    }
  }),
  fc
    .tuple(atMs, fc.integer({ min: 1, max: 20 * 96 }), fc.constantFrom(0, 0, 1, 777_777))
    .map(([startMs, quarters, shiftMs]) => {
      const range = { fromMs: startMs + shiftMs, untilMs: startMs + quarters * quarterMs }
      const ordered = range.fromMs < range.untilMs ? range : { ...range, untilMs: range.fromMs + 1 }
      return {
        text: `from=${instantText(ordered.fromMs)}&to=${instantText(ordered.untilMs)}`,
        resolve: () => ordered,
      }
    }),
  // Ranges of which the earlier range is empty, or in Berlin would end before it starts, or starts between repeated hours.
  fc
    .constantFrom(
      [nowMs, nowMs + dayMs],
      [Date.UTC(2024, 1, 28, 10), Date.UTC(2024, 1, 29, 10)],
      [Date.UTC(2026, 9, 25, 0, 45), Date.UTC(2026, 9, 25, 1, 10)],
      [Date.UTC(2026, 9, 25, 0, 45), Date.UTC(2026, 9, 25, 4)],
    )
    .map(([fromMs = 0, untilMs = 0]) => ({
      text: `from=${instantText(fromMs)}&to=${instantText(untilMs)}`,
      resolve: () => ({ fromMs, untilMs }),
    })),
)

const escaped = (value: string) => value.replace(/[\\,]/g, '\\$&')

/** @returns the parameter of a filter */
export function parameterOf({ name, values, isExcluded }: Query['filters'][number]): string {
  const list = values.map(escaped).join(',')
  return `${name}=${encodeURIComponent(isExcluded ? `!${list}` : list.replace(/^!/, '\\!'))}`
}

/** What a report is asked for, without range and zone. */
export const choices = fc.record({
  dimensions: fc.shuffledSubarray([...dimensions], { minLength: 1, maxLength: 3 }),
  filters: fc.uniqueArray(filter, { maxLength: 2, selector: ({ name }) => name }),
  sort: fc.option(fc.record({ by: fc.constantFrom('id' as const, ...metricNames), isDescending: fc.boolean() }), {
    nil: undefined,
  }),
  limit: fc.constantFrom(undefined, 1, 3, 1000),
  compare: fc.constantFrom(undefined, ...comparisons),
})
export type Choices = typeof choices extends fc.Arbitrary<infer Value> ? Value : never

/** A query with its parameters, and those of stats with the same range, filters and comparison. */
export type WrittenQuery = Query & { text: string; statsText: string }

/** @param range parameters of the range; it is resolved in the zone */
export function writeQuery(
  { sort, limit, ...rest }: Choices,
  zone: string | undefined,
  { text, resolve }: Window,
): WrittenQuery {
  const shared = [
    text,
    ...(zone === undefined ? [] : [`tz=${zone}`]),
    ...(rest.compare === undefined ? [] : [`compare=${rest.compare}`]),
    ...rest.filters.map(parameterOf),
  ]
  const parameters = [
    `group_by=${rest.dimensions.join(',')}`,
    ...shared,
    ...(sort === undefined ? [] : [`sort=${sort.isDescending ? '-' : ''}${sort.by}`]),
    ...(limit === undefined ? [] : [`limit=${limit}`]),
  ]
  return {
    ...rest,
    zone: zone ?? 'UTC',
    range: resolve(zone ?? 'UTC'),
    sort: sort ?? { by: 'clicks', isDescending: true },
    limit: limit ?? 1000,
    text: parameters.join('&'),
    statsText: shared.join('&'),
  }
}

export const query: fc.Arbitrary<WrittenQuery> = fc
  .tuple(choices, fc.constantFrom(undefined, ...zones), window)
  .map(([chosen, zone, range]) => writeQuery(chosen, zone, range))
  // Reports by hour have at most 31 days.
  .filter(({ dimensions: grouped, range }) => !grouped.includes('hour') || range.untilMs - range.fromMs <= 31 * dayMs)

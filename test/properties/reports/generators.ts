import fc from 'fast-check'
import { comparisons } from '../../../schema/comparison.ts'
import { conversionAttributeNames, type Dimension, dimensions } from '../../../schema/dimensions.ts'
import { filterNames } from '../../../schema/filters.ts'
import { metricNames } from '../../../schema/metrics.ts'
import { type RangeName, rangeNames } from '../../../schema/range.ts'
import { domains, languages } from './attributes.ts'
import { addDays, dateOf, datesOfRange, sentInstantOf, startOfDate } from './localTime.ts'
import {
  type EventMetric,
  eventMetrics,
  type FilterName,
  type Leaf,
  type MetricCondition,
  type Query,
  type Tree,
} from './model.ts'
import { statuses } from './rows.ts'

// Generates fields with few values, so that groups and filters match, and report queries over them.

export const dayMs = 86_400_000
export const hourMs = 3_600_000

/** Zones in which some dates have no midnight, two midnights, or hours that are skipped, repeated or half. */
const zones = `UTC America/New_York America/Nuuk America/Santiago Africa/Cairo Africa/Abidjan Asia/Beirut Asia/Kathmandu
  Asia/Kolkata Australia/Lord_Howe Europe/Berlin Europe/London Pacific/Apia Pacific/Chatham`.split(/\s+/)
/** Local midnights of those zones, in hours from midnight UTC. */
const midnightsH = [0, 3, 4, 5, -1, -2, -3, -10.5, -11, -5.5, -5.75, -12.75, -13.75, -13]

/** In milliseconds from midnight UTC of the present day: next to midnights of the last and next days, or within 100 days. */
export const time = fc
  .tuple(
    fc.oneof(
      { weight: 3, arbitrary: fc.tuple(fc.integer({ min: -6, max: 2 }), fc.constantFrom(...midnightsH)) },
      {
        weight: 1,
        arbitrary: fc.tuple(
          fc.integer({ min: -2, max: 1 }),
          fc.nat(95).map((n) => n / 4),
        ),
      },
      { weight: 1, arbitrary: fc.tuple(fc.integer({ min: -100, max: 1 }), fc.constantFrom(0, 5.25, 13, 23.75)) },
    ),
    fc.constantFrom(0, 0, -1, 1, 437_001, 1_801_000),
  )
  .map(([[days, hours], shiftMs]) => days * dayMs + hours * hourMs + shiftMs)

const one = (values: readonly string[]) => fc.option(fc.constantFrom(...values), { nil: undefined, freq: 3 })
const someOf = <Name extends string>(fields: Record<Name, readonly string[]>) =>
  Object.fromEntries(Object.entries<readonly string[]>(fields).map(([name, values]) => [name, one(values)])) as Record<
    Name,
    fc.Arbitrary<string | undefined>
  >

const sharedValues = {
  campaignId: ['k1', 'k2', 'K1'],
  offerId: ['o1', 'o2', 'o3'],
  landingPageId: ['l1', 'l2'],
  trafficSourceId: ['t1', 't2'],
  country: ['US', 'DE', 'NP'],
  device: ['desktop', 'mobile'],
  os: ['iOS', 'Windows', '(not set)'],
  browser: ['Chrome', 'Ünïcode "quoted" \\ %, !'],
}
const clickValues = {
  region: ['Bavaria'],
  city: ['Munich', 'München'],
  osVersion: ['18.1'],
  browserVersion: ['129', '(not set)'],
  language: Object.keys(languages),
  referrer: Object.keys(domains),
  utmSource: ['news'],
  utmMedium: ['cpc', 'email'],
  utmCampaign: ['autumn'],
  utmTerm: ['a, b'],
  utmContent: ['banner'],
}
const subIdValues = { sub1: ['a', 'b,c', '!x'], sub2: ['a"b', '\\'], sub10: ['z'] }

const conversionValues = { eventName: ['lead', 'Lead', '(not set)'], couponCode: ['SAVE,10', 'x'] }

/** Properties of events. */
export const properties = [
  { plan: 'yearly', seats: 3 },
  { plan: true, 'a.b': 'x' },
  { plan: 1e20, seats: -1.5e-7 },
  { axb: 1, plan: 'a,"plan":"b"} ü\\\\', seats: '3' },
  { seats: false, plan: '(not set)' },
]

const entityValues = {
  trafficSourceCategory: ['social', 'a, b'],
  affiliateNetwork: ['Ünï "net"', '(not set)', 'social'],
}
const { trafficSourceCategory: categories, affiliateNetwork: networks } = entityValues
/** The category of sources and the network of offers, by id; offer o3 is not stored. */
export const entities = fc.record(someOf({ t1: categories, t2: categories, o1: networks, o2: networks }))
export type Entities = Readonly<Record<string, string | undefined>>

export const sharedFields = someOf(sharedValues)
/** Fields that only clicks have; a conversion has the values of its click. */
export const clickOnlyFields = someOf(clickValues)
export const conversionOnlyFields = someOf(conversionValues)
export const subIds = fc.record(someOf(subIdValues))

/** Values that only filters have: those that no row has, and those that are computed. */
const filterValues: Partial<Record<FilterName, string[]>> = {
  campaign_id: ['k9'],
  country: ['ZZ'],
  city: ['munich'],
  device: ['tablet'],
  language: ['de-de', 'en', 'fr'],
  referrer_domain: ['example.com', 'news.example.org'],
}
const fieldValues: Record<string, readonly string[]> = {
  ...sharedValues,
  ...clickValues,
  ...subIdValues,
  ...conversionValues,
  ...entityValues,
  status: statuses,
  source: ['cpa', 'revenue'],
  eventOrigin: ['server', 'browser'],
  'property:plan': properties.map(({ plan }) => `${plan}`),
  'property:seats': ['3', 'false', '-1.5e-7'],
}
const fieldOf = (name: FilterName) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

const filterBy = (...names: FilterName[]) =>
  fc.constantFrom(...names).chain((name) =>
    fc.record({
      name: fc.constant(name),
      values: fc.subarray(
        [...new Set([...(fieldValues[fieldOf(name)] ?? []), ...(filterValues[name] ?? []), '(not set)'])],
        { minLength: 1 },
      ),
      isExcluded: fc.boolean(),
    }),
  )

/** Parts of values, in any case. */
const partsOf = (values: readonly string[]) =>
  fc.array(
    fc
      .tuple(fc.constantFrom(...values), fc.nat(3), fc.integer({ min: 1, max: 6 }), fc.boolean())
      .map(([value, from, length, isUpper]) => {
        const part = value.slice(from % value.length).slice(0, length)
        return isUpper ? part.toUpperCase() : part
      }),
    { minLength: 1, maxLength: 3 },
  )

const leaf = (...names: FilterName[]): fc.Arbitrary<Leaf> =>
  filterBy(...names).chain(({ name, values, isExcluded }) =>
    fc.oneof(
      fc.constant<Leaf>([isExcluded ? 'is_not' : 'is', name, values]),
      partsOf(values).map((parts): Leaf => [isExcluded ? 'contains_not' : 'contains', name, parts]),
    ),
  )

const treeOf = (names: readonly FilterName[]): fc.Arbitrary<Tree> =>
  fc.letrec<{ tree: Tree }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      leaf(...names),
      fc.tuple(fc.constantFrom('and' as const, 'or' as const), fc.array(tie('tree'), { minLength: 1, maxLength: 3 })),
      fc.tuple(fc.constant('not' as const), tie('tree')),
    ),
  })).tree

const ofEvents: FilterName[] = ['event_origin', 'property:plan', 'property:seats', 'property:a.b']

/** Half have only attributes of one sums table. */
const someTrees: fc.Arbitrary<Tree[]> = fc.oneof(
  fc.array(treeOf([...filterNames, ...conversionAttributeNames, ...ofEvents]), { minLength: 1, maxLength: 2 }),
  fc
    .constantFrom<FilterName>('country', 'device', 'os', 'offer_id', 'affiliate_network', 'traffic_source_category')
    .chain((name) => fc.array(treeOf(['campaign_id', name]), { minLength: 1, maxLength: 2 })),
)
const trees = fc.oneof(fc.constant<Tree[]>([]), someTrees)

const anyMetric = fc.constantFrom(...metricNames, 'visitors' as const, ...eventMetrics)

const metricConditions: fc.Arbitrary<MetricCondition[]> = fc.array(
  fc.tuple(
    fc.constantFrom('=' as const, '>' as const, '>=' as const, '<' as const, '<=' as const),
    anyMetric,
    fc.constantFrom(0, 1, 2, -1, 50, 100, 0.5, 33.333333, 1_000_000_000_000),
  ),
  { maxLength: 2 },
)

/** A range as parameters, and as instants in a zone. */
interface Window {
  text: string
  name?: RangeName
  resolve(zone: string): Query['range']
}

/** Local times as if they were UTC, in milliseconds from the present day: often of a day on which a clock changes. */
const localTime = fc
  .tuple(
    fc.integer({ min: -6, max: 2 }),
    fc.constantFrom(0, 0.25, 1, 1.5, 1.75, 2, 2.25, 2.5, 3, 14),
    fc.constantFrom(0, 0, 1),
  )
  .map(([days, hours, moreMs]) => days * dayMs + hours * hourMs + moreMs)
const localForms = [
  (text: string) => text,
  (text: string) => text.replace('T', '%20'),
  (text: string) => text.replace(/:00[.]000$/, ''),
]

const datesWindow = (from: string, to: string): Window => ({
  text: `from=${from}&to=${to}`,
  resolve: (zone) => ({ fromMs: startOfDate(from, zone), untilMs: startOfDate(addDays(to, 1), zone) }),
})

const instantText = (epochMs: number) => encodeURIComponent(new Date(epochMs).toISOString())

function windows(nowMs: number): fc.Arbitrary<Window> {
  const todayMs = nowMs - (nowMs % dayMs)
  const instants = (fromMs: number, untilMs: number): Window => ({
    text: `from=${instantText(fromMs)}&to=${instantText(untilMs)}`,
    resolve: () => ({ fromMs, untilMs }),
  })
  const endOfToday = (zone: string) => startOfDate(addDays(dateOf(nowMs, zone), 1), zone)
  const today = dateOf(nowMs, 'UTC')
  const locals = (fromMs: number, untilMs: number, write: (text: string) => string): Window => {
    const text = (atMs: number) => write(new Date(atMs).toISOString().slice(0, -1))
    return {
      text: `from=${text(fromMs)}&to=${text(untilMs)}`,
      resolve: (zone) => ({ fromMs: sentInstantOf(fromMs, zone), untilMs: sentInstantOf(untilMs, zone) }),
    }
  }
  const durations = fc.oneof(
    fc.integer({ min: 1, max: 40 * hourMs }),
    fc.nat(20 * 96).map((quarters) => quarters * (hourMs / 4) + 1),
  )
  return fc.oneof(
    // All rows.
    { weight: 3, arbitrary: fc.constant(datesWindow(addDays(today, -102), addDays(today, 4))) },
    fc.constantFrom(1, 2, 7, 14, 30, 90).map((days) => ({
      text: `days=${days}`,
      resolve: (zone: string) => ({
        fromMs: startOfDate(addDays(dateOf(nowMs, zone), 1 - days), zone),
        untilMs: endOfToday(zone),
      }),
    })),
    fc.constantFrom(...rangeNames).map(
      (name): Window => ({
        text: `range=${name}`,
        name,
        resolve(zone) {
          const { from, to } = datesOfRange(name, dateOf(nowMs, zone))
          return { fromMs: startOfDate(from, zone), untilMs: startOfDate(addDays(to, 1), zone) }
        },
      }),
    ),
    fc
      .tuple(fc.oneof(fc.integer({ min: -8, max: 0 }), fc.integer({ min: -100, max: 0 })), fc.nat(40), fc.boolean())
      .map(([first, more, isOpen]): Window => {
        const from = addDays(today, first)
        // Today may be an earlier date in the zone.
        if (!isOpen || first === 0) return datesWindow(from, addDays(from, more))
        const resolve = (zone: string) => ({ fromMs: startOfDate(from, zone), untilMs: endOfToday(zone) })
        return { text: `from=${from}`, resolve }
      }),
    fc.tuple(time, durations).map(([atMs, moreMs]) => instants(todayMs + atMs, todayMs + atMs + moreMs)),
    fc
      .tuple(localTime, fc.oneof(durations, fc.constantFrom(hourMs, dayMs)), fc.constantFrom(...localForms))
      .map(([atMs, moreMs, write]) => locals(todayMs + atMs, todayMs + atMs + moreMs, write)),
    // Ranges whose earlier range is empty, or in Berlin would end before it starts, or starts between repeated hours.
    fc.constantFrom(
      instants(nowMs, nowMs + dayMs),
      instants(Date.UTC(2024, 1, 28, 10), Date.UTC(2024, 1, 29, 10)),
      instants(Date.UTC(2026, 9, 25, 0, 45), Date.UTC(2026, 9, 25, 1, 10)),
      instants(Date.UTC(2026, 9, 25, 0, 45), Date.UTC(2026, 9, 25, 4)),
    ),
  )
}

/** Ranges to compare with, which have both ends. */
const otherWindows = (nowMs: number): fc.Arbitrary<Window> =>
  windows(nowMs)
    .filter(({ text }) => text.includes('&to='))
    .map(({ text, resolve }) => ({
      text: text.replace('from=', 'compare_from=').replace('&to=', '&compare_to='),
      resolve,
    }))

const escaped = (value: string) => value.replace(/[\\,]/g, '\\$&')

/** Countries and devices are read in any case. */
const written: Partial<Record<FilterName, (value: string) => string>> = {
  country: (value) => (value === '(not set)' ? value : value.toLowerCase()),
  device: (value) => (value === '(not set)' ? value : value.toUpperCase()),
}

export function parameterOf({ name, values, isExcluded }: Query['filters'][number]): string {
  const list = values.map((value) => escaped(written[name]?.(value) ?? value)).join(',')
  return `${name}=${encodeURIComponent(isExcluded ? `!${list}` : list.replace(/^!/, '\\!'))}`
}

export function treeParameter(conditions: readonly (Tree | MetricCondition)[]): string[] {
  return conditions.length === 0 ? [] : [`filters=${encodeURIComponent(JSON.stringify(conditions))}`]
}

/** Half have only dimensions of one sums table. */
const dimensionSets: fc.Arbitrary<Dimension[]> = fc.oneof(
  fc.shuffledSubarray([...dimensions], { minLength: 1, maxLength: 3 }),
  fc.shuffledSubarray<Dimension>(['campaign', 'hour', 'day', 'week', 'month', 'hour_of_day', 'weekday'], {
    minLength: 1,
    maxLength: 2,
  }),
  fc.tuple(fc.constantFrom('country', 'device', 'os', 'browser', 'offer', 'landing', 'traffic_source')),
  fc.shuffledSubarray<Dimension>(['affiliate_network', 'offer', 'campaign', 'day'], { minLength: 1, maxLength: 3 }),
  fc.shuffledSubarray<Dimension>(['traffic_source_category', 'campaign', 'month'], { minLength: 1, maxLength: 2 }),
  fc.shuffledSubarray<Dimension>([...conversionAttributeNames, 'campaign', 'day'], { minLength: 1, maxLength: 3 }),
  fc.shuffledSubarray<Dimension>(
    ['event_name', 'event_origin', 'property:plan', 'property:a.b', 'traffic_source', 'day'],
    { minLength: 1, maxLength: 3 },
  ),
)

const filterSets: fc.Arbitrary<Query['filters']> = fc.oneof(
  fc.uniqueArray(filterBy(...filterNames, ...conversionAttributeNames), { maxLength: 2, selector: ({ name }) => name }),
  fc.array(filterBy('campaign_id', 'status', 'event_name', 'affiliate_network'), { maxLength: 1 }),
  fc.constant<Query['filters']>([]),
)

type Optional<Value> = Value | undefined
/** What a report is asked for, without range and zone. */
interface Choices
  extends Pick<
    Query,
    'dimensions' | 'filters' | 'tree' | 'metricConditions' | 'withVisitors' | 'countsAtClick' | 'bots'
  > {
  eventMetrics: EventMetric[]
  hasOnlyEvents: boolean
  sort: Optional<Query['sort']>
  limit: Optional<number>
  offset: Optional<number>
  minClicks: Optional<number>
  minConversions: Optional<number>
  compare: Optional<(typeof comparisons)[number] | 'range'>
}
const choices: fc.Arbitrary<Choices> = fc.record({
  dimensions: dimensionSets,
  filters: filterSets,
  tree: trees,
  metricConditions: fc.oneof({ weight: 2, arbitrary: fc.constant<MetricCondition[]>([]) }, metricConditions),
  sort: fc.option(
    fc.record({
      by: fc.oneof(fc.constant('id' as const), anyMetric),
      isDescending: fc.boolean(),
      isChange: fc.boolean(),
    }),
    { nil: undefined },
  ),
  limit: fc.constantFrom(undefined, 1, 3, 1000),
  offset: fc.constantFrom(undefined, undefined, 0, 1, 4, 1_000_000),
  withVisitors: fc.boolean(),
  eventMetrics: fc.oneof(fc.constant<EventMetric[]>([]), fc.shuffledSubarray([...eventMetrics])),
  hasOnlyEvents: fc.boolean(),
  bots: fc.constantFrom('exclude' as const, 'exclude' as const, 'only' as const, 'include' as const),
  minClicks: fc.constantFrom(undefined, undefined, undefined, 1, 2, 3, 1_000_000_000),
  minConversions: fc.constantFrom(undefined, undefined, undefined, 1, 2),
  compare: fc.constantFrom(undefined, ...comparisons, 'range' as const),
  countsAtClick: fc.constantFrom(false, false, true),
})

/** A query with its parameters, and the parameters of stats with the same range, filters and comparison. */
export type WrittenQuery = Query & { text: string; statsText: string }

export function queries(nowMs: number): fc.Arbitrary<WrittenQuery> {
  return (
    fc
      .tuple(choices, fc.constantFrom(undefined, ...zones), windows(nowMs), otherWindows(nowMs))
      .map((chosen) => write(...chosen))
      // Reports by hour have at most 31 days. Two local times that a clock skips are one instant.
      .filter(({ dimensions: grouped, range, compare }) =>
        [range, ...(typeof compare === 'object' ? [compare] : [])].every(
          ({ fromMs, untilMs }) => fromMs < untilMs && (!grouped.includes('hour') || untilMs - fromMs <= 31 * dayMs),
        ),
      )
  )
}

const people = { eventMetrics: [], hasOnlyEvents: false, bots: 'exclude' } as const satisfies Partial<Query>

/** Queries by one of few dimensions over all rows, with at least one tree. */
export function treeQueries(nowMs: number): fc.Arbitrary<WrittenQuery> {
  const none = { sort: undefined, limit: undefined, offset: undefined, minClicks: undefined, minConversions: undefined }
  const all = {
    filters: [],
    metricConditions: [],
    withVisitors: false,
    countsAtClick: false,
    compare: undefined,
    ...people,
  }
  const grouped = fc.constantFrom<Dimension>('campaign', 'country', 'day', 'status', 'referrer_domain')
  const today = dateOf(nowMs, 'UTC')
  const everything = datesWindow(addDays(today, -102), addDays(today, 4))
  return fc
    .tuple(someTrees, grouped)
    .map(([tree, one]) => write({ ...none, ...all, tree, dimensions: [one] }, undefined, everything, everything))
}

function write(
  chosen: Choices,
  zone: string | undefined,
  { text, name, resolve }: Window,
  other: Window,
): WrittenQuery {
  const { sort, limit, offset, minClicks, minConversions, compare, ...given } = chosen
  const hasOnlyEvents = given.hasOnlyEvents && given.eventMetrics.length > 0
  const rest = { ...given, hasOnlyEvents, withVisitors: given.withVisitors && !hasOnlyEvents }
  const ofShown = rest.metricConditions.filter(([, metric]) => rest.withVisitors || metric !== 'visitors')
  const shownMetrics = [
    ...(rest.withVisitors ? ['visitors'] : []),
    ...(hasOnlyEvents ? [] : metricNames),
    ...rest.eventMetrics,
  ]
  const isChange = sort?.isChange === true && sort.by !== 'id' && compare !== undefined
  const shared = [
    text,
    ...(zone === undefined ? [] : [`tz=${zone}`]),
    ...(compare === undefined ? [] : [compare === 'range' ? other.text : `compare=${compare}`]),
    ...rest.filters.map(parameterOf),
    ...(rest.countsAtClick ? ['count_at=click'] : []),
    ...(rest.bots === 'exclude' ? [] : [`bots=${rest.bots}`]),
  ]
  const parameters = [
    `group_by=${rest.dimensions.join(',')}`,
    ...shared,
    ...treeParameter([...rest.tree, ...ofShown]),
    ...(sort === undefined ? [] : [`sort=${sort.isDescending ? '-' : ''}${isChange ? 'change.' : ''}${sort.by}`]),
    ...(rest.withVisitors || rest.eventMetrics.length > 0 ? [`metrics=${shownMetrics.join(',')}`] : []),
    ...Object.entries({ limit, offset, min_clicks: minClicks, min_conversions: minConversions })
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `${name}=${value}`),
  ]
  return {
    ...rest,
    metricConditions: ofShown,
    rangeName: name,
    zone: zone ?? 'UTC',
    range: resolve(zone ?? 'UTC'),
    sort: {
      by: hasOnlyEvents ? (rest.eventMetrics[0] as EventMetric) : ('clicks' as const),
      isDescending: true,
      ...sort,
      isChange,
    },
    limit: limit ?? 1000,
    offset: offset ?? 0,
    minClicks: minClicks ?? 0,
    minConversions: minConversions ?? 0,
    compare: compare === 'range' ? other.resolve(zone ?? 'UTC') : compare,
    text: parameters.join('&'),
    statsText: [...shared, ...treeParameter(rest.tree)].join('&'),
  }
}

import fc from 'fast-check'
import { type Choices, choices, clickOnlyFields, sharedFields, subIds } from '../reports/generators.ts'
import { type ClickLine, type ConversionLine, statuses } from './model.ts'

// Generates account histories: few ids, so that rows interact; times at and next to the day boundaries of many zones.

const dayMs = 86_400_000
const hourMs = 3_600_000

/** Present times: days of a clock change in one of the zones, or soon after one, and ordinary days. */
const presentTimes = [
  Date.UTC(2026, 10, 2, 4, 30), // New York on 1 November
  Date.UTC(2026, 2, 9, 15), // New York on 8 March
  Date.UTC(2026, 9, 26, 0, 10), // London on 25 October
  Date.UTC(2026, 2, 30, 12), // London on 29 March
  Date.UTC(2026, 3, 6, 11), // Lord Howe and Chatham on 5 April
  Date.UTC(2026, 9, 5, 1), // Lord Howe on 4 October, Chatham on 27 September
  Date.UTC(2026, 8, 8, 3), // Santiago on 6 September, which starts at 01:00
  Date.UTC(2026, 3, 24, 20), // Cairo on 24 April, which starts at 01:00
  Date.UTC(2027, 0, 1, 0, 0), // first instant of a year
  Date.UTC(2028, 1, 29, 18, 20), // leap day
]

const zones = [
  'UTC',
  'America/New_York',
  'America/Santiago',
  'Africa/Cairo',
  'Asia/Beirut',
  'Europe/London',
  'Australia/Lord_Howe',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Pacific/Chatham',
  'Pacific/Apia',
]

/** Local midnights of those zones, in hours from midnight UTC. */
const midnightsH = [0, 3, 4, 5, -1, -2, -3, -10.5, -11, -5.5, -5.75, -12.75, -13.75, -13]

/** Pairs of days and hours from midnight UTC of the present day, 6 days back to 2 ahead. */
const dayAndHour = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(fc.integer({ min: -6, max: 2 }), fc.constantFrom(...midnightsH)) },
  {
    weight: 1,
    arbitrary: fc.tuple(
      fc.integer({ min: -2, max: 1 }),
      fc.integer({ min: 0, max: 95 }).map((n) => n / 4),
    ),
  },
)
/** In milliseconds from midnight UTC of the present day. */
const time = fc
  .tuple(dayAndHour, fc.constantFrom(0, 0, -1, 1, 437_001))
  .map(([[days, hours], shiftMs]) => days * dayMs + hours * hourMs + shiftMs)

/** Stored campaigns; clicks and conversions also refer to one that is not stored. */
export const campaigns = ['k1', 'k2']
const campaignId = fc.constantFrom(...campaigns, 'K1')
/** Absent once in `freq + 1` times. */
const maybe = <T>(value: fc.Arbitrary<T>, freq = 2) => fc.option(value, { nil: undefined, freq })
/** Absent four times in five. */
const seldom = <T>(value: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value })
const ids = (letter: string, count: number) => fc.integer({ min: 0, max: count - 1 }).map((n) => `${letter}${n}`)

/** Amounts in millionths: cents, six decimals, zero, negative corrections, and the largest exact double. */
const millionths = fc.oneof(
  fc.integer({ min: 0, max: 5_000 }).map((cents) => cents * 10_000),
  fc.integer({ min: 1, max: 9_999_999 }),
  fc.constantFrom(0, -1, -2_500_000, 999_999_999_999_999),
)
/** Small enough that the converted amount can be stored. */
const convertible = fc.oneof(fc.integer({ min: -9_999, max: 99_999_999 }), fc.constant(500_000))
const amount = maybe(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ amount: millionths }) },
    {
      weight: 2,
      arbitrary: fc.record({
        amount: convertible,
        foreign: fc.record({ exchangeRate: fc.integer({ min: 1, max: 3_000_000 }) }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ amount: convertible, foreign: fc.record({ base: convertible }) }) },
    { weight: 1, arbitrary: fc.record({ amount: convertible, foreign: fc.constant('unconvertible' as const) }) },
  ),
  4,
)

/** Leaves out absent fields. */
const line = <T>(shape: { [Name in keyof T]: fc.Arbitrary<T[Name] | undefined> }): fc.Arbitrary<T> =>
  fc
    .record(shape as Record<string, fc.Arbitrary<unknown>>)
    .map((row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined)) as T)

const clickLine = line<ClickLine>({
  id: ids('c', 14),
  atMs: time,
  ...sharedFields,
  ...clickOnlyFields,
  subIds,
  cost: amount,
  isBot: seldom(fc.constant(true)),
  isTest: seldom(fc.constant(true)),
})

const anyConversion = line<ConversionLine>({
  id: ids('v', 7),
  atMs: time,
  status: fc.constantFrom('approved', ...statuses),
  source: maybe(fc.constantFrom('cpa', 'revenue')),
  clickId: maybe(ids('c', 16), 5),
  // Few values, so that ties are common; they are independent of the order of imports.
  updatedAtMs: maybe(
    fc.integer({ min: 0, max: 4 }).map((n) => n * hourMs),
    4,
  ),
  createdAtMs: seldom(fc.integer({ min: 0, max: 4 }).map((n) => n * hourMs)),
  ...Object.fromEntries(Object.entries(sharedFields).map(([name, value]) => [name, seldom(value)])),
  subIds: seldom(subIds),
  revenue: amount,
  isTest: seldom(fc.constant(true)),
})

/** Most updates keep `convertedAt`: each id has its own. */
const conversionLine = fc
  .tuple(anyConversion, fc.integer({ min: 0, max: 3 }))
  .map(([conversion, n]) =>
    n === 0 ? conversion : { ...conversion, atMs: -Number(conversion.id.slice(1)) * 11 * hourMs },
  )

/** One change of an account. */
export type Step =
  | { kind: 'clicks'; lines: ClickLine[] }
  | { kind: 'conversions'; lines: ConversionLine[] }
  /** Imports an earlier file again, with or without additional lines at its end. */
  | { kind: 'repeat'; which: number; more: ClickLine[] }
  /** Merges all parts: versions and sums collapse. */
  | { kind: 'merge' }
  /** Sends an event of a click; its value must not count as revenue. */
  | { kind: 'event'; clickId: string }

const clicks = (least: number) =>
  fc.record({
    kind: fc.constant('clicks' as const),
    lines: fc.array(clickLine, { minLength: least, maxLength: 14 }),
  })
const conversions = (least: number) =>
  fc.record({
    kind: fc.constant('conversions' as const),
    lines: fc.array(conversionLine, { minLength: least, maxLength: 10 }),
  })

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: clicks(1) },
  { weight: 6, arbitrary: conversions(1) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('repeat' as const),
      which: fc.nat(20),
      more: fc.array(clickLine, { maxLength: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('merge' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('event' as const), clickId: ids('c', 14) }) },
)

/** The first two steps: enough rows to interact, in either order. */
const firstSteps = fc
  .tuple(clicks(8), conversions(6), fc.boolean())
  .map(([first, second, isReversed]): Step[] => (isReversed ? [second, first] : [first, second]))

/** The window of a report, in milliseconds from midnight UTC of the present day. */
export type Window =
  | { days: number }
  | { fromDay: number; toDay: number | undefined }
  | { fromMs: number; toMs: number }

const instants = fc.oneof(
  fc.tuple(time, time),
  // Within a day or two: the sums by day cannot be used.
  fc.tuple(time, fc.integer({ min: 1, max: 40 * hourMs })).map(([atMs, moreMs]) => [atMs, atMs + moreMs]),
)

const window: fc.Arbitrary<Window> = fc.oneof(
  { weight: 2, arbitrary: fc.constant({ fromDay: -8, toDay: 4 }) },
  {
    weight: 1,
    arbitrary: fc.record({ days: fc.oneof(fc.integer({ min: 1, max: 9 }), fc.constantFrom(14, 30, 365)) }),
  },
  {
    weight: 1,
    arbitrary: fc
      .record({ fromDay: fc.integer({ min: -8, max: 0 }), more: fc.integer({ min: 0, max: 10 }), isOpen: fc.boolean() })
      .map(({ fromDay, more, isOpen }) => ({ fromDay, toDay: isOpen ? undefined : fromDay + more })),
  },
  {
    weight: 3,
    arbitrary: instants.map(([a = 0, b = 0]) => ({ fromMs: Math.min(a, b), toMs: a === b ? a + 1 : Math.max(a, b) })),
  },
)

/** Parameters of the reads after a step. */
export interface Reads {
  tz: string
  days: number
  window: Window
  campaign: string | undefined
  /** UTC offset of instants in the query string, minutes. */
  offset: number
  limit: number
  /** A report of any kind, in the zone and window of these reads. */
  report: Choices
}

const reads: fc.Arbitrary<Reads> = fc.record({
  tz: fc.constantFrom(...zones),
  days: fc.oneof(fc.integer({ min: 1, max: 14 }), fc.constantFrom(30, 90)),
  window,
  campaign: maybe(fc.oneof({ weight: 5, arbitrary: campaignId }, { weight: 1, arbitrary: fc.constant('absent') }), 2),
  offset: fc.constantFrom(0, 0, 345, -570),
  limit: fc.constantFrom(4, 200, 200),
  report: choices,
})

/** The history of an account: steps, each with the reads after it. */
export interface History {
  nowMs: number
  currency: string
  steps: [Step, Reads][]
}

export const history: fc.Arbitrary<History> = fc
  .record({
    nowMs: fc.constantFrom(...presentTimes),
    currency: fc.constantFrom('USD', 'EUR'),
    first: firstSteps,
    more: fc.array(step, { minLength: 2, maxLength: 7, size: 'max' }),
    reads: fc.array(reads, { minLength: 9, maxLength: 9 }),
  })
  .map(({ nowMs, currency, first, more, reads }) => ({
    nowMs,
    currency,
    steps: [...first, ...more].map((step, index) => [step, reads[index] as Reads]),
  }))

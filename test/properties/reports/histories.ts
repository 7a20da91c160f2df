import fc from 'fast-check'
import { clickTables, conversionTables, costTables, type WrittenTable } from '../../writer/killedImport.ts'
import {
  clickOnlyFields,
  conversionOnlyFields,
  dayMs,
  type Entities,
  entities,
  hourMs,
  properties,
  queries,
  sharedFields,
  subIds,
  time,
  type WrittenQuery,
} from './generators.ts'
import { type ClickLine, type ConversionLine, type CostLine, type EventLine, statuses } from './rows.ts'

// Generates account histories with few ids, so that rows interact.

/** Present times: days of a clock change in one of the zones, or soon after one, and ordinary days. */
const presentTimes = [
  Date.UTC(2026, 10, 2, 4, 30), // New York on 1 November
  Date.UTC(2026, 2, 9, 15), // New York on 8 March
  Date.UTC(2026, 9, 25, 10, 20), // Berlin and London on 25 October
  Date.UTC(2026, 2, 30, 12), // London on 29 March
  Date.UTC(2026, 2, 30, 0, 30), // Nuuk on 28 March, whose last hour is skipped
  Date.UTC(2026, 3, 6, 11), // Lord Howe and Chatham on 5 April
  Date.UTC(2026, 9, 5, 1), // Lord Howe on 4 October, Chatham on 27 September
  Date.UTC(2026, 8, 8, 3), // Santiago on 6 September, which starts at 01:00
  Date.UTC(2026, 3, 24, 20), // Cairo on 24 April, which starts at 01:00
  Date.UTC(2027, 0, 1, 0, 0), // first instant of a year
  Date.UTC(2028, 1, 29, 18, 20), // leap day
]

/** Stored campaigns; clicks and conversions also refer to one that is not stored. */
export const campaigns = ['k1', 'k2']
const maybe = <T>(value: fc.Arbitrary<T>, freq = 2) => fc.option(value, { nil: undefined, freq })
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
const givenAmount = fc.oneof(
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
)
const amount = maybe(givenAmount, 4)

const line = <T>(shape: { [Name in keyof T]: fc.Arbitrary<T[Name] | undefined> }): fc.Arbitrary<T> =>
  fc
    .record(shape as Record<string, fc.Arbitrary<unknown>>)
    .map((row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined)) as T)

export const clickLine = line<ClickLine>({
  id: ids('c', 40),
  atMs: time,
  // Some visitors have the id of a click.
  visitorId: maybe(fc.constantFrom('w1', 'w2', 'c1', 'c2'), 3),
  ...sharedFields,
  ...clickOnlyFields,
  subIds,
  cost: amount,
  isBot: seldom(fc.constant(true)),
  isTest: seldom(fc.constant(true)),
})

const anyConversion = line<ConversionLine>({
  id: ids('v', 12),
  atMs: time,
  status: fc.constantFrom('approved', 'pending', ...statuses),
  source: maybe(fc.constantFrom('cpa', 'revenue')),
  clickId: maybe(ids('c', 44), 5),
  // Few values, so that ties are common; they are independent of the order of imports.
  updatedAtMs: maybe(
    fc.integer({ min: 0, max: 4 }).map((n) => n * hourMs),
    4,
  ),
  createdAtMs: seldom(fc.integer({ min: 0, max: 4 }).map((n) => n * hourMs)),
  ...Object.fromEntries(Object.entries(sharedFields).map(([name, value]) => [name, seldom(value)])),
  subIds: seldom(subIds),
  ...conversionOnlyFields,
  revenue: amount,
  isTest: seldom(fc.constant(true)),
})

/** Most updates keep `convertedAt`: each id has its own. */
export const conversionLine = fc
  .tuple(anyConversion, fc.integer({ min: 0, max: 3 }))
  .map(([conversion, n]) =>
    n === 0 ? conversion : { ...conversion, atMs: -Number(conversion.id.slice(1)) * 11 * hourMs },
  )

/** Times before and after the start of imports, so that corrections arrive in any order, and with equal times. */
const anyHour = fc.integer({ min: 0, max: 24 }).map((n) => n * hourMs)

/** Rows of a sheet have few days and dimensions, so that the next sheet corrects them. */
const sheetLine = line<CostLine>({
  atMs: fc.integer({ min: -5, max: 0 }).map((days) => days * dayMs),
  campaignId: maybe(fc.constantFrom('k1', 'k2')),
  country: seldom(fc.constantFrom('US', 'DE')),
  cost: fc.oneof(givenAmount, fc.constantFrom({ amount: 0 }, { amount: 7_500_000 })),
  updatedAtMs: maybe(anyHour),
})

const anyCost = line<CostLine>({
  id: ids('x', 8),
  atMs: time,
  ...Object.fromEntries(Object.entries(sharedFields).map(([name, value]) => [name, maybe(value)])),
  subIds: seldom(subIds),
  cost: fc.oneof(givenAmount, fc.constant({ amount: 0 })),
  updatedAtMs: maybe(anyHour),
})
export const costLine = fc.oneof({ weight: 3, arbitrary: sheetLine }, { weight: 2, arbitrary: anyCost })

/** Few ids, so that generations of an event and events of two origins have one id. */
const eventLine = line<EventLine>({
  id: ids('e', 12),
  origin: fc.constantFrom('server', 'browser'),
  generation: fc.constantFrom(0, 0, 1),
  atMs: time,
  eventName: fc.constantFrom('lead', 'Lead', 'visit'),
  clickId: maybe(ids('c', 44), 5),
  visitorId: maybe(fc.constantFrom('w1', 'w2', 'c1')),
  campaignId: maybe(fc.constantFrom('k1', 'K1')),
  properties: maybe(fc.constantFrom(...properties)),
})

/** How an import is interrupted at its first insert. */
export interface Interruption {
  /** It is killed and run again, or its connection breaks before the response arrives. */
  failure: 'kill' | 'reset'
  /** Tables that the batch did not reach. */
  without: WrittenTable[]
}

export type Step =
  | { kind: 'clicks'; lines: ClickLine[]; interruption: Interruption | undefined }
  | { kind: 'conversions'; lines: ConversionLine[]; interruption: Interruption | undefined }
  | { kind: 'costs'; lines: CostLine[]; interruption: Interruption | undefined }
  /** Imports an earlier file again, with or without additional lines at its end. */
  | { kind: 'repeat'; which: number; more: ClickLine[] }
  /** Merges all parts: versions and sums collapse. */
  | { kind: 'merge' }
  /** Sends an event of a click; its value must not count as revenue. */
  | { kind: 'event'; clickId: string }
  /** Stores events, each with as many copies, some of them later and at another time within a day. */
  | { kind: 'events'; lines: EventLine[]; copies: number }

const interruption = (tables: readonly WrittenTable[]): fc.Arbitrary<Interruption | undefined> =>
  maybe(fc.record({ failure: fc.constantFrom('kill', 'reset'), without: fc.subarray([...tables]) }))
/** Files of an import with between `least` and `least + more` lines. */
const files =
  <Kind extends 'clicks' | 'conversions' | 'costs', Line>(
    kind: Kind,
    line: fc.Arbitrary<Line>,
    tables: readonly WrittenTable[],
    more: number,
  ) =>
  (least: number) =>
    fc.record({
      kind: fc.constant(kind),
      lines: fc.array(line, { minLength: least, maxLength: least + more, size: 'max' }),
      interruption: interruption(tables),
    })
const clicks = files('clicks', clickLine, clickTables, 15)
const conversions = files('conversions', conversionLine, conversionTables, 10)
const costs = files('costs', costLine, costTables, 10)
const events = (least: number) =>
  fc.record({
    kind: fc.constant('events' as const),
    lines: fc.array(eventLine, { minLength: least, maxLength: least + 20, size: 'max' }),
    copies: fc.nat(2),
  })

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: clicks(1) },
  { weight: 6, arbitrary: conversions(5) },
  { weight: 5, arbitrary: costs(5) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('repeat' as const),
      which: fc.nat(20),
      more: fc.array(clickLine, { maxLength: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('merge' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('event' as const), clickId: ids('c', 40) }) },
  { weight: 4, arbitrary: events(1) },
)

/** The first steps: enough rows to interact, clicks before or after their conversions and events. */
const firstSteps = fc
  .tuple(clicks(40), conversions(14), costs(10), events(20), fc.boolean())
  .map(([first, ...others]): Step[] => {
    const isReversed = others.pop()
    return (isReversed ? [...others, first] : [first, ...others]) as Step[]
  })

/** Most conversions of a later file are newer than the stored ones. */
function later(step: Step, index: number): Step {
  if (step.kind !== 'conversions') return step
  const lines = step.lines.map(({ updatedAtMs, ...line }) => ({
    ...line,
    ...(updatedAtMs !== undefined && { updatedAtMs: updatedAtMs + 2 * index * hourMs }),
  }))
  return { ...step, lines }
}

/** The history of an account: steps, each with the report queries after it. At the end a visitor is erased, and old clicks, costs and events are removed. */
export interface History {
  nowMs: number
  currency: string
  /** Sources and offers, and what they are at the end. */
  entities: [Entities, Entities]
  steps: [Step, WrittenQuery[]][]
  /** Whole months before the present one whose clicks and costs are retained, and events. */
  retainedMonths: [number, number]
  queriesOfRetained: WrittenQuery[]
}

const queriesPerStep = 4

export const history: fc.Arbitrary<History> = fc.constantFrom(...presentTimes).chain((nowMs) => {
  const reads = fc.array(queries(nowMs), { minLength: queriesPerStep, maxLength: queriesPerStep })
  return fc.record({
    nowMs: fc.constant(nowMs),
    currency: fc.constantFrom('USD', 'EUR'),
    entities: fc.tuple(entities, entities),
    retainedMonths: fc.tuple(fc.nat(1), fc.nat(2)),
    queriesOfRetained: fc.array(queries(nowMs), { minLength: 12, maxLength: 12 }),
    steps: fc
      .tuple(firstSteps, fc.array(step, { minLength: 3, maxLength: 5, size: 'max' }))
      .chain(([first, more]) =>
        fc.tuple(...[...first, ...more].map((one, n) => fc.tuple(fc.constant(later(one, n)), reads))),
      ),
  })
})

import fc from 'fast-check'
import { Temporal } from 'temporal-polyfill'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type Comparison, comparisons } from '../../schema/comparison.ts'
import { calendarOf } from '../../src/query/calendarIntervals.ts'
import { previousRange } from '../../src/query/comparison.ts'
import { boundedRange, type Range } from '../../src/query/timeRange.ts'
import { offsetsOf } from '../../src/query/timeZone.ts'
import { addDays, dateOf, startOfDate, yearBefore } from '../properties/reports/localTime.ts'

const text = (epochMs: number) => new Date(epochMs).toISOString().slice(0, 16)
const laterMs = Date.UTC(2040, 0, 1)

function compare(comparison: Comparison, from: string, to: string, zone = 'UTC', nowMs = laterMs) {
  return previousRange(comparison, boundedRange({ from, to }, 30, zone, nowMs), zone, nowMs)
}
const rangeOf = (...given: Parameters<typeof compare>) => {
  const { fromMs, untilMs } = compare(...given).range
  return [text(fromMs), text(untilMs)]
}

const now = Date.UTC(2026, 10, 21, 15)

// Random ranges, zones and present times: test/properties/reports. Whole days: the test of every zone below.
it.each<[...Parameters<typeof compare>, fromTo: [string, string]]>([
  // Not of whole days: the time before, of the same duration.
  [
    ...(['previous_period', '2026-11-14T06:00:00Z', '2026-11-15T18:00:00Z', 'UTC', laterMs] as const),
    ['2026-11-12T18:00', '2026-11-14T06:00'],
  ],
  // With the present: up to the same local time, 10:00 in New York on both sides of a clock change.
  ['previous_period', '2026-11-15', '2026-11-21', 'UTC', now, ['2026-11-08T00:00', '2026-11-14T15:00']],
  ['previous_period', '2026-11-01', '2026-11-21', 'America/New_York', now, ['2026-10-11T04:00', '2026-10-31T14:00']],
  // The same dates of the year before: of a leap year, with the whole of February.
  ['previous_year', '2028-02-01', '2028-02-29', 'UTC', laterMs, ['2027-02-01T00:00', '2027-03-01T00:00']],
  ['previous_year', '2029-02-01', '2029-02-28', 'UTC', laterMs, ['2028-02-01T00:00', '2028-02-29T00:00']],
])('the earlier range by %s of %s to %s in %s', (comparison, from, to, zone, nowMs, fromTo) => {
  expect(rangeOf(comparison, from, to, zone, nowMs)).toEqual(fromTo)
})

it('the earlier range before the year 0 is rejected', () => {
  expect(() => compare('previous_year', '0000-06-01', '0000-06-02')).toThrow(
    expect.objectContaining({ code: 'invalid_compare' }),
  )
})

it('compares whole days with whole days in every zone', () => {
  const dates = fc
    .date({ min: new Date('2014-01-01'), max: new Date('2030-12-31'), noInvalidDate: true })
    .map((date) => date.toISOString().slice(0, 10))
  // Half of the ranges start on the date of a clock change in 2026 or up to 7 days after it.
  const zones = Intl.supportedValuesOf('timeZone')
  const afterChanges = fc
    .tuple(fc.constantFrom(...zones.flatMap(changesIn2026)), fc.integer({ min: 0, max: 7 }))
    .map(([[zone, date], days]) => [zone, addDays(date, days)] as const)
  const starts = fc.oneof(fc.tuple(fc.constantFrom(...zones), dates), afterChanges)
  fc.assert(
    fc.property(starts, fc.integer({ min: 1, max: 40 }), ([zone, from], days) => {
      const to = addDays(from, days - 1)
      const ends = (first: string, last: string) => [
        text(startOfDate(first, zone)),
        text(startOfDate(addDays(last, 1), zone)),
      ]
      expect(rangeOf('previous_period', from, to, zone)).toEqual(ends(addDays(from, -days), addDays(from, -1)))
      expect(rangeOf('previous_year', from, to, zone)).toEqual(ends(yearBefore(from), yearBefore(to)))
    }),
    { numRuns: 120 },
  )
})

/** @returns the zone and each date of 2026 on which its clocks change */
function changesIn2026(zone: string): (readonly [string, string])[] {
  const changes = offsetsOf(zone, { fromMs: Date.UTC(2026, 0), untilMs: Date.UTC(2027, 0) }).slice(1)
  return changes.map(({ fromMs }) => [zone, dateOf(fromMs, zone)] as const)
}

it.each([
  ['previous_year', '2024-02-28T10:00:00Z', '2024-02-29T10:00:00Z', 'UTC', '2023-02-28T10:00'],
  ['previous_year', '2024-02-28T12:00:00Z', '2024-02-29T10:00:00Z', 'UTC', '2023-02-28T12:00'],
  // 02:45 and, after the clock is set back, 02:10.
  ['previous_year', '2026-10-25T00:45:00Z', '2026-10-25T01:10:00Z', 'Europe/Berlin', '2025-10-25T00:45'],
] as const)(
  'an earlier range that would end before it starts is empty: %s of %s to %s in %s',
  (comparison, from, to, zone, empty) => {
    expect(rangeOf(comparison, from, to, zone)).toEqual([empty, empty])
    const { counterpartOf } = compare(comparison, from, to, zone)
    expect(counterpartOf('day', from.slice(0, 10))).toBe(null)
  },
)

it('an earlier range that would end before it starts is empty if the range starts now', () => {
  const nowMs = Date.UTC(2026, 10, 21)
  for (const comparison of comparisons) {
    const [fromMs, untilMs] = rangeOf(comparison, '2026-11-21', '2026-11-22', 'UTC', nowMs)
    expect(untilMs).toBe(fromMs)
  }
})

// Random ranges, zones and buckets: test/properties/reports.
describe('the earlier bucket', () => {
  it('of a leap day does not exist in the year before', () => {
    const year = compare('previous_year', '2028-02-01', '2028-03-31')
    expect(['2028-02-28', '2028-02-29', '2028-03-01'].map((day) => year.counterpartOf('day', day))).toEqual([
      '2027-02-28',
      null,
      '2027-03-01',
    ])
  })

  it('of an hour has the offset of its date, and does not exist where a clock skips it', () => {
    const berlin = compare('previous_period', '2026-03-30', '2026-03-30', 'Europe/Berlin')
    expect(['01', '02', '03'].map((hour) => berlin.counterpartOf('hour', `2026-03-30T${hour}:00+02:00`))).toEqual([
      '2026-03-29T01:00+01:00',
      null,
      '2026-03-29T03:00+02:00',
    ])
  })

  it('of a week and a month has the same position', () => {
    const weeks = compare('previous_period', '2026-11-04', '2026-11-17')
    expect(['2026-11-02', '2026-11-09', '2026-11-16'].map((week) => weeks.counterpartOf('week', week))).toEqual([
      '2026-10-19',
      '2026-10-26',
      '2026-11-02',
    ])
    const months = compare('previous_year', '2026-01-01', '2026-03-31')
    expect(months.counterpartOf('month', '2026-02')).toBe('2025-02')
  })
})

describe('the earlier hours and days', () => {
  afterEach(() => {
    vi.restoreAllMocks()
  })

  // Clock changes by half an hour, at midnight and of a whole day, offsets of quarters of an hour, and a short summer time.
  const zones = ['Australia/Lord_Howe', 'America/Santiago', 'Pacific/Apia', 'Asia/Kathmandu', 'Africa/Casablanca']
  const dates = ['2011-12-31', '2012-03-01', '2024-02-29', '2026-03-29', '2026-04-05', '2026-09-06', '2026-10-25']
  const nearMs = fc
    .tuple(fc.constantFrom(...dates), fc.integer({ min: -800, max: 800 }))
    .map(([date, hours]) => Date.parse(date) + hours * 900_000)
  const zoneNames = fc.oneof(fc.constantFrom(...zones), fc.constantFrom(...Intl.supportedValuesOf('timeZone')))

  it('equal the local times that Temporal computes one by one, in every zone', () => {
    fc.assert(
      fc.property(
        zoneNames,
        nearMs,
        fc.integer({ min: 1, max: 960 }),
        fc.boolean(),
        fc.constantFrom(...comparisons),
        (zone, atMs, quarters, isOfDays, comparison) => {
          const startOf = (ms: number) => startOfDate(dateOf(ms, zone), zone)
          const endMs = atMs + quarters * 900_000
          const range = isOfDays
            ? { fromMs: startOf(atMs), untilMs: startOf(endMs + 86_400_000) }
            : { fromMs: atMs, untilMs: endMs }
          const { range: previous, counterpartOf } = previousRange(comparison, range, zone, laterMs)
          for (const interval of ['hour', 'day'] as const) {
            const earlier = calendarOf(interval, previous, zone)
            for (const { id, fromMs } of calendarOf(interval, range, zone)) {
              const movedMs = movedByTemporal(comparison, range, zone, Math.max(fromMs, range.fromMs), interval)
              const found = earlier.find((bucket) => bucket.fromMs <= movedMs && movedMs < bucket.untilMs)
              const expected = previous.fromMs === previous.untilMs ? undefined : found?.id
              expect([id, counterpartOf(interval, id)]).toEqual([id, expected ?? null])
            }
          }
        },
      ),
      { numRuns: 50 },
    )
  })

  it.each([
    ['hour', '2026-10-10', '2026-11-09', 744],
    ['day', '2025-11-22', '2026-11-21', 365],
  ] as const)('by %s take no more calls of Temporal for %s to %s than for one day', (interval, from, to, rows) => {
    const zone = 'America/New_York'
    const calls = [
      vi.spyOn(Temporal.Instant, 'fromEpochMilliseconds'),
      vi.spyOn(Temporal.PlainDate.prototype, 'toZonedDateTime'),
      vi.spyOn(Temporal.PlainDateTime.prototype, 'toZonedDateTime'),
      vi.spyOn(Temporal.PlainDateTime.prototype, 'subtract'),
      vi.spyOn(Temporal.PlainDate.prototype, 'add'),
    ]
    const countsOf = (first: string, comparison: Comparison) => {
      const range = boundedRange({ from: first, to }, 30, zone, laterMs)
      for (const call of calls) call.mockClear()
      const { counterpartOf } = previousRange(comparison, range, zone, laterMs)
      const found = calendarOf(interval, range, zone).map(({ id }) => counterpartOf(interval, id))
      return { found: found.length, calls: calls.map((call) => call.mock.calls.length) }
    }
    for (const comparison of comparisons) {
      const [one, all] = [countsOf(to, comparison), countsOf(from, comparison)]
      expect(all.found).toBeGreaterThanOrEqual(rows)
      expect(all.calls).toEqual(one.calls)
    }
  })
})

/** @returns the earlier instant of a bucket's start, epoch milliseconds; NaN if its local time or date does not exist there */
function movedByTemporal(
  comparison: Comparison,
  { fromMs, untilMs }: Range,
  zone: string,
  atMs: number,
  interval: 'hour' | 'day',
) {
  const isStart = (ms: number) => startOfDate(dateOf(ms, zone), zone) === ms
  if (comparison === 'previous_period' && !(isStart(fromMs) && isStart(untilMs))) return atMs - (untilMs - fromMs)
  const localOf = (ms: number) => Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone).toPlainDateTime()
  const { days } = localOf(fromMs).toPlainDate().until(localOf(untilMs).toPlainDate())
  const duration = comparison === 'previous_year' ? { years: 1 } : { days }
  const local = localOf(atMs)
  const earlier = local.subtract(duration)
  const moved = earlier.toZonedDateTime(zone)
  const hasDate =
    moved.toPlainDate().equals(earlier.toPlainDate()) && earlier.add(duration).toPlainDate().equals(local.toPlainDate())
  const exists = hasDate && (interval === 'day' || moved.toPlainDateTime().equals(earlier))
  return exists ? moved.epochMilliseconds : Number.NaN
}

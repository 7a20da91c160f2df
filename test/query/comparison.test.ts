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

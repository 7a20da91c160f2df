import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rangeNames } from '../../schema/range.ts'
import { calendarOf } from '../../src/query/calendarIntervals.ts'
import { calendarRange, presentOf, unitBefore } from '../../src/query/calendarRanges.ts'
import { boundedRange } from '../../src/query/timeRange.ts'
import { parseTimeZone } from '../../src/query/timeZone.ts'

const lastDays = (tz: string, days: number, nowMs: number) =>
  calendarOf('day', boundedRange({ days }, 1, tz, nowMs), tz)

/** The local time by Intl, which the code under test does not use. */
function localTimeOf(tz: string): (epochMs: number) => string {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: tz, dateStyle: 'short', timeStyle: 'medium' })
  return (epochMs) => format.format(epochMs)
}

describe('the last local days', () => {
  it('returns the same dates as Intl in every zone, without gap or overlap', () => {
    const zones = Intl.supportedValuesOf('timeZone')
    const momentMs = fc.integer({ min: Date.UTC(2024, 0, 1), max: Date.UTC(2030, 0, 1) })
    fc.assert(
      fc.property(fc.constantFrom(...zones), momentMs, fc.integer({ min: 1, max: 90 }), (tz, nowMs, count) => {
        const clock = localTimeOf(tz)
        const days = lastDays(tz, count, nowMs)
        expect(days).toHaveLength(count)
        expect(days.at(-1)?.date).toBe(clock(nowMs).slice(0, 10))
        for (const [index, { date, fromMs, untilMs }] of days.entries()) {
          expect(clock(fromMs).slice(0, 10)).toBe(date)
          expect(clock(untilMs - 1).slice(0, 10)).toBe(date)
          expect(clock(fromMs - 1) < date).toBe(true)
          expect(days[index + 1]?.fromMs ?? untilMs).toBe(untilMs)
        }
      }),
      { numRuns: 60 },
    )
  })

  it('starts days on a quarter of an hour in every zone, as sums_by_quarter_hour requires', () => {
    for (const tz of Intl.supportedValuesOf('timeZone')) {
      for (const nowMs of [Date.UTC(2026, 0, 15), Date.UTC(2026, 6, 15)])
        expect([tz, (lastDays(tz, 1, nowMs)[0]?.fromMs ?? 1) % 900_000]).toEqual([tz, 0])
    }
  })
})

describe('the hours of a range', () => {
  it('are the hours of Intl in every zone, without gap or overlap', () => {
    const zones = Intl.supportedValuesOf('timeZone')
    const momentMs = fc.integer({ min: Date.UTC(2024, 0, 1) / 60_000, max: Date.UTC(2030, 0, 1) / 60_000 })
    fc.assert(
      fc.property(fc.constantFrom(...zones), momentMs, (tz, minute) => {
        const range = { fromMs: minute * 60_000, untilMs: (minute + 3_000) * 60_000 }
        const localTime = localTimeOf(tz)
        const buckets = calendarOf('hour', range, tz)
        expect((buckets[0]?.fromMs ?? Number.POSITIVE_INFINITY) <= range.fromMs).toBe(true)
        expect((buckets.at(-1)?.untilMs ?? 0) >= range.untilMs).toBe(true)
        expect(new Set(buckets.map(({ id }) => id)).size).toBe(buckets.length)
        for (const [index, { id, fromMs, untilMs }] of buckets.entries()) {
          for (const atMs of [fromMs, untilMs - 1])
            expect(localTime(atMs).slice(0, 13).replace(' ', 'T')).toBe(id.slice(0, 13))
          expect(buckets[index + 1]?.fromMs ?? untilMs).toBe(untilMs)
        }
      }),
      { numRuns: 40 },
    )
  })
})

it('time zones are IANA names and aliases in any case, and get the IANA spelling', () => {
  expect(['europe/berlin', 'US/Eastern', 'Etc/GMT 5'].map(parseTimeZone)).toEqual([
    'Europe/Berlin',
    'US/Eastern',
    'Etc/GMT+5',
  ])
})

// Reports and lists of random calendar ranges: test/properties/reports.
it('a calendar range is the same on pages that are read later, at any moment of the first one', () => {
  for (const zone of ['UTC', 'Asia/Kathmandu', 'America/Santiago'])
    for (const name of rangeNames)
      for (let nowMs = Date.UTC(2026, 7, 25); nowMs < Date.UTC(2026, 9, 5); nowMs += 13_456_789) {
        const first = calendarRange(name, zone, nowMs)
        expect(calendarRange(name, zone, presentOf(name, first.untilMs))).toEqual(first)
      }
})

it('the unit before a calendar range ends with its day where a clock skips the last hour', () => {
  const nowMs = Date.parse('2026-03-30T00:30:00Z')
  const today = calendarRange('today', 'America/Nuuk', nowMs)
  const { range } = unitBefore('today', today.fromMs, 'America/Nuuk', nowMs)
  expect(range.untilMs).toBe(today.fromMs)
})

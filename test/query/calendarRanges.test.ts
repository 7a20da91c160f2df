import { describe, expect, it } from 'vitest'
import { type RangeName, rangeNames } from '../../schema/range.ts'
import { calendarRange, presentOf, unitBefore } from '../../src/query/calendarRanges.ts'
import type { Range } from '../../src/query/timeRange.ts'

// Reports and lists of random calendar ranges: test/properties/reports.

const textOf = ({ fromMs, untilMs }: Range) => [fromMs, untilMs].map((ms) => new Date(ms).toISOString().slice(0, 16))

it.each<[RangeName, string, string, string]>([
  ['today', '2026-11-27T14:00Z', '2026-11-27', '2026-11-28'],
  ['yesterday', '2027-01-01T00:00Z', '2026-12-31', '2027-01-01'],
  ['this_week', '2026-11-29T23:59Z', '2026-11-23', '2026-11-30'],
  ['last_week', '2026-11-30T00:00Z', '2026-11-23', '2026-11-30'],
  ['this_month', '2028-02-29T10:00Z', '2028-02-01', '2028-03-01'],
  ['last_month', '2026-03-31T10:00Z', '2026-02-01', '2026-03-01'],
  ['this_quarter', '2026-05-31T10:00Z', '2026-04-01', '2026-06-01'],
  ['last_quarter', '2026-01-01T10:00Z', '2025-10-01', '2026-01-01'],
  ['this_year', '2026-01-01T10:00Z', '2026-01-01', '2026-01-02'],
  ['last_year', '2026-12-31T10:00Z', '2025-01-01', '2026-01-01'],
])('a calendar range %s at %s is from %s to %s', (name, now, from, until) => {
  expect(textOf(calendarRange(name, 'UTC', Date.parse(now)))).toEqual([`${from}T00:00`, `${until}T00:00`])
})

it('a calendar range is the same on pages that are read later, at any moment of the first one', () => {
  for (const zone of ['UTC', 'Asia/Kathmandu', 'America/Santiago'])
    for (const name of rangeNames)
      for (let nowMs = Date.UTC(2026, 7, 25); nowMs < Date.UTC(2026, 9, 5); nowMs += 4_567_891) {
        const first = calendarRange(name, zone, nowMs)
        expect(calendarRange(name, zone, presentOf(name, first.untilMs))).toEqual(first)
      }
})

describe('the unit before a calendar range', () => {
  it.each<[RangeName, string, string, string, string]>([
    ['today', '2026-11-27T14:05Z', '2026-11-26T00:00', '2026-11-26T14:05', '2026-11-27T00:00'],
    ['last_week', '2026-11-27T14:05Z', '2026-11-09T00:00', '2026-11-16T00:00', '2026-11-16T00:00'],
    ['this_month', '2026-11-27T14:05Z', '2026-10-01T00:00', '2026-10-27T14:05', '2026-10-28T00:00'],
    // A day that the month before lacks is its end.
    ['this_month', '2026-03-31T14:05Z', '2026-02-01T00:00', '2026-03-01T00:00', '2026-03-01T00:00'],
    ['this_quarter', '2026-05-31T14:05Z', '2026-01-01T00:00', '2026-03-01T00:00', '2026-03-01T00:00'],
    ['this_year', '2028-02-29T14:05Z', '2027-01-01T00:00', '2027-03-01T00:00', '2027-03-01T00:00'],
    ['last_month', '2026-03-31T14:05Z', '2026-01-01T00:00', '2026-02-01T00:00', '2026-02-01T00:00'],
  ])('%s at %s is from %s to %s, or whole to %s', (name, now, from, until, wholeUntil) => {
    const nowMs = Date.parse(now)
    const { range, whole } = unitBefore(name, calendarRange(name, 'UTC', nowMs), 'UTC', nowMs)
    expect([textOf(range), textOf(whole)]).toEqual([
      [from, until],
      [from, wholeUntil],
    ])
  })

  it('ends with its day where a clock skips the last hour', () => {
    const nowMs = Date.parse('2026-03-30T00:30:00Z')
    const today = calendarRange('today', 'America/Nuuk', nowMs)
    const { range } = unitBefore('today', today, 'America/Nuuk', nowMs)
    expect(range.untilMs).toBe(today.fromMs)
  })
})

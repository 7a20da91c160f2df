import { expect, it } from 'vitest'
import { rangeNames } from '../../schema/range.ts'
import { calendarRange, presentOf, unitBefore } from '../../src/query/calendarRanges.ts'

// Reports and lists of random calendar ranges: test/properties/reports.

it('a calendar range is the same on pages that are read later, at any moment of the first one', () => {
  for (const zone of ['UTC', 'Asia/Kathmandu', 'America/Santiago'])
    for (const name of rangeNames)
      for (let nowMs = Date.UTC(2026, 7, 25); nowMs < Date.UTC(2026, 9, 5); nowMs += 4_567_891) {
        const first = calendarRange(name, zone, nowMs)
        expect(calendarRange(name, zone, presentOf(name, first.untilMs))).toEqual(first)
      }
})

it('the unit before a calendar range ends with its day where a clock skips the last hour', () => {
  const nowMs = Date.parse('2026-03-30T00:30:00Z')
  const today = calendarRange('today', 'America/Nuuk', nowMs)
  const { range } = unitBefore('today', today, 'America/Nuuk', nowMs)
  expect(range.untilMs).toBe(today.fromMs)
})

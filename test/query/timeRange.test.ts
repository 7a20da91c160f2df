import { describe, expect, it } from 'vitest'
import { assertDaysAtMost, boundedRange, openRange, parseInstant } from '../../src/query/timeRange.ts'

const noonMs = Date.UTC(2026, 10, 21, 12)

describe('the range of a list', () => {
  it('rounds instants up to the next millisecond', () => {
    const at = Date.UTC(2026, 10, 2, 3)
    expect(openRange({ from: '2026-11-02T03:00:00.0005Z', to: '2026-11-02T03:00:00.001000001Z' })).toEqual({
      fromMs: at + 1,
      untilMs: at + 2,
    })
    expect(parseInstant('updated_since', '2026-11-02T03:00:00.0009Z')).toBe(at)
    expect(openRange({ to: '2026-11-02T02:59:60Z' })).toEqual({ untilMs: at })
  })

  it('reads a plus sign that was decoded to a space', () => {
    for (const from of ['2026-11-02T05:30:00 05:30', '2026-11-02 05:30 0530', '2026-11-02 05:30:00.0  05:30'])
      expect(openRange({ from })).toEqual({ fromMs: Date.UTC(2026, 10, 2) })
    expect(openRange({ from: '2026-11-02 02:00 02' })).toEqual({ fromMs: Date.UTC(2026, 10, 2) })
    // A year at the end is no offset, and only a second can be a leap second.
    const ctime = openRange({ from: 'Mon Nov 2 05:30:00 2026' })
    expect(ctime).toEqual({ fromMs: Date.UTC(2026, 10, 2, 5, 30) })
    for (const from of ['2026-11-02 05:30:00 2026', 'Nov 02, 2026  14:60'])
      expect(() => openRange({ from })).toThrow(expect.objectContaining({ code: 'invalid_from' }))
    expect(openRange({ from: '2026-11-02 05:30' })).toEqual({ fromMs: Date.UTC(2026, 10, 2, 5, 30) })
  })
})

describe('the range of a report', () => {
  it('must be within the years 0 to 9999 UTC, since the response returns it', () => {
    const range = (from: string, to: string) => () => boundedRange({ from, to }, 30, 'UTC', noonMs)
    expect(range('0000-01-01', '0000-01-02')).not.toThrow()
    expect(range('9999-12-30', '9999-12-31T23:59:59.999Z')).not.toThrow()
    expect(range('0000-01-01T00:00:00+00:01', '0000-01-02')).toThrow(expect.objectContaining({ code: 'invalid_from' }))
    for (const to of ['9999-12-31', '9999-12-31T23:59:59-00:01'])
      expect(range('9999-12-30', to)).toThrow(expect.objectContaining({ code: 'invalid_to' }))
  })

  it('spans at most a number of local days', () => {
    const spans = (days: number, from: string, to: string) => () =>
      assertDaysAtMost(days, boundedRange({ from, to }, 30, 'America/New_York', noonMs), 'America/New_York', 'A report')
    expect(spans(366, '2025-11-21', '2026-11-21')).not.toThrow()
    expect(spans(366, '2025-11-20', '2026-11-21')).toThrow(expect.objectContaining({ code: 'invalid_date_range' }))
    // 31 days and one hour, since clocks are set back.
    expect(spans(31, '2026-10-15', '2026-11-14')).not.toThrow()
    expect(spans(31, '2026-10-15', '2026-11-15T05:00:00.001Z')).toThrow(
      expect.objectContaining({ code: 'invalid_date_range' }),
    )
  })
})

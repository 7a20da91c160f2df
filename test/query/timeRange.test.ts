import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { listRange, readInstant, reportRange, splitAtMidnights } from '../../src/query/timeRange.ts'

const noonMs = Date.UTC(2026, 10, 21, 12)
const dayMs = 86_400_000
const text = (epochMs: number) => new Date(epochMs).toISOString()

describe('the range of a list', () => {
  it('takes a date in `to` whole and an instant half-open', () => {
    expect(listRange({ from: '2026-11-01', to: '2026-11-02' })).toEqual({
      fromMs: Date.UTC(2026, 10, 1),
      untilMs: Date.UTC(2026, 10, 3),
    })
    expect(listRange({ to: '2026-11-02T03:00:00+03:00' })).toEqual({ untilMs: Date.UTC(2026, 10, 2) })
  })

  it('begins and ends at the first millisecond that is not before the moment', () => {
    const at = Date.UTC(2026, 10, 2, 3)
    expect(listRange({ from: '2026-11-02T03:00:00.0005Z', to: '2026-11-02T03:00:00.001000001Z' })).toEqual({
      fromMs: at + 1,
      untilMs: at + 2,
    })
    expect(readInstant('updated_since', '2026-11-02T03:00:00.0009Z')).toBe(at)
    expect(listRange({ to: '2026-11-02T02:59:60Z' })).toEqual({ untilMs: at })
  })

  it('reads a plus sign that arrived as a space', () => {
    expect(listRange({ from: '2026-11-02T05:30:00 05:30' })).toEqual({ fromMs: Date.UTC(2026, 10, 2) })
  })

  it('refuses days that are not on the calendar and ranges that run backwards, by name', () => {
    expect(() => listRange({ from: '2026-02-29' })).toThrow(expect.objectContaining({ code: 'invalid_from' }))
    expect(() => listRange({ to: '2026-11-01T24:00:01Z' })).toThrow(expect.objectContaining({ code: 'invalid_to' }))
    expect(() => listRange({ from: '2026-11-02', to: '2026-11-01' })).toThrow(
      expect.objectContaining({ code: 'invalid_date_range' }),
    )
    const same = '2026-11-02T00:00:00Z'
    expect(() => listRange({ from: same, to: same })).toThrow(expect.objectContaining({ code: 'invalid_date_range' }))
  })
})

describe('the range of a report', () => {
  it('is the last days with today whole', () => {
    expect(reportRange({ days: 2 }, 30, noonMs)).toEqual({
      fromMs: Date.UTC(2026, 10, 20),
      untilMs: Date.UTC(2026, 10, 22),
    })
    expect(reportRange({}, 30, noonMs).fromMs).toBe(Date.UTC(2026, 9, 23))
  })

  it('ends today when only `from` is given, and lets an explicit range win over days', () => {
    expect(reportRange({ from: '2026-11-01', days: 3 }, 30, noonMs)).toEqual({
      fromMs: Date.UTC(2026, 10, 1),
      untilMs: Date.UTC(2026, 10, 22),
    })
  })

  it('begins and ends in years of four digits, in UTC, since it is echoed', () => {
    const range = (from: string, to: string) => () => reportRange({ from, to }, 30, noonMs)
    expect(range('0000-01-01', '0000-01-02')).not.toThrow()
    expect(range('9999-12-30', '9999-12-31T23:59:59.999Z')).not.toThrow()
    expect(range('0000-01-01T00:00:00+00:01', '0000-01-02')).toThrow(expect.objectContaining({ code: 'invalid_from' }))
    for (const to of ['9999-12-31', '9999-12-31T23:59:59-00:01']) {
      expect(range('9999-12-30', to)).toThrow(expect.objectContaining({ code: 'invalid_to' }))
    }
  })

  it('spans at most 366 days', () => {
    expect(() => reportRange({ from: '2025-11-21', to: '2026-11-21' }, 30, noonMs)).not.toThrow()
    expect(() => reportRange({ from: '2025-11-20', to: '2026-11-21' }, 30, noonMs)).toThrow(
      expect.objectContaining({ code: 'invalid_date_range' }),
    )
  })
})

describe('a range cut at midnights', () => {
  it('is covered exactly once by its whole days and its edges', () => {
    const moment = fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2026, 0, 9) })
    fc.assert(
      fc.property(moment, moment, (a, b) => {
        fc.pre(a !== b)
        const range = { fromMs: Math.min(a, b), untilMs: Math.max(a, b) }
        const { days, edges } = splitAtMidnights(range)
        const pieces = [...edges, ...(days ? [days] : [])].sort((x, y) => x.fromMs - y.fromMs)
        expect(pieces.map(({ fromMs }) => text(fromMs))).toEqual(
          [range.fromMs, ...pieces.slice(0, -1).map(({ untilMs }) => untilMs)].map(text),
        )
        expect(pieces.at(-1)?.untilMs).toBe(range.untilMs)
        if (days) expect([days.fromMs % dayMs, days.untilMs % dayMs]).toEqual([0, 0])
        for (const edge of edges) expect(edge.untilMs - edge.fromMs).toBeLessThan(days ? dayMs : 2 * dayMs)
      }),
    )
  })
})

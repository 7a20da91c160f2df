import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lastLocalDays } from '../../src/query/localDays.ts'

const hourMs = 3_600_000
const text = (epochMs: number) => new Date(epochMs).toISOString()
const hours = (tz: string, count: number, nowMs: number) =>
  lastLocalDays(tz, count, nowMs).days.map(({ date, fromMs, untilMs }) => [date, (untilMs - fromMs) / hourMs])

/** What a clock on a wall there shows, by Intl: another source than the code under test. */
function wallClock(tz: string): (epochMs: number) => string {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: tz, dateStyle: 'short', timeStyle: 'medium' })
  return (epochMs) => format.format(epochMs)
}

describe('the last local days', () => {
  it('are as long as clocks make them', () => {
    expect(hours('America/New_York', 2, Date.UTC(2026, 2, 9, 12))).toEqual([
      ['2026-03-08', 23],
      ['2026-03-09', 24],
    ])
    expect(hours('America/New_York', 1, Date.UTC(2026, 10, 1, 12))).toEqual([['2026-11-01', 25]])
    expect(hours('Australia/Lord_Howe', 1, Date.UTC(2026, 9, 4, 2))).toEqual([['2026-10-04', 23.5]])
    expect(hours('Australia/Lord_Howe', 1, Date.UTC(2026, 3, 5, 2))).toEqual([['2026-04-05', 24.5]])
  })

  it('begin at midnight there, or at the first moment of a day that has no midnight', () => {
    const [day] = lastLocalDays('Asia/Kathmandu', 1, Date.UTC(2026, 10, 21, 15)).days
    expect(text(day?.fromMs ?? 0)).toBe('2026-11-20T18:15:00.000Z')
    // Cairo's clocks went from 23:59 on 27 April 2023 to 01:00 on the 28th.
    const [short] = lastLocalDays('Africa/Cairo', 1, Date.UTC(2023, 3, 28, 12)).days
    expect([text(short?.fromMs ?? 0), (short?.untilMs ?? 0) - (short?.fromMs ?? 0)]).toEqual([
      '2023-04-27T22:00:00.000Z',
      23 * hourMs,
    ])
  })

  it('leave out the day that Samoa left out', () => {
    expect(hours('Pacific/Apia', 3, Date.UTC(2011, 11, 31, 12))).toEqual([
      ['2011-12-29', 24],
      ['2011-12-31', 24],
      ['2012-01-01', 24],
    ])
  })

  it('end with the day that the moment lies in', () => {
    expect(hours('Pacific/Kiritimati', 1, Date.UTC(2026, 10, 21, 11))).toEqual([['2026-11-22', 24]])
    expect(hours('Pacific/Pago_Pago', 1, Date.UTC(2026, 10, 21, 10, 59))).toEqual([['2026-11-20', 24]])
  })

  it('are those of the wall clock, in every zone, without gap or overlap', () => {
    const zones = Intl.supportedValuesOf('timeZone')
    const momentMs = fc.integer({ min: Date.UTC(2024, 0, 1), max: Date.UTC(2030, 0, 1) })
    fc.assert(
      fc.property(fc.constantFrom(...zones), momentMs, fc.integer({ min: 1, max: 90 }), (tz, nowMs, count) => {
        const clock = wallClock(tz)
        const { days } = lastLocalDays(tz, count, nowMs)
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

  it('begin on a quarter of an hour in every zone, so that the rollup can answer', () => {
    for (const tz of Intl.supportedValuesOf('timeZone')) {
      for (const nowMs of [Date.UTC(2026, 0, 15), Date.UTC(2026, 6, 15)]) {
        expect([tz, (lastLocalDays(tz, 1, nowMs).days[0]?.fromMs ?? 1) % 900_000]).toEqual([tz, 0])
      }
    }
  })

  it('take IANA names in any case, aliases too, and give the name back as IANA writes it', () => {
    expect(lastLocalDays('europe/berlin', 1, 0).tz).toBe('Europe/Berlin')
    expect(lastLocalDays('US/Eastern', 1, 0).tz).toBe('US/Eastern')
    expect(lastLocalDays('Etc/GMT 5', 1, 0).tz).toBe('Etc/GMT+5')
  })

  it.each(['+05:30', 'Z', '05:30', 'Mars/Olympus', '2026-01-01[UTC]', '__proto__', 'UTC\n', ' UTC', 'Europe/Berlin/x'])(
    'refuse %j',
    (tz) => {
      expect(() => lastLocalDays(tz, 1, 0)).toThrow(expect.objectContaining({ code: 'invalid_tz' }))
    },
  )
})

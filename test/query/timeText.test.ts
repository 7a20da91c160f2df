// @module-tag node

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseTimeText } from '../../src/query/timeText.ts'

/** The time in the form of responses; a date or a local time without `Z`. */
function read(text: string, order?: 'mdy' | 'dmy'): string | undefined {
  const time = parseTimeText(text, order)
  if (!time) return undefined
  const utc = new Date(time.ms).toISOString()
  return time.kind === 'instant' ? utc : utc.slice(0, time.kind === 'date' ? 10 : -1)
}

const [second, minute] = ['2026-11-20T14:45:31.000Z', '2026-11-20T14:45:00.000Z']

describe('a time', () => {
  it.each([
    ['RFC 3339', '2026-11-20T15:45:31+01:00', second],
    ['PostgreSQL', '2026-11-20 15:45:31+01', second],
    ['PostgreSQL', '2026-11-20 20:15:31.000000+05:30', second],
    ['PostgreSQL, of Liberia', '1971-01-01 00:00:00-00:44:30', '1971-01-01T00:44:30.000Z'],
    ['BigQuery', '2026-11-20 14:45:31 UTC', second],
    ['BigQuery', '2026-11-20T14:45:31.000000000Z', second],
    ['Google Ads', '2026-11-20 09:45:31-0500', second],
    ['Google Ads', 'Nov 20, 2026 2:45:31 PM', second.slice(0, -1)],
    ['Google Analytics', '20261120', '2026-11-20'],
    ['Google Sheets and Excel', '2026-11-20 9:05', '2026-11-20T09:05:00.000'],
    ['Excel in Japan', '2026/11/20 9:05', '2026-11-20T09:05:00.000'],
    ['date -R and mail', 'Fri, 20 Nov 2026 15:45:31 +0100', second],
    ['HTTP', 'Fri, 20 Nov 2026 14:45:31 GMT', second],
    ['mail with a comment', 'Fri, 20 Nov 2026 06:45:31 -0800 (PST)', second],
    ['date', 'Fri Nov 20 14:45:31 UTC 2026', second],
    ['date in en_US.UTF-8', 'Fri Nov 20 02:45:31 PM UTC 2026', second],
    ['date in en_GB.UTF-8', 'Fri 20 Nov 14:45:31 UTC 2026', second],
    ['ctime', 'Fri Nov  6 14:45:31 2026', '2026-11-06T14:45:31.000'],
    ['date --iso-8601=hours', '2026-11-20T14+00:00', '2026-11-20T14:00:00.000Z'],
    ['date --iso-8601=ns', '2026-11-20T14:45:31,000000000+00:00', second],
    ['ls --full-time and git', '2026-11-20 15:45:31.000000000 +0100', second],
    ['git log', 'Fri Nov 20 15:45:31 2026 +0100', second],
    ['nginx and Apache', '20/Nov/2026:15:45:31 +0100', second],
    ['Date of JavaScript', 'Fri Nov 20 2026 15:45:31 GMT+0100 (Central European Standard Time)', second],
    ['ISO 8601 without seconds', '2026-11-20T14:45Z', minute],
    ['ISO 8601 without seconds', '2026-11-20T11:45-03:00', minute],
    ['ISO 8601 without separators', '20261120T144531Z', second],
    ['ISO 8601 without separators', '20261120T094531.000-0500', second],
    ['ISO 8601 without separators', '20261120t144531z', second],
    ['ISO 8601 without separators', '20261120T144531', second.slice(0, -1)],
    ['MySQL and logs', '20261120144531', second.slice(0, -1)],
    ['Google Analytics, dateHour', '2026112014', '2026-11-20T14:00:00.000'],
    ['Google Analytics, dateHourMinute', '202611201445', minute.slice(0, -1)],
    ['Java', '2026-11-20T15:45:31+01:00[Europe/Berlin]', second],
    ['Java', '2026-11-20T14:45:31Z[UTC]', second],
    ['Go', '2026-11-20 15:45:31 +0100 CET', second],
    ['Go', '2026-11-20 14:45:31 +0000 UTC', second],
    ['systemd', 'Fri 2026-11-20 14:45:31 UTC', second],
    ['ClickHouse', '2026-11-20 14:45:31 Etc/UTC', second],
    ['Date of JavaScript', 'Fri Nov 20 2026 15:45:31 GMT+0100', second],
    ['Date of JavaScript', 'Fri Nov 20 2026 11:45:31 GMT-0300 (GMT-03:00)', second],
    ['people', '20 Sept 2026', '2026-09-20'],
    ['macOS', 'Friday, November 20, 2026 at 2:45 PM', minute.slice(0, -1)],
    ['nginx and Apache with brackets', '[20/Nov/2026:14:45:31 +0000]', second],
    ['RFC 3339, with the largest offset', '2026-11-21T14:44:31.0000+23:59', second],
    ['12 hours', '2026-11-20 12:45:00 AM', '2026-11-20T00:45:00.000'],
    ['12 hours after a narrow no-break space', '2026-11-20 2:45:00\u202fPM UTC', minute],
  ])('is read as %s writes it: %s', (_writer, text, expected) => {
    expect(read(text)).toBe(expected)
  })

  it('with day and month as digits and the year last is read only in a given order', () => {
    expect(read('11/12/2026 2:05 PM')).toBeUndefined()
    expect(read('11/12/2026 2:05 PM', 'mdy')).toBe('2026-11-12T14:05:00.000')
    expect(read('11/12/2026, 14:05:09 UTC', 'dmy')).toBe('2026-12-11T14:05:09.000Z')
    expect(read('20.11.2026', 'dmy')).toBe('2026-11-20')
    expect(['11/20/26', '1/2/00', '11/20/69'].map((text) => read(text, 'mdy'))).toEqual([
      '2026-11-20',
      '2000-01-02',
      '2069-11-20',
    ])
    for (const text of ['20/11/2026', '11/20/70', '11-20-26', '11-20/2026', '11/20/2026/1'])
      expect([text, read(text, 'mdy')]).toEqual([text, undefined])
  })

  const noTimes = `now | 46346.61 | 2026-11 | 2026-11-20Z | 2026-11-20 UTC | 2026-11-20 PM | 2026-02-29 | 2100-02-29T00:00:00Z
    | 2026-04-31 | 2026-13-01 | 2026-00-10 | 2026-11-00 | 20261320 | 2026111 | 2026-11-20T24:00:00Z
    | 2026-11-20T10:60:00Z | 2026-11-20T10:30:60Z | 2026-11-20 13:00 PM | 2026-11-20 0:00 AM
    | 2026-11-20T10:30:00+24:00 | 2026-11-20T10:30:00+02:60 | 2026-11-20T10:30:00+2 | 2026-11-20T10:30Z+02:00
    | 2026-11-20 14-05 | 2026-11-20 14:05 -5 | 2026-11-20T10:30:15.Z | 2026-11-20 14:00-15:00
    | 2026/11/20 9:00-10:00 | 202611201400-1500 | 2026-11-20T10:30+16:00 | 2026-11-20 10:30:00 -16:00
    | 20261120T14-15 | 20261120144 | 2026112014453 | 2026112014453112 | 2026112024 | 1795185931
    | Thu 2026-11-20 14:45:31 UTC | Fri 2026-13-20 14:45:31 UTC | 20 No 2026 | 2026-11-20T10:30:00[UTC]
    | [2026-11-20 | 2026-11-20 15:45:31 CET | 2026-11-20 15:45:31 Europe/Berlin | 2026-11-20 15:45:31 UTC+01:00
    | Fri Nov 20 15:45:31 CET 2026 | Thu, 20 Nov 2026 14:45:31 GMT | Fri, 20 Nov 2026 15:45:31 (CET)
    | 20 Nov 26 14:45 | 31 Nov 2026 | 20 Nov Nov 2026 | 20 Nov 2026 14:45 15:45 | 20/Nov/2026:15:45:31 0100
    | +002026-11-20T10:30:00Z`
  it.each([
    ...noTimes.split(/\s*\| /),
    '',
    '2026-11-20T10:30:00Z\n',
    ' 2026-11-20',
    `2026-11-20T10:30:00.${'0'.repeat(90)}Z`,
  ])('is not %j', (text) => {
    expect([read(text), read(text, 'mdy'), read(text, 'dmy')]).toEqual([undefined, undefined, undefined])
  })

  const names = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const
  const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const

  it('is read exactly in every form, of every instant and offset', () => {
    const instant = fc.date({ min: new Date('0001-01-02'), max: new Date('9999-12-30'), noInvalidDate: true })
    fc.assert(
      fc.property(instant, fc.integer({ min: -959, max: 959 }), (date, minutes) => {
        const local = new Date(date.getTime() + minutes * 60_000).toISOString()
        const [year, month, day, clock, ms] = [
          local.slice(0, 4),
          local.slice(5, 7),
          local.slice(8, 10),
          local.slice(11, 19),
          local.slice(20, 23),
        ]
        const name = names[Number(month) - 1]
        const weekday = days[new Date(local).getUTCDay()]
        const two = (count: number) => String(Math.trunc(count)).padStart(2, '0')
        const [sign, size] = [minutes < 0 ? '-' : '+', Math.abs(minutes)]
        const [hhmm, colon] = [
          `${sign}${two(size / 60)}${two(size % 60)}`,
          `${sign}${two(size / 60)}:${two(size % 60)}`,
        ]
        const hour = Number(clock.slice(0, 2))
        const half = `${hour % 12 || 12}${clock.slice(2)}.${ms} ${hour < 12 ? 'AM' : 'PM'}`
        for (const text of [
          `${year}-${month}-${day}T${clock}.${ms}${colon}`,
          `${year}-${month}-${day} ${clock}.${ms}${hhmm}`,
          `${year}-${month}-${day} ${clock}.${ms}000 ${hhmm}`,
          `${weekday}, ${day} ${name} ${year} ${clock}.${ms} ${hhmm}`,
          `${weekday} ${name} ${day} ${clock}.${ms} ${year} ${hhmm}`,
          `${day}/${name}/${year}:${clock}.${ms} ${hhmm}`,
          `${year}/${month}/${day} ${half} ${colon}`,
          date.toISOString().replace('T', ' ').replace('Z', ' UTC'),
        ])
          expect([text, read(text)]).toEqual([text, date.toISOString()])
        expect(read(`${Number(month)}/${Number(day)}/${year} ${half} ${colon}`, 'mdy')).toBe(date.toISOString())
        expect(read(`${day}.${month}.${year} ${clock}.${ms}`, 'dmy')).toBe(local.slice(0, -1))
      }),
    )
  })

  it('is never read from random characters of times, unless they are such a form', () => {
    const characters = fc.string({ unit: fc.constantFrom(...'0123456789:-/. TZ+,APMNov'), maxLength: 40 })
    const form = /\d{4}-\d\d-\d\d|\d{4}[/.]|\d{8}|Nov|nov|\d{4}-\d-|\d{4}-\d\d?-/
    fc.assert(
      fc.property(
        characters,
        (text) => void expect([text, form.test(text) ? undefined : read(text)]).toEqual([text, undefined]),
      ),
    )
  })
})

import { describe, expect, it } from 'vitest'
import { parseEvents } from '../../src/events/inexactNumbers.ts'
import { readEvent } from '../../src/events/validate.ts'
import { testNowMs } from '../kit/app.ts'

const dayMs = 86_400_000
const good = { click_id: 'c1', event_name: 'paid' }

/** @returns the row of an event @throws the Problem of an invalid event */
function read(fields: object) {
  const event = readEvent({ ...good, ...fields }, { accountId: 'acme', clickAllowance: 1 }, testNowMs)
  if (!('row' in event)) throw event.outcome
  return event.row
}

// All rules with random values, and their order: test/api/events/model.test.ts. Invalid values: test/properties/errors.test.ts.

it('currency is stored when it is an uppercase ISO 4217 code, else ignored', () => {
  for (const code of ['USD', 'EUR', 'XCG', 'ZWG', 'CLF', 'XAU', 'XXX', 'VED'])
    expect(read({ currency: code }).currency).toBe(code)
  for (const currency of ['usd', 'US', 'USDT', 'ZZZ', 'AAA', '', ' USD', 'DEM', 5, null, undefined, {}, ['USD']])
    expect([currency, read({ currency }).currency]).toEqual([currency, ''])
})

it('an id has up to 64 letters, digits and _ . : -, an event_id up to 128', () => {
  for (const id of ['0', 'A_b.c:d-e', 'x'.repeat(64)])
    expect(read({ click_id: id })).toMatchObject({ clickId: id, campaignId: '' })
  for (const id of ['0', 'order:1042.paid-x_y', 'x'.repeat(128)]) expect(read({ event_id: id }).id).toBe(id)
})

describe('timestamp', () => {
  /** Within the last 30 days, so that nothing is clamped. */
  const at = (text: string) => new Date(read({ timestamp: text }).occurredAt).toISOString()

  // All forms: test/query/timeText.test.ts.
  it('accepts any common form of a date-time', () => {
    for (const [text, instant] of [
      ['2026-11-20', '2026-11-20T00:00:00.000Z'],
      ['2026-11-20T10:30', '2026-11-20T10:30:00.000Z'],
      ['2026-11-20T10:30:15', '2026-11-20T10:30:15.000Z'],
      ['2026-11-20T10:30:15Z', '2026-11-20T10:30:15.000Z'],
      ['2026-11-20t10:30:15z', '2026-11-20T10:30:15.000Z'],
      ['2026-11-20T10:30:15.1Z', '2026-11-20T10:30:15.100Z'],
      ['2026-11-20T10:30:15.123456789Z', '2026-11-20T10:30:15.123Z'],
      ['2026-11-20T10:30:15,5+02', '2026-11-20T08:30:15.500Z'],
      ['2026-11-20T10:30+0530', '2026-11-20T05:00:00.000Z'],
      ['2026-11-20T10:30:15-03:30', '2026-11-20T14:00:15.000Z'],
      ['2026-11-20T23:59:59.999-00:00', '2026-11-20T23:59:59.999Z'],
      ['2026-11-01T00:30+01:00', '2026-10-31T23:30:00.000Z'],
      ['2026-11-20 10:30:15.5+01', '2026-11-20T09:30:15.500Z'],
      ['20261120T103015Z', '2026-11-20T10:30:15.000Z'],
      ['Fri, 20 Nov 2026 10:30:15 GMT', '2026-11-20T10:30:15.000Z'],
    ] as const)
      expect([text, at(text)]).toEqual([text, instant])
  })

  it('is rejected when it is not a date-time, does not exist, or is not text', () => {
    const invalidTexts = [
      '',
      '11/20/2026 10:30',
      '2026-11-20 10:30:00 CET',
      '2026-11-20T10:30:00Z\n',
      ...`now 1763690400 2026-11-20Z 2026-11-20T10:30:15. 2026-11-20T10:30:15.Z 2026-11-20T10:30Z+02:00
        2026-11-20T10:30:15+2 2026-11-20T10:30:15+24:00 2026-11-20T10:30:15+02:60 2026-11-20T24:00:00Z
        2026-11-20T10:60:00Z 2026-11-20T10:30:60Z 2026-02-29 2100-02-29 2026-04-31 2026-13-01 2026-00-10 2026-11-00
        +002026-11-20T10:30:00Z`.split(/\s+/),
    ]
    for (const timestamp of [...invalidTexts, 1763690400, true, {}, []]) {
      const rejected = expect.objectContaining({ code: 'invalid_timestamp' })
      expect(() => read({ timestamp }), `${timestamp}`).toThrow(rejected)
    }
  })

  it('is clamped to the last 30 days and the next 5 minutes', () => {
    const earliest = testNowMs - 30 * dayMs
    const latest = testNowMs + 5 * 60_000
    const shifted = (ms: number) => read({ timestamp: new Date(ms).toISOString() }).occurredAt
    for (const ms of [earliest, earliest + 1, latest - 1, latest]) expect(shifted(ms)).toBe(ms)
    expect(shifted(earliest - 1)).toBe(earliest)
    expect(shifted(latest + 1)).toBe(latest)
    for (const text of ['0000-01-01', '0000-02-29', '0099-12-31T23:59:59Z', '2000-02-29', '2024-02-29'])
      expect([text, read({ timestamp: text }).occurredAt]).toEqual([text, earliest])
    expect(read({ timestamp: '9999-12-31T23:59:59.999-23:59' }).occurredAt).toBe(latest)
  })
})

describe('properties', () => {
  const kept = (properties: unknown) => read({ properties }).properties

  it('keeps the first 20 valid keys', () => {
    const given = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`k${n}`, n % 5 === 0 ? null : n]))
    const expected = Object.entries(given).filter(([, value]) => value !== null)
    expect(Object.entries(JSON.parse(kept(given)))).toEqual(expected.slice(0, 20))
  })

  it('is dropped when it is not an object, or above 8 KiB as JSON', () => {
    for (const properties of ['{"a":1}', 5, true, null, undefined, [], [{ a: 1 }]]) expect(kept(properties)).toBe('')
    const filled = (bytes: number) => ({ a: 1, filler: 'x'.repeat(bytes - '{"a":1,"filler":""}'.length) })
    expect(JSON.stringify(filled(8_192))).toHaveLength(8_192)
    expect(kept(filled(8_192))).toBe('{"a":1}')
    expect(kept(filled(8_193))).toBe('')
    const wide = { a: 1, filler: '€'.repeat(2_730) }
    expect(Buffer.byteLength(JSON.stringify(wide))).toBeGreaterThan(8_192)
    expect(kept(wide)).toBe('')
  })

  it('includes nested values in its size, and is dropped when they are too deep to be written', () => {
    const nested = (levels: number) => ({ a: 1, deep: JSON.parse('['.repeat(levels) + ']'.repeat(levels)) })
    expect(kept(nested(1_000))).toBe('{"a":1}')
    expect(kept(nested(4_096))).toBe('')
    expect(kept(nested(30_000))).toBe('')
    expect(kept({ a: 1, list: Array(4_000).fill(1) })).toBe('{"a":1}')
    expect(kept({ a: 1, list: Array(5_000).fill(1) })).toBe('')
  })

  it('replaces unpaired surrogates, which UTF-8 cannot represent', () => {
    expect(kept(JSON.parse('{"a\\ud800":"\\udc00x","b":"\\ud83d\\ude00"}'))).toBe('{"a\ufffd":"\ufffdx","b":"😀"}')
  })
})

it('120,000 short numbers with an exponent take at most 6 times the CPU time of JSON.parse', () => {
  const body = `{"a":[${Array(120_000).fill('1.5e1').join()}],"b":1e1}`
  // The system measures CPU time too coarsely for one call.
  const cost = (read: (text: string) => unknown) => {
    const before = process.cpuUsage()
    for (let n = 0; n < 20; n++) read(body)
    const { user, system } = process.cpuUsage(before)
    return user + system
  }
  expect(cost((text) => parseEvents(text, JSON.parse))).toBeLessThan(6 * cost(JSON.parse))
})

import { describe, expect, it } from 'vitest'
import { validateEvent } from '../../src/events/validate.ts'
import { Problem } from '../../src/problem.ts'
import { testNowMs } from '../kit/app.ts'

const dayMs = 86_400_000
const good = { click_id: 'c1', event_name: 'paid' }

const read = (fields: object) => validateEvent({ ...good, ...fields }, testNowMs)

/** @returns the code that a body is refused with, and the field it names */
function refusal(body: object): [string, string | undefined] | undefined {
  try {
    validateEvent(body as Record<string, unknown>, testNowMs)
    return undefined
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return [error.code, error.details.param]
  }
}

const invalid = (field: string) => [`invalid_${field}`, field]

describe('event_name', () => {
  it('must start with a letter and have up to 64 letters, digits and underscores', () => {
    for (const name of ['a', 'Z9_', 'x'.repeat(64)]) expect(read({ event_name: name }).eventName).toBe(name)
  })

  it('is validated before all other fields', () => {
    expect(refusal({ click_id: '', value: 'x', timestamp: 5 })).toEqual(invalid('event_name'))
  })
})

describe('the identifiers', () => {
  it('must be a click, or a visitor with a campaign', () => {
    expect(read({})).toMatchObject({ identifiers: { clickId: 'c1' }, visitorId: '' })
    expect(read({ click_id: null, visitor_id: 'v1', campaign_id: 'k1' })).toMatchObject({
      identifiers: { campaignId: 'k1' },
      visitorId: 'v1',
    })
    expect(refusal({ event_name: 'a' })).toEqual(['missing_identifier', undefined])
    expect(refusal({ event_name: 'a', campaign_id: 'k1' })).toEqual(['missing_identifier', undefined])
    expect(refusal({ event_name: 'a', visitor_id: 'v1' })).toEqual(invalid('campaign_id'))
    expect(refusal({ event_name: 'a', visitor_id: 'v1', campaign_id: null })).toEqual(invalid('campaign_id'))
  })

  it('have up to 64 letters, digits and _ . : -', () => {
    for (const id of ['0', 'A_b.c:d-e', 'x'.repeat(64)])
      expect(read({ click_id: id }).identifiers).toEqual({ clickId: id })
  })

  it('with a click: the visitor is validated and stored, the campaign is ignored', () => {
    expect(read({ visitor_id: 'v1', campaign_id: { not: 'an id' } })).toMatchObject({
      identifiers: { clickId: 'c1' },
      visitorId: 'v1',
    })
    expect(refusal({ event_name: 'a', click_id: '?', visitor_id: '?' })).toEqual(invalid('click_id'))
  })

  it('are validated before the other fields', () => {
    expect(refusal({ event_name: 'a', click_id: '?', value: 'x', event_id: '?', timestamp: 5 })).toEqual(
      invalid('click_id'),
    )
    expect(refusal({ event_name: 'a', value: 'x', event_id: '?', timestamp: 5 })?.[0]).toBe('missing_identifier')
  })
})

describe('value', () => {
  it('is any JSON number, clamped to ±1e12', () => {
    for (const [given, kept] of [
      [0, 0],
      [-1.5, -1.5],
      [1e12, 1e12],
      [JSON.parse('-0'), 0],
      [1.1e12, 1e12],
      [-1e300, -1e12],
      [JSON.parse('1e999'), 1e12],
      [JSON.parse('-1e999'), -1e12],
      [5e-324, 5e-324],
      [null, null],
      [undefined, null],
    ] as const) {
      expect([given, read({ value: given }).value]).toEqual([given, kept])
    }
  })
})

describe('currency', () => {
  it('is stored when it is an uppercase ISO 4217 code, else ignored', () => {
    for (const code of ['USD', 'EUR', 'XCG', 'ZWG', 'CLF', 'XAU', 'XXX', 'VED']) {
      expect(read({ currency: code }).currency).toBe(code)
    }
    for (const currency of ['usd', 'US', 'USDT', 'ZZZ', 'AAA', '', ' USD', 'DEM', 5, null, undefined, {}, ['USD']]) {
      expect([currency, read({ currency }).currency]).toEqual([currency, ''])
    }
  })
})

describe('event_id', () => {
  it('has up to 128 letters, digits and _ . : -', () => {
    for (const id of ['0', 'order:1042.paid-x_y', 'x'.repeat(128)]) expect(read({ event_id: id }).eventId).toBe(id)
    expect(read({ event_id: null }).eventId).toBeUndefined()
  })
})

describe('timestamp', () => {
  /** Within the last 30 days, so that nothing is clamped. */
  const at = (text: string) => new Date(read({ timestamp: text }).occurredAtMs).toISOString()

  it('defaults to the time of the request', () => {
    expect(read({}).occurredAtMs).toBe(testNowMs)
    expect(read({ timestamp: null }).occurredAtMs).toBe(testNowMs)
  })

  it('accepts any common form of an ISO 8601 date-time', () => {
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
    ] as const) {
      expect([text, at(text)]).toEqual([text, instant])
    }
  })

  it('is rejected when it is not a date-time, does not exist, or is not text', () => {
    for (const timestamp of [
      '',
      'now',
      '1763690400',
      '20261120T103000Z',
      '2026-11-20 10:30:00Z',
      '2026-11-20T10',
      '2026-11-20T10:30:15.',
      '2026-11-20T10:30:15.Z',
      '2026-11-20T10:30Z+02:00',
      '2026-11-20Z',
      '2026-11-20T10:30:15+2',
      '2026-11-20T10:30:15+24:00',
      '2026-11-20T10:30:15+02:60',
      '2026-11-20T24:00:00Z',
      '2026-11-20T10:60:00Z',
      '2026-11-20T10:30:60Z',
      '2026-02-29',
      '2100-02-29',
      '2026-04-31',
      '2026-13-01',
      '2026-00-10',
      '2026-11-00',
      '+002026-11-20T10:30:00Z',
      '2026-11-20T10:30:00Z\n',
      1763690400,
      true,
      {},
      [],
    ]) {
      expect([timestamp, refusal({ ...good, timestamp })]).toEqual([timestamp, invalid('timestamp')])
    }
  })

  it('is clamped to the last 30 days and the next 5 minutes', () => {
    const earliest = testNowMs - 30 * dayMs
    const latest = testNowMs + 5 * 60_000
    const shifted = (ms: number) => read({ timestamp: new Date(ms).toISOString() }).occurredAtMs
    for (const ms of [earliest, earliest + 1, latest - 1, latest]) expect(shifted(ms)).toBe(ms)
    expect(shifted(earliest - 1)).toBe(earliest)
    expect(shifted(latest + 1)).toBe(latest)
    for (const text of ['0000-01-01', '0000-02-29', '0099-12-31T23:59:59Z', '1970-01-01']) {
      expect([text, read({ timestamp: text }).occurredAtMs]).toEqual([text, earliest])
    }
    for (const text of ['2000-02-29T00:00:00Z', '2024-02-29'])
      expect(read({ timestamp: text }).occurredAtMs).toBe(earliest)
    expect(read({ timestamp: '9999-12-31T23:59:59.999-23:59' }).occurredAtMs).toBe(latest)
  })
})

describe('properties', () => {
  const kept = (properties: unknown) => read({ properties }).properties

  it('keeps text, finite numbers and booleans, and drops other values', () => {
    const given = JSON.parse(
      '{"a":"x","b":1.5,"c":true,"d":false,"e":null,"f":[1],"g":{"h":1},"i":1e999,"j":"","":0,"ä €":"😀\\u0000"}',
    )
    expect(JSON.parse(kept(given))).toEqual({ a: 'x', b: 1.5, c: true, d: false, j: '', '': 0, 'ä €': '😀\0' })
  })

  it('keeps the first 20 valid keys', () => {
    const given = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`k${n}`, n % 5 === 0 ? null : n]))
    const expected = Object.entries(given).filter(([, value]) => value !== null)
    expect(Object.entries(JSON.parse(kept(given)))).toEqual(expected.slice(0, 20))
  })

  it('drops keys above 64 characters and text above 256, counted as characters', () => {
    const given = {
      ['k'.repeat(64)]: 1,
      ['k'.repeat(65)]: 2,
      ['😀'.repeat(64)]: 3,
      ['😀'.repeat(65)]: 4,
      fits: 'x'.repeat(256),
      long: 'x'.repeat(257),
      smiles: '😀'.repeat(256),
      more: '😀'.repeat(257),
    }
    expect(Object.keys(JSON.parse(kept(given)))).toEqual(['k'.repeat(64), '😀'.repeat(64), 'fits', 'smiles'])
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

  it('removes keys that are special in JavaScript', () => {
    const given = JSON.parse('{"constructor":1,"toString":2,"hasOwnProperty":3}')
    expect(kept(given)).toBe('{"toString":2,"hasOwnProperty":3}')
  })

  it('is absent when no property is kept', () => {
    for (const properties of [{}, { a: null }, { a: [] }]) expect(kept(properties)).toBe('')
  })
})

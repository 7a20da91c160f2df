import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { Temporal } from 'temporal-polyfill'
import { describe, expect, it } from 'vitest'
import { convert, readMoney, readRate } from '../../src/import/readers/amounts.ts'
import { type Input, jsonInput, type Mapping } from '../../src/import/readers/mapping.ts'
import { clickReader } from '../../src/import/resources/click.ts'
import { conversionReader } from '../../src/import/resources/conversion.ts'
import { costReader } from '../../src/import/resources/cost.ts'
import { metadataReader } from '../../src/import/resources/metadata.ts'
import { pixelEventReader } from '../../src/import/resources/pixelEvent.ts'
import { DecimalText, textOf } from '../../src/query/exactJson.ts'
import { localInstant, localInstantsOf } from '../../src/query/timeZone.ts'
import { storableTimes } from '../../src/stores/clickhouse/sql.ts'

const cellsInput: Input = { ...jsonInput, from: 'cells' }
const readClick = clickReader('USD')
const readConversion = conversionReader('USD')
const readEvent = pixelEventReader()

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const click = (fields: object) => readClick({ id: 'k', clickedAt: '2026-01-01T00:00:00Z', ...fields }, jsonInput)
const conversion = (fields: object) =>
  readConversion({ id: 'v', convertedAt: '2026-01-01T00:00:00Z', status: 'approved', ...fields }, jsonInput)

describe('a row', () => {
  it('converts negative zero to zero', () => {
    const event = { id: 'e', eventName: 'paid', visitorId: 'v' }
    expect(readEvent({ ...event, value: new DecimalText('-0') }, jsonInput).value).toBe(0)
  })

  it('with an unknown field is rejected with the name of the field', () => {
    expect(() => click({ colour: 'red' })).toThrow('colour: is not a field of clicks')
    expect(() => click({ ['__proto__']: 1, ...JSON.parse('{"__proto__":1}') })).toThrow(
      '__proto__: is not a field of clicks',
    )
    expect(() => click({ 'a\nb': 1 })).toThrow('"a\\nb": is not a field of clicks')
    expect(() => click({ toString: 'x' })).toThrow('toString: is not a field of clicks')
  })

  it('of a search of the API is read as it is', () => {
    const found = { matched: true, matches: [{ field: 'id', value: 'x' }] }
    expect(conversion(found)).toEqual(conversion({}))
    const read = metadataReader('campaigns')
    expect(read({ id: 'c', name: 'C', ...found }, jsonInput)).toEqual(read({ id: 'c', name: 'C' }, jsonInput))
  })

  it('without a required field is rejected', () => {
    expect(() => readClick({ clickedAt: '2026-01-01T00:00:00Z' }, jsonInput)).toThrow('id: is required')
    expect(() => click({ clickedAt: null })).toThrow('clickedAt: is required')
    expect(() => conversion({ status: '' })).toThrow('status: is required')
    expect(() => readEvent({ id: 'e', eventName: 'x' }, jsonInput)).toThrow('clickId: is required, or visitorId')
    expect(() => metadataReader('offers')({ id: 'o' }, jsonInput)).toThrow('name: is required')
    expect(() => metadataReader('offers')({ id: 'o', name: '(not set)' }, jsonInput)).toThrow('name: is required')
  })

  it('is rejected with the reasons of all its fields at once', () => {
    const fields = { id: 'a b', device: 'watch', colour: 'red', cost: 'x' }
    expect(() => readClick(fields, jsonInput)).toThrow(
      "id: must be text of 1 to 64 letters, digits and _ . : - (--hash-ids stores other ids as their SHA-256); device: must be one of desktop, mobile, tablet, other (--values 'device:watch=…' replaces it); colour: is not a field of clicks; cost: must be a number (--values 'cost:x=…' replaces it); clickedAt: is required",
    )
  })

  it('with a hundred thousand unknown fields is rejected with a short reason', () => {
    const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`f${n}`, 1]))
    expect(() => click(many)).toThrow(/^.{1,3000}$/)
  })

  it('may omit every other field: missing, null, empty and (not set) are equivalent', () => {
    const blank = click({})
    const notSet = { country: '(not set)', cost: '(not set)', sub1: '(not set)', subIds: { sub2: '(not set)' } }
    expect(click(notSet)).toEqual(blank)
    const constant = [['os', '(not set)']] as const
    expect(() => readConversion({ status: '(not set)' }, { ...cellsInput, constant })).toThrow(
      'id: is required; convertedAt: is required; status: is required',
    )
    expect(
      readClick({ id: 'k', clickedAt: '2026-01-01T00:00:00Z', os: '(not set)' }, { ...jsonInput, isMoved: true }),
    ).toMatchObject({ os: '(not set)' })
    expect(click({ country: null, cost: null, isBot: null, subIds: null, device: '' })).toEqual(blank)
    expect(blank).toMatchObject({ country: '', cost: null, isBot: false, isTest: false, sub1: '' })
  })

  it.each([
    [{ campaignId: 'a b' }, 'campaignId: must be text of 1 to 64 letters, digits and _ . : -'],
    [{ campaignId: true }, 'campaignId: must be text of 1 to 64'],
    [{ campaignId: new DecimalText('1.2e5') }, 'campaignId: must be text or all digits of a number'],
    [{ offerId: 'x'.repeat(65) }, 'offerId: must be text of 1 to 64'],
    [{ country: 'us' }, 'country: must be two uppercase letters'],
    [{ os: true }, 'os: must be text'],
    [{ os: 'x'.repeat(8_193) }, 'os: must have at most 8192 characters'],
    [{ os: 'a\0b' }, 'os: must not contain the character U+0000'],
    [{ os: '\ud800' }, 'os: must not contain an unpaired surrogate'],
    [{ isBot: 2 }, 'isBot: must be true or false'],
    [{ currency: 'usd' }, 'currency: must be three uppercase letters'],
    [{ subIds: { sub11: 'x' } }, 'subIds: contains "sub11", which is none of sub1 to sub10'],
    [{ campaignId: '1.2E+17' }, 'campaignId: must be text or all digits of a number'],
    [{ subIds: { sub1: {} } }, 'subIds: must contain text in sub1'],
    [{ subIds: [] }, 'subIds: must be an object'],
    [{ cost: 10, currency: 'EUR' }, 'costBase: is required, or exchangeRate, for an amount in EUR'],
    [{ cost: 10, costBase: 11 }, 'costBase: must equal an amount in USD'],
    [{ cost: 10, exchangeRate: 1.1 }, 'exchangeRate: must be 1 from USD to USD'],
    [{ cost: 10, currency: 'EUR', costBase: 9, baseCurrency: 'GBP' }, 'baseCurrency: must be the account'],
    [{ ip: '1.2.3' }, 'ip: must be an IPv4 or IPv6 address'],
  ])('of a click with %j is refused with the reason', (fields, reason) => {
    expect(() => click(fields)).toThrow(reason)
  })

  it('may have a field per sub-id, which must not contradict subIds', () => {
    expect(click({ sub1: 'a', sub10: 'b', sub2: '' })).toMatchObject({ sub1: 'a', sub2: '', sub10: 'b' })
    expect(conversion({ subIds: { sub1: 'a', sub2: 'b' }, sub1: 'a' })).toMatchObject({ sub1: 'a', sub2: 'b' })
    expect(() => click({ subIds: { sub1: 'a' }, sub1: 'b' })).toThrow(
      'sub1: gives sub1 another value than another field does',
    )
    expect(() => click({ sub1: [] })).toThrow('sub1: must be text')
  })

  it('of CSV has typed values in its cells', () => {
    const cells = { id: 'k', clickedAt: '2026-01-01T00:00:00Z', cost: '1.50', isBot: 'true', subIds: '{"sub2":"x"}' }
    expect(readClick(cells, cellsInput)).toMatchObject({ cost: 1_500_000n, isBot: true, sub2: 'x' })
    expect(() => readClick({ ...cells, cost: '1,5' }, cellsInput)).toThrow('cost: must be a number')
    const offer = metadataReader('offers')({ id: 'o', name: 'O', countries: 'US|DE', tags: 'a||b' }, cellsInput)
    expect(offer).toMatchObject({ countries: ['US', 'DE'], tags: ['a', 'b'] })
    const years = metadataReader('offers')({ id: 'o', name: 'O', tags: '[2024]' }, cellsInput)
    expect(years.tags).toEqual(['[2024]'])
  })

  it('may have numbers where text is meant, which keep their digits', () => {
    const digits = new DecimalText('120210000000000001')
    const expected = {
      id: '7',
      campaignId: '120210000000000001',
      osVersion: '17.10',
      sub1: '123',
      sub2: '9007199254740993',
    }
    const subIds = { sub2: new DecimalText('9007199254740993') }
    expect(click({ id: 7, campaignId: digits, osVersion: new DecimalText('17.10'), sub1: 123, subIds })).toMatchObject(
      expected,
    )
    expect(
      readClick({ id: 'k', clickedAt: '2026-01-01T00:00:00Z', subIds: '{"sub2":9007199254740993}' }, cellsInput).sub2,
    ).toBe('9007199254740993')
    const offer = metadataReader('offers')({ id: 5, name: 2026, tags: [1, digits] }, jsonInput)
    expect(offer).toMatchObject({ id: '5', name: '2026', tags: ['1', '120210000000000001'] })
  })

  it('has flags as spreadsheets, databases and programs write them, in text and in JSON', () => {
    for (const input of [jsonInput, cellsInput]) {
      const flag = (isBot: unknown) => readClick({ id: 'k', clickedAt: '2026-01-01T00:00:00Z', isBot }, input).isBot
      for (const yes of ['TRUE', 'True', 'true', 't', 'T', 'yes', 'Y', '1', '1.0', 1, true])
        expect([yes, flag(yes)]).toEqual([yes, true])
      for (const no of ['FALSE', 'False', 'false', 'f', 'no', 'N', '0', '0.0', 0, false])
        expect([no, flag(no)]).toEqual([no, false])
      for (const other of ['WAHR', 'on', '2', ' true', 'truee'])
        expect(() => flag(other)).toThrow('isBot: must be true or false')
    }
  })
})

describe('a row of a file with other columns', () => {
  const readAs = (mapping: Partial<Mapping>, fields: object, input = jsonInput) =>
    readClick(fields as Record<string, unknown>, { ...input, ...mapping })
  const row = { clickid: 'k', ts: '2026-01-01T00:00:00Z' }
  const map = [
    ['clickid', 'id'],
    ['clickid', 'externalClickId'],
    ['ts', 'clickedAt'],
    ['notes', ''],
  ] as const

  it('has the fields that its columns and constants set, and nothing of columns named like them', () => {
    const constant = [['campaignId', 'spring'], ['cost', '1.5'], ['isTest', 'true']] as const // biome-ignore format: pairs
    const fields = { ...row, notes: 5, id: 'other', campaignId: 'autumn', ts: row.ts }
    const expected = { id: 'k', externalClickId: 'k', campaignId: 'spring', cost: 1_500_000n, isTest: true }
    expect(readAs({ map, constant }, fields)).toMatchObject({ ...expected, clickedAt: Date.UTC(2026, 0, 1) })
    expect(readAs({ map, constant }, { ...row, notes: 'x' }, cellsInput)).toMatchObject(expected)
  })

  it('is rejected without a required column, and for an unknown one unless these are ignored', () => {
    expect(() => readAs({ map }, { clickid: 'k', clickedAt: row.ts })).toThrow(/^clickedAt: is required$/)
    expect(() => readAs({ map: [['id', 'visitorId']] }, { id: 'k', clickedAt: row.ts })).toThrow(/^id: is required$/)
    expect(() => readAs({ map }, { ...row, colour: 1 })).toThrow('colour: is not a field of clicks')
    expect(readAs({ map, ignoreUnknown: true }, { ...row, colour: 1 })).toMatchObject({ id: 'k' })
    expect(() => readAs({ map, constant: [['country', 'usa']] }, row)).toThrow(/^country: must be two uppercase/)
  })

  it('has other values for the texts of the file that are named, in the field that is named', () => {
    const values = [['device:Phone', 'mobile'], ['isBot:0', 'false'], ['isBot:1', 'true']] as const // biome-ignore format: pairs
    const fields = { ...row, device: 'Phone', isBot: 1, os: 'Phone' }
    expect(readAs({ map, values }, fields)).toMatchObject({ device: 'mobile', isBot: true, os: 'Phone' })
    const cells = { ...fields, device: 'desktop', isBot: '0' }
    expect(readAs({ map, values }, cells, cellsInput)).toMatchObject({ device: 'desktop', isBot: false })
    expect(readAs({ map, values }, { ...fields, isBot: new DecimalText('1') })).toMatchObject({ isBot: true })
    const event = { id: 'e', eventName: 'paid', visitorId: 'v', value: '5' }
    expect(readEvent(event, { ...cellsInput, values: [['value:5', '7']] }).value).toBe(7)
    expect(() => readAs({ map, values }, { ...row, device: { toString: 1 } })).toThrow('device: must be one of')
  })

  it('has no value in a field whose text stands for the empty text, in every field', () => {
    const blank = readAs({}, { id: 'k', clickedAt: row.ts })
    const fields = {
      country: 'T1',
      device: 'N/A',
      ip: '-',
      cost: '\\N',
      isBot: 'NULL',
      sub1: 'x',
      campaignId: '#',
      referrer: '-',
      osVersion: 0,
    }
    const values = Object.entries(fields).map(([name, text]) => [`${name}:${text}`, ''] as const)
    for (const input of [jsonInput, cellsInput]) {
      const given = input === cellsInput ? { ...fields, osVersion: '0' } : fields
      expect(readAs({ values }, { id: 'k', clickedAt: row.ts, ...given }, input)).toEqual(blank)
    }
    const unset = { constant: [['clickedAt', '1795185931']], values: [['clickedAt:1795185931', '']] } as const
    expect(() => readAs(unset, { id: 'k' })).toThrow(/^clickedAt: is required$/)
    expect(() => readAs({ values: [['id:-', '']] }, { id: '-', clickedAt: row.ts })).toThrow(/^id: is required$/)
    const event = { id: 'e', eventName: 'paid', visitorId: '-', value: 'null' }
    const absent = [['visitorId:-', ''], ['value:null', '']] as const // biome-ignore format: pairs
    expect(() => readEvent(event, { ...cellsInput, values: absent })).toThrow('clickId: is required, or visitorId')
    expect(readEvent({ ...event, clickId: 'k' }, { ...cellsInput, values: absent })).toMatchObject({
      visitorId: '',
      value: null,
    })
  })

  it('may have ids with other characters, which become the same SHA-256 in every resource', () => {
    const hashIds = true
    const [order, long, mail] = ['#1001', 'Cj0'.repeat(30), 'ü b@example.com']
    const read = readAs(
      { hashIds, constant: [['campaignId', order]] },
      { id: order, clickedAt: row.ts, visitorId: mail, offerId: 'k.1' },
    )
    expect(read).toMatchObject({
      id: sha256(order),
      campaignId: sha256(order),
      visitorId: sha256(mail),
      offerId: 'k.1',
    })
    const converted = { id: long, clickId: order, convertedAt: row.ts, status: 'approved' }
    expect(readConversion(converted, { ...jsonInput, hashIds })).toMatchObject({
      id: sha256(long),
      clickId: sha256(order),
    })
    expect(metadataReader('campaigns')({ id: order, name: order }, { ...jsonInput, hashIds })).toMatchObject({
      id: sha256(order),
      name: order,
    })
    const event = { eventName: 'paid', clickId: order }
    expect(readEvent({ ...event, id: mail }, { ...jsonInput, hashIds }).id).toBe(sha256(mail))
    expect(readEvent({ ...event, id: 'x'.repeat(128) }, { ...jsonInput, hashIds }).id).toBe('x'.repeat(128))
    expect(readAs({ map, hashIds }, { ...row, clickid: '="401"' }, cellsInput).id).toBe('401')
    expect(() => readAs({ hashIds }, { id: '#\ud800', clickedAt: row.ts })).toThrow('id: must be text of 1 to 64')
    for (const id of [new DecimalText('1.2E+17'), 1e-7])
      expect(() => readAs({ hashIds }, { id, clickedAt: row.ts })).toThrow('id: must be text or all digits')
    expect(() => readAs({ hashIds }, { id: {}, clickedAt: row.ts })).toThrow('id: must be text of 1 to 64')
  })

  it('may have longer ids, which are hashed only then', () => {
    const long = 'Cj0'.repeat(30)
    const read = readAs({ map, hashLongIds: true }, { ...row, clickid: long, visitorId: 'v' })
    expect(read).toMatchObject({ id: sha256(long), externalClickId: long, visitorId: 'v' })
    expect(() => readAs({ map, hashLongIds: true }, { ...row, clickid: 'a b' })).toThrow('id: must be text of 1 to 64')
    expect(() => readAs({ map }, { ...row, clickid: long })).toThrow('id: must be text of 1 to 64')
  })

  it('has local times of a zone', () => {
    const localInstant = localInstantsOf('Europe/Berlin', storableTimes)
    const at = (clickedAt: string) => {
      return new Date(readAs({ localInstant }, { id: 'k', clickedAt }).clickedAt).toISOString().replace('.000Z', 'Z')
    }
    expect(at('2026-07-01 12:00:00')).toBe('2026-07-01T10:00:00Z')
    expect(at('2026-11-21T03:00')).toBe('2026-11-21T02:00:00Z')
    expect(at('2026-11-21')).toBe('2026-11-20T23:00:00Z')
    expect(at('2026-11-20 12:15:09pm')).toBe('2026-11-20T11:15:09Z')
    // Repeated: the earlier one. Skipped: the moment of the change.
    expect(at('2026-10-25 02:30:00')).toBe('2026-10-25T00:30:00Z')
    expect(at('2026-03-29 02:30:00')).toBe('2026-03-29T01:00:00Z')
    expect(() => at('2026-02-30')).toThrow('clickedAt: must be a time such as 2026-11-21T03:00:00Z, 2026-11-21 03')
    expect(() => at('1.2.2026')).toThrow(
      'clickedAt: has day and month in an unknown order; --date-order gives the order',
    )
    const dated = (dateOrder: 'dmy' | 'mdy') =>
      readAs({ localInstant, dateOrder }, { id: 'k', clickedAt: '1.2.2026' }).clickedAt
    expect([dated('dmy'), dated('mdy')]).toEqual([Date.UTC(2026, 0, 31, 23), Date.UTC(2026, 0, 1, 23)])
    expect(() => at('1969-12-31 10:00:00')).toThrow('clickedAt: must be between')
  })

  it('has the local times that parameters of the API have, in every zone', () => {
    const zones = 'America/St_Johns Australia/Lord_Howe Africa/Casablanca Africa/Monrovia Pacific/Apia UTC'
    const readers = zones.split(' ').map((zone) => [zone, localInstantsOf(zone, storableTimes)] as const)
    const time = fc.date({ min: new Date('1970-02-01'), max: new Date('2050-01-01'), noInvalidDate: true })
    fc.assert(
      fc.property(time, fc.constantFrom(...readers), (date, [zone, read]) => {
        const local = Temporal.PlainDateTime.from(date.toISOString().slice(0, -1))
        expect(read(date.getTime())).toBe(localInstant(local, zone).epochMilliseconds)
      }),
    )
  })
})

describe('a time', () => {
  const at = (clickedAt: unknown) => click({ clickedAt }).clickedAt

  // All forms: test/query/timeText.test.ts.
  it('is truncated to the millisecond', () => {
    expect([at(' 2026-11-21 03:00:00Z\n'), at('1795185931 ')]).toEqual([Date.UTC(2026, 10, 21, 3), 1_795_185_931_000])
    expect(at('2026-11-21T03:00:00.123999+05:45')).toBe(Date.UTC(2026, 10, 20, 21, 15, 0, 123))
  })

  it('may be a number of seconds, milliseconds, microseconds or nanoseconds since 1970', () => {
    // Later ones can be digits of a date.
    const ms = fc.integer({ min: 1e12, max: 2_001_010_099_999 })
    fc.assert(
      fc.property(ms, (epochMs) => {
        const seconds = (epochMs / 1000).toFixed(3)
        for (const text of [seconds, `${seconds}999999`, `${epochMs}`, `${epochMs}001`, `${epochMs}001002`])
          for (const clickedAt of [text, new DecimalText(text)]) expect(at(clickedAt)).toBe(epochMs)
        const [digits, exponent] = [`${epochMs}`.replace(/^./, '$&.'), 'E9']
        expect(at(digits + exponent)).toBe(epochMs)
        expect([at(epochMs), at(Math.trunc(epochMs / 1000))]).toEqual([epochMs, epochMs - (epochMs % 1000)])
      }),
    )
  })

  // Other texts: test/query/timeText.test.ts.
  it.each(['2026-02-29T00:00:00Z', '1.795185931E8', 2026112014.5, true, {}])('is not %j', (value) => {
    expect(() => at(value)).toThrow('clickedAt: must be a time such as 2026-11-21T03:00:00Z, 2026-11-21 03:00:00+01 or')
  })

  it.each(['2026-11-21T03:00:00', '2026-11-21', '2026112103', '20261121030000', 'Nov 21, 2026 3:00 PM'])(
    'without offset is rejected without a zone: %s',
    (text) => {
      expect(() => at(text)).toThrow(
        'clickedAt: must have an offset, as 2026-11-21T03:00:00Z has, or --tz must give the time zone',
      )
    },
  )

  it.each(['1969-12-31T23:59:59.999Z', '1970-01-01T00:00:00+00:01', '2106-01-01T00:00:00Z', '0000-01-01T00:00:00Z'])(
    'outside the supported range is rejected: %s',
    (text) => {
      expect(() => at(text)).toThrow('clickedAt: must be between 1970-01-01 and 2105-12-31')
    },
  )
})

describe('a value', () => {
  const noted = (read: typeof readEvent, fields: object) => {
    const notes: unknown[] = []
    const note: Input['note'] = (field, message, value) => void notes.push([field, message, textOf(value)])
    read({ id: 'e', eventName: 'paid', visitorId: 'v', ...fields }, { ...jsonInput, note })
    return notes
  }

  it('that changes is noted with its field, its digits and what is stored', () => {
    const [nearest, digits] = ['is rounded to the nearest double', '12345678901.234567890']
    expect(noted(readEvent, { value: new DecimalText(digits) })).toEqual([['value', nearest, digits]])
    expect(noted(readEvent, { value: new DecimalText('1e-400') })).toEqual([['value', nearest, '1e-400']])
    expect(noted(readEvent, { properties: `{"a":0.1,"b":9007199254740993}` })).toEqual([
      ['properties', nearest, '9007199254740993'],
    ])
    expect(noted(readEvent, { occurredAt: new DecimalText('1.795185931123456E9') })).toEqual([
      ['occurredAt', 'is truncated to milliseconds', '1.795185931123456E9'],
    ])
    expect(noted(readEvent, { occurredAt: '1795185931123456' })).toEqual([
      ['occurredAt', 'is truncated to milliseconds', '1795185931123456'],
    ])
    const replaced = { properties: { 'a\0': 'b\0', c: 'd' } }
    expect(noted(readEvent, replaced)).toEqual(
      ['a\0', 'b\0'].map((text) => ['properties', 'has U+FFFD instead of U+0000', text]),
    )
    for (const text of ['17.10', '1.2500000000000000000000', '1e5', '-0.0', '0.1', '5e-324'])
      expect(noted(readEvent, { value: new DecimalText(text), occurredAt: '2026-11-20 14:45:31.120000 UTC' })).toEqual(
        [],
      )
  })

  it('is noted if and only if it is not the stored number', () => {
    fc.assert(
      fc.property(fc.double({ min: 1, max: 1e12, noNaN: true }), (value) => {
        expect(noted(readEvent, { value: new DecimalText(`${value}`) })).toEqual([])
        const more = `${value.toFixed(20)}1`
        expect(noted(readEvent, { value: new DecimalText(more) })).toHaveLength(1)
      }),
    )
  })
})

it.each([
  ['203.0.113.77', '203.0.113.0'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1::'],
  ['2001:0DB8:0000:0002::1', '2001:db8::'],
  ['2001:db8:ffff::', '2001:db8:ffff::'],
  ['::1', '::'],
  ['1::', '1::'],
  ['::2:3:4:5:6:7:8', '0:2:3::'],
  ['::ffff:203.0.113.77', '203.0.113.0'],
  ['::FFFF:CB00:714D', '203.0.113.0'],
  ['64:ff9b::1.2.3.4', '64:ff9b::'],
  ['fe80::1%eth0', 'fe80::'],
  ['1:2:3:4:5:6:7::%eth0.1', '1:2:3::'],
])('an address is stored without its last octet or its last 80 bits: %s', (given, kept) => {
  expect(click({ ip: given }).ip).toBe(kept)
  expect(click({ ip: kept }).ip).toBe(kept)
})

describe('money', () => {
  it('may be text in JSON, with the same digits', () => {
    expect(click({ cost: '1.25' })).toMatchObject({ cost: 1_250_000n, costBase: 1_250_000n })
    expect(click({ cost: '10', currency: 'EUR', exchangeRate: '1.100000000000000001' })).toMatchObject({
      costBase: 11_000_000n,
    })
    for (const [cost, expected] of [
      ['.5', 500_000n],
      ['-.5', -500_000n],
      ['5.', 5_000_000n],
      ['+5', 5_000_000n],
      [' 5 ', 5_000_000n],
    ])
      expect(click({ cost })).toMatchObject({ cost: expected })
    for (const cost of ['1,25', '$1', '.', '+', '+-5', '5. 0', '1.e3', '1e400', 'NaN', {}, [1], true])
      expect(() => click({ cost })).toThrow(/^cost: must/)
  })

  const millionths = fc.bigInt({ min: -(10n ** 18n) + 1n, max: 10n ** 18n - 1n })
  const written = (value: bigint) => {
    const digits = String(value < 0n ? -value : value).padStart(7, '0')
    return `${value < 0n ? '-' : ''}${digits.slice(0, -6)}.${digits.slice(-6)}`
  }

  it('is exact for every amount of six decimals', () => {
    fc.assert(
      fc.property(millionths, (value) => {
        expect(readMoney(new DecimalText(written(value)))).toBe(value)
      }),
    )
    const short = fc.bigInt({ min: -(10n ** 15n) + 1n, max: 10n ** 15n - 1n })
    fc.assert(
      fc.property(short, (value) => {
        expect(readMoney(Number(written(value)))).toBe(value)
      }),
    )
  })

  it('may be written with an exponent', () => {
    expect(readMoney(new DecimalText('1.5e3'))).toBe(1_500_000_000n)
    const zeros = '0'.repeat(200_000)
    expect(readMoney(new DecimalText(`1.5${zeros}`))).toBe(1_500_000n)
    expect(() => readMoney(new DecimalText(`1${zeros}1`))).toThrow('must have at most 60 digits')
    expect(readMoney(new DecimalText('1E-6'))).toBe(1n)
    expect(readMoney(new DecimalText('-0.0000000'))).toBe(0n)
    expect(readMoney(new DecimalText('1.2500000000000000000000'))).toBe(1_250_000n)
  })

  it.each([
    ['0.30000000000000004', 300_000n],
    ['0.07999999999999999', 80_000n],
    ['1.0000005', 1_000_001n],
    ['-1.0000005', -1_000_001n],
    ['0.00000049999', 0n],
    ['-1e-7', 0n],
    ['999999999999.9999994', 999_999_999_999_999_999n],
  ])('with more than six decimals is rounded half away from zero, as converted amounts are: %s', (text, millionths) => {
    expect(readMoney(new DecimalText(text))).toBe(millionths)
    expect(readMoney(text)).toBe(millionths)
    if (Math.abs(Number(text)) < 1e6) expect(click({ cost: Number(text) }).cost).toBe(readMoney(text))
  })

  it.each([
    '1e12',
    '-1000000000000',
    '999999999999.9999999',
    '1e400',
    '1e-400',
    `1${'0'.repeat(500)}`,
    '1e99999999999',
  ])('that does not fit is refused: %s', (text) => {
    expect(() => readMoney(new DecimalText(text))).toThrow()
  })

  it('is converted exactly, and rounded half away from zero', () => {
    const rate = (text: string) => readRate(new DecimalText(text))
    expect(convert(10_000_000n, rate('1.2345678'))).toBe(12_345_678n)
    expect(convert(1n, rate('0.5'))).toBe(1n)
    expect(convert(-1n, rate('0.5'))).toBe(-1n)
    expect(convert(1n, rate('0.499999999999999999'))).toBe(0n)
    expect(convert(3_000_000n, rate('0.0000001666666666'))).toBe(0n)
    expect(() => convert(999_999_999_999_000_000n, rate('2'))).toThrow('after conversion')
    expect(convert(10n ** 12n, rate('0.00000123456789012345678'))).toBe(1_234_568n)
    for (const text of ['0', '-1', '1e12']) expect(() => rate(text)).toThrow()
  })
})

it('a conversion takes absent times from its other times, never from the clock', () => {
  const [t1, t2, t3] = [Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 2), Date.UTC(2026, 0, 3)]
  expect(conversion({})).toMatchObject({ createdAt: t1, updatedAt: t1, source: 'cpa', isTest: false })
  expect(conversion({ createdAt: new Date(t2).toISOString() })).toMatchObject({ createdAt: t2, updatedAt: t2 })
  expect(conversion({ updatedAt: new Date(t3).toISOString() })).toMatchObject({ createdAt: t1, updatedAt: t3 })
})

it('a conversion of an unknown status or source is rejected', () => {
  expect(() => conversion({ status: 'paid' })).toThrow('status: must be one of approved, pending,')
  expect(() => conversion({ source: 'all' })).toThrow('source: must be one of cpa, revenue')
})

describe('a pixel event', () => {
  const event = (fields: object) => readEvent({ id: 'e', eventName: 'signup', visitorId: 'v', ...fields }, jsonInput)

  it('defaults to origin browser and the current time', () => {
    expect(event({})).toMatchObject({ origin: 'browser', generation: 0, occurredAt: 0, receivedAt: 0, properties: '' })
    expect(event({ id: 'x'.repeat(128), origin: 'server', generation: 1_000_000 })).toMatchObject({ origin: 'server' })
  })

  it('may have its numbers as text, as BigQuery writes INT64', () => {
    expect(event({ value: '1.5', generation: '3' })).toMatchObject({ value: 1.5, generation: 3 })
    for (const fields of [{ value: '1,5' }, { generation: 'x' }, { generation: '1.5' }])
      expect(() => event(fields)).toThrow()
  })

  it('replaces U+0000 in properties, which PostgreSQL cannot store', () => {
    expect(JSON.parse(event({ properties: { 'a\0': 'b\0c\0' } }).properties)).toEqual({ 'a\ufffd': 'b\ufffdc\ufffd' })
  })

  it('keeps properties of plain values only', () => {
    expect(event({ properties: { a: 1, b: 'x', c: false, d: null } }).properties).toBe('{"a":1,"b":"x","c":false}')
    expect(event({ properties: {} }).properties).toBe('')
    const widest = { '': 1, ['😀'.repeat(64)]: '😀'.repeat(256) }
    expect(JSON.parse(event({ properties: widest }).properties)).toEqual(widest)
    for (const properties of [[], 'x', { a: {} }, { a: 'x'.repeat(257) }, { ['k'.repeat(65)]: 1 }])
      expect(() => event({ properties })).toThrow('properties: ')
    const many = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`k${index}`, 1]))
    expect(() => event({ properties: many })).toThrow('properties: must have at most 20 keys')
  })

  it.each([
    { eventName: '9x' },
    { id: 'x'.repeat(129) },
    { generation: -1 },
    { generation: 1_000_001 },
    { value: 1e13 },
    { origin: 'pixel' },
  ])('is refused with %j', (fields) => {
    expect(() => event(fields)).toThrow()
  })
})

const readCost = (fields: object, zone = 'UTC') =>
  costReader('EUR')({ cost: 1, ...fields } as never, {
    ...jsonInput,
    localInstant: localInstantsOf(zone, storableTimes),
  })

it('the id of a cost is 32 digits of the SHA-256 over its time as the file has it and its dimensions, in their order', () => {
  const fields = { country: 'DE', campaignId: 'k', spentAt: '2026-11-20', subIds: { sub10: 'z', sub1: 'a' } }
  const dimensions = Object.entries({ campaignId: 'k', country: 'DE', sub1: 'a', sub10: 'z' })
  const expected = sha256(JSON.stringify(['2026-11-20T00:00:00.000', dimensions])).slice(0, 32)
  expect(readCost(fields)).toMatchObject({ id: expected, currency: 'EUR' })
  const others = [
    { spentAt: '2026-11-20 00:00' },
    { cost: 2 },
    { currency: 'USD', costBase: 3 },
    { updatedAt: '2020-01-01' },
  ]
  for (const other of others) expect([other, readCost({ ...fields, ...other }).id]).toEqual([other, expected])
  const berlin = readCost(fields, 'Europe/Berlin')
  expect([berlin.id, berlin.spentAt]).toEqual([expected, Date.UTC(2026, 10, 19, 23)])
  const own = [
    { campaignId: 'K' },
    { campaignId: null },
    { os: 'x' },
    { spentAt: '2026-11-20T00:00:00Z' },
    { id: 'own' },
  ]
  expect(new Set([expected, ...own.map((other) => readCost({ ...fields, ...other }).id)]).size).toBe(own.length + 1)
})

it('the cost 0, which takes a row back, needs no rate', () => {
  expect(readCost({ spentAt: '2026-11-20', cost: 0, currency: 'USD' })).toMatchObject({ currency: 'USD', costBase: 0n })
  const input = { ...jsonInput, values: [['cost:', '0']] } as const
  const read = (cost: object) => costReader('EUR')({ spentAt: '2026-11-20T00:00:00Z', ...cost }, input)
  expect(read({ cost: null }).cost).toBe(0n)
  expect(() => read({})).toThrow(/^cost: is required$/)
})

it.each([
  [{}, 'spentAt: is required'],
  [{ spentAt: '2026-11-20', cost: '' }, 'cost: is required'],
  [{ spentAt: '2026-11-20', clickId: 'c' }, 'clickId: is not a field of costs'],
])('a cost %o is rejected', (fields, reason) => {
  expect(() => readCost(fields)).toThrow(reason)
})

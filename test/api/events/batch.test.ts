import { describe, expect, it } from 'vitest'
import { propertyLimits } from '../../../schema/event.ts'
import { setPlanLimits } from '../../../src/accounts/plans.ts'
import { testNowMs, useTestApp } from '../../kit/app.ts'
import { newAccount, post, send, storedEvents } from './send.ts'

const api = useTestApp()

const noLimits = { eventsPerMinute: 10_000, identifierEventsPerMinute: 10_000 }
const json = 'application/json'
const ndjson = 'application/x-ndjson'

const postBatch = (key: string, payload: string | object, type = json, query = '') =>
  post(api.app, key, payload, { path: `/events/batch${query}`, type })

/** What happened to each item: the code of its error, or `accepted`. */
const codesOf = (results: { error?: string }[]) => results.map(({ error }) => error ?? 'accepted').join()

const event = (rest: object = {}) => ({ click_id: 'click', event_name: 'paid', ...rest })
const byVisitor = (visitor_id: string, rest: object = {}) => ({
  visitor_id,
  campaign_id: 'camp',
  event_name: 'paid',
  ...rest,
})

/** Every kind of item, with the response to the same single event. */
const mixed = [
  event({ event_id: 'new' }),
  event({ event_id: 'new' }),
  event({ event_id: 'before' }),
  event(),
  byVisitor('v1', { event_id: 'of-visitor' }),
  event({ event_name: '1st' }),
  event({ click_id: 'unknown', event_id: 'early' }),
  byVisitor('v1', { campaign_id: 'unknown' }),
  event({ value: 'x' }),
  { event_name: 'paid' },
]

describe('POST /events/batch', () => {
  it('gives every item the result of a single event, as JSON and as NDJSON', async () => {
    const [single, array, lines] = [await newAccount(api), await newAccount(api), await newAccount(api)]
    for (const { key } of [single, array, lines]) await send(api.app, key, event({ event_id: 'before' }))
    const expected = []
    for (const [index, body] of mixed.entries()) {
      const { requestId: _, ...result } = (await post(api.app, single.key, body)).json()
      expected.push({ index, ...result })
    }
    const asLines = `\n${mixed.map((item) => JSON.stringify(item)).join('\r\n\r\n')}\n`
    for (const response of [
      await postBatch(array.key, { events: mixed }),
      await postBatch(lines.key, asLines, ndjson),
    ]) {
      expect(response.statusCode).toBe(200)
      const { results, ...counts } = response.json()
      expect(results).toEqual(expected)
      expect(counts).toEqual({ stored: 3, deduplicated: 2, overCeiling: 0, rejected: 5 })
    }
    const anonymous = (id: string) => (id.includes('-7') ? 'generated' : id)
    const rowsOf = async ({ id }: { id: string }) =>
      (await storedEvents(api.stores, id)).map((row) => ({
        ...row,
        id: anonymous(row.id),
        earliness: 0,
        stored_at: '',
      }))
    expect(await rowsOf(array)).toEqual(await rowsOf(single))
    expect(await rowsOf(lines)).toEqual(await rowsOf(single))
  })

  it('rejects items that cannot be read, and stores the others', async () => {
    const { id, key } = await newAccount(api)
    const large = JSON.stringify(event({ event_id: 'large', padding: 'x'.repeat(65_536) }))
    const asLines = [JSON.stringify(event({ event_id: 'a' })), '{"event_name":', '[]', 'null', large].join('\n')
    const asJson = `{"events":[${JSON.stringify(event({ event_id: 'b' }))},7,[],null,${large}]}`
    for (const [body, type, unreadable] of [
      [asLines, ndjson, 'invalid_json'],
      [asJson, json, 'invalid_body'],
    ] as const) {
      const { results } = (await postBatch(key, body, type)).json()
      expect(codesOf(results)).toBe(`accepted,${unreadable},invalid_body,invalid_body,payload_too_large`)
    }
    expect((await storedEvents(api.stores, id)).map((row) => row.id)).toEqual(['a', 'b'])
  })

  it('removes dangerous keys from lines, as from JSON', async () => {
    const { id, key } = await newAccount(api)
    const line =
      '{"__proto__":{"click_id":"x"},"click_id":"click","event_name":"paid","event_id":"p","properties":{"a":1,"constructor":2}}'
    expect((await postBatch(key, line, ndjson)).json()).toMatchObject({ stored: 1 })
    expect(await storedEvents(api.stores, id)).toMatchObject([{ id: 'p', properties: '{"a":1}' }])
  })

  it('skips blank lines, also 4 million of them', async () => {
    const { id, key } = await newAccount(api)
    const line = (event_id: string) => JSON.stringify(event({ event_id }))
    const body = `\r\n${line('a')}\r\n \t\n${'\n'.repeat(4_190_000)}  ${line('b')}\nx\n${line('c')}`
    const { results } = (await postBatch(key, body, ndjson)).json()
    expect(results).toMatchObject([{ accepted: true }, { accepted: true }, { error: 'invalid_json' }, { index: 3 }])
    expect((await storedEvents(api.stores, id)).map((row) => row.id)).toEqual(['a', 'b', 'c'])
  })

  it('accepts 128,000 commas, colons and brackets outside texts and 64 nested levels, and rejects a body with more', async () => {
    const { id, key } = await newAccount(api)
    const list = `[${Array(101).fill('"[,:{"').join()}]`
    const good = JSON.stringify(event()).replace('}', `,"x":${list}}`)
    const marksOf = (json: string) => (json.replace(/"(\\.|[^"\\])*"/g, '').match(/[,:[\]{}]/g) ?? []).length
    const asJson = (rest: string) => `{"events":[${Array(1_000).fill(good).join()}],"rest":[${rest}]}`
    const commas = ','.repeat(128_000 - marksOf(asJson(''))).replaceAll(',', '0,')
    const nested = (levels: number) =>
      `{"events":[${JSON.stringify(event())}],"x":${'['.repeat(levels)}${']'.repeat(levels)}}`
    expect(marksOf(asJson(`${commas}0`))).toBe(128_000)
    for (const [body, type, expected] of [
      [asJson(`${commas}0`), json, 200],
      [asJson(`${commas}0,0`), json, 413],
      [nested(63), json, 200],
      [nested(64), json, 413],
      [`${JSON.stringify(event())}\n${'['.repeat(64)}\n${'['.repeat(64)}`, ndjson, 200],
      ['['.repeat(65), ndjson, 413],
      // A line that ends inside a text does not hide the lines behind it.
      [`"\n${`${'[],'.repeat(20_000)}\n`.repeat(3)}`, ndjson, 413],
    ] as const) {
      const response = await postBatch(key, body, type)
      expect([response.statusCode, response.json().error]).toEqual([
        expected,
        expected === 200 ? undefined : 'payload_too_large',
      ])
    }
    expect(await storedEvents(api.stores, id)).toHaveLength(1_002)
  })

  it('accepts 1 to 1,000 events and names the limit', async () => {
    const { id, key } = await newAccount(api)
    const many = Array.from({ length: 1_000 }, (_, n) => event({ event_id: `e${n}` }))
    for (const lines of ['\n \n', `${JSON.stringify(event())}\n`.repeat(1_001)]) {
      const response = await postBatch(key, lines, ndjson)
      expect([response.statusCode, response.json()]).toMatchObject([400, { error: 'invalid_events', param: 'events' }])
    }
    const tooLarge = await postBatch(key, ' '.repeat(4 * 1024 * 1024 + 1))
    expect([tooLarge.statusCode, tooLarge.json().message]).toEqual([413, 'The body is larger than 4096 KiB.'])
    expect(await storedEvents(api.stores, id)).toEqual([])
    expect((await postBatch(key, { events: many })).json()).toMatchObject({ stored: 1_000, rejected: 0 })
    expect(await storedEvents(api.stores, id)).toHaveLength(1_000)
    api.setNow(testNowMs + 60_000)
    expect((await postBatch(key, { events: many })).json()).toMatchObject({ stored: 0, deduplicated: 1_000 })
    api.setNow(testNowMs)
  })
})

describe('the limits of a batch', () => {
  it('count every event against the key: a batch above the rest of the minute costs one request and stores nothing', async () => {
    await setPlanLimits(api.stores.postgres, 'pro', { eventsPerMinute: 10, identifierEventsPerMinute: 100 })
    const { id, key } = await newAccount(api, { plan: 'pro' })
    const events = (count: number) => ({ events: Array.from({ length: count }, () => event()) })
    const first = await postBatch(key, events(6))
    expect([first.statusCode, first.headers['x-ratelimit-remaining']]).toEqual([200, '4'])
    const second = await postBatch(key, events(5))
    expect([second.statusCode, second.json().error]).toEqual([429, 'rate_limited'])
    expect(second.headers).toMatchObject({
      'retry-after': '60',
      'x-ratelimit-limit': '10',
      'x-ratelimit-remaining': '3',
    })
    expect(await storedEvents(api.stores, id)).toHaveLength(6)
    const third = await postBatch(key, events(3))
    expect([third.statusCode, third.headers['x-ratelimit-remaining']]).toEqual([200, '0'])
    expect((await postBatch(key, events(1))).statusCode).toBe(429)
    api.setNow(testNowMs + 60_000)
    const never = await postBatch(key, events(11))
    expect([never.statusCode, never.json().error]).toEqual([400, 'invalid_events'])
    expect((await postBatch(key, events(9))).statusCode).toBe(200)
    api.setNow(testNowMs)
  })

  it('reject the events of a click or visitor above its limit, and accept the others', async () => {
    await setPlanLimits(api.stores.postgres, 'pro', { eventsPerMinute: 1_000, identifierEventsPerMinute: 3 })
    const { key } = await newAccount(api, { plan: 'pro' })
    await send(api.app, key, event())
    const events = [...Array.from({ length: 4 }, () => event()), byVisitor('v9'), event({ value: 'x' }), event()]
    const { results, ...counts } = (await postBatch(key, { events })).json()
    expect(counts).toEqual({ stored: 3, deduplicated: 0, overCeiling: 0, rejected: 4 })
    const [ok, limited] = ['accepted', 'rate_limited']
    expect(codesOf(results)).toBe([ok, ok, limited, limited, ok, 'invalid_value', limited].join())
    expect(results[2]).toMatchObject({ retryAfter: 60 })
  })
})

describe('dry_run', () => {
  const sent = {
    ...event({ event_id: 'dry', value: 2e12, currency: 'usd', timestamp: '2020-01-01', eventId: 'x' }),
    properties: { plan: 'yearly', nested: {}, long: 'x'.repeat(257) },
  }
  const row = {
    id: 'dry',
    origin: 'server',
    generation: 0,
    eventName: 'paid',
    clickId: 'click',
    visitorId: null,
    campaignId: 'camp',
    userId: 'owner',
    value: 1e12,
    currency: null,
    properties: { plan: 'yearly' },
    occurredAt: new Date(testNowMs - 30 * 86_400_000).toISOString(),
    receivedAt: new Date(testNowMs).toISOString(),
  }
  const notes = [
    ['value_clamped', 'value'],
    ['currency_ignored', 'currency'],
    ['property_dropped', 'properties.nested'],
    ['property_dropped', 'properties.long'],
    ['timestamp_clamped', 'timestamp'],
    ['field_ignored', 'eventId'],
  ]

  async function dryRun(key: string, body: object) {
    return (await post(api.app, key, body, { path: '/events?dry_run=true' })).json()
  }

  it('returns the event that would be stored with a note on every change, and stores nothing', async () => {
    const { id, key } = await newAccount(api)
    for (let time = 0; time < 2; time++) {
      const single = await dryRun(key, sent)
      expect(single).toMatchObject({ accepted: true, event: row })
      expect(single.notes.map(({ code, field }: { code: string; field: string }) => [code, field])).toEqual(notes)
    }
    const { results, ...counts } = (
      await postBatch(key, { events: [sent, sent, event(), event({ value: 'x' })] }, json, '?dry_run=true')
    ).json()
    expect(counts).toEqual({ stored: 2, deduplicated: 1, overCeiling: 0, rejected: 1 })
    expect(results[0]).toMatchObject({ index: 0, accepted: true, event: row })
    expect(results[1]).toMatchObject({ deduplicated: true, event: null })
    expect(results[2]).toMatchObject({ event: { id: null, occurredAt: row.receivedAt }, notes: [] })
    expect(results[3]).toMatchObject({ error: 'invalid_value' })
    expect(results[3]).not.toHaveProperty('event')
    expect(await storedEvents(api.stores, id)).toEqual([])
    expect(await send(api.app, key, sent)).toEqual([200, { accepted: true }])
    expect(await dryRun(key, sent)).toMatchObject({ accepted: true, deduplicated: true, event: null })
    expect(await dryRun(key, event({ click_id: 'unknown' }))).toMatchObject({ error: 'click_not_found' })
  })

  it('is not needed to see that values change: a header of an event and results of a batch say so', async () => {
    const { key } = await newAccount(api)
    const live = await post(api.app, key, sent)
    expect(live.json()).toEqual({ accepted: true })
    const codes = [...new Set(notes.map(([code]) => code))].join(', ')
    expect(live.headers['x-event-notes']).toBe(codes)
    expect((await post(api.app, key, event())).headers).not.toHaveProperty('x-event-notes')
    const events = [sent, event(), event({ value: 'x', y: 1 }), event({ value: 2e12, event_id: 'clamped' })]
    const { results } = (await postBatch(key, { events })).json()
    const { notes: explained } = await dryRun(key, sent)
    expect(results.slice(0, 2)).toEqual([
      { index: 0, accepted: true, deduplicated: true, notes: explained },
      { index: 1, accepted: true },
    ])
    expect(results[2]).not.toHaveProperty('notes')
    expect(results[3]).toMatchObject({ accepted: true, notes: [{ code: 'value_clamped', field: 'value' }] })
  })

  it('notes each number that loses digits, and each text with U+0000 or an unpaired surrogate', async () => {
    const { id, key } = await newAccount(api)
    const inexact =
      '9007199254740993 -12345678901234567890 0.12345678901234567 1.2345678901234567e-7 1e-400 -4.5678e-0322'.split(' ')
    const exact =
      '9007199254740992 0.1000000000000000000000 1.50e+21 0e999 1E5 1.5e+0300 0.5e-5 -0.000000000000000000001'.split(
        ' ',
      )
    const numbers = [...inexact, ...exact].map((number, index) => `"n${index}": ${number}`).join()
    const text = `{"event_name":"a","event_id":"digits","click_id":"click","value":1234567890.12345678,"x":[0.12345678901234567],
      "properties":{${numbers},"nul":"a\\u0000b","half":"\\ud800","text":"9007199254740993"}}`
    const notes = [
      ['digits_lost', 'value'],
      ...inexact.map((_, index) => ['digits_lost', `properties.n${index}`]),
      ['characters_replaced', 'properties.nul'],
      ['characters_replaced', 'properties.half'],
      ['field_ignored', 'x'],
    ]
    const properties = {
      ...Object.fromEntries([...inexact, ...exact].map((number, index) => [`n${index}`, Number(number)])),
      nul: 'a\ufffdb',
      half: '\ufffd',
      text: '9007199254740993',
    }
    for (const [body, type] of [
      [`{"events":[${text}]}`, json],
      [text.replaceAll('\n', ' '), ndjson],
    ] as const) {
      const { results } = (await postBatch(key, body, type, '?dry_run=true')).json()
      expect(results[0].notes.map((note: { code: string; field: string }) => [note.code, note.field])).toEqual(notes)
      expect(results[0].event).toMatchObject({ value: 1234567890.1234567, properties })
    }
    expect((await post(api.app, key, text)).headers['x-event-notes']).toBe(
      'digits_lost, characters_replaced, field_ignored',
    )
    const [row] = await storedEvents(api.stores, id)
    expect(JSON.parse(row?.properties ?? '')).toEqual(properties)
  })

  it('has one note for a number with lost digits that is clamped or dropped, and measures the numbers that are stored', async () => {
    const { key } = await newAccount(api)
    const numbers = Array.from({ length: 11 }, (_, n) => `"n${n}":1234567890123456780${n % 9}`).join()
    const stored = (text: string) => JSON.stringify(JSON.parse(text)).length
    const filled = (bytes: number) => {
      const size = bytes - stored(`{${numbers},"filler":""}`)
      return `{${numbers},"filler":"${'x'.repeat(size)}"}`
    }
    const long = 'k'.repeat(propertyLimits.keyLengthMax + 1)
    const sent = (fields: string) => `{"event_name":"a","click_id":"click",${fields}}`
    const withFiller = (size: number) => sent(`"properties":${filled(8_192)},"x":"${'x'.repeat(size)}"`)
    const large = (bytes: number) => withFiller(bytes - stored(withFiller(0)))
    const digits = Array.from({ length: 11 }, (_, n) => ['digits_lost', `properties.n${n}`])
    const filler = ['property_dropped', 'properties.filler']
    const events = [
      [sent('"value":12345678901234567890'), [['value_clamped', 'value']]],
      [sent(`"properties":{"${long}":0.12345678901234567}`), [['property_dropped', `properties.${long}`]]],
      [sent(`"properties":${filled(8_192)}`), [...digits, filler]],
      [sent(`"properties":${filled(8_193)}`), [['properties_dropped', 'properties']]],
      [large(65_536), [...digits, filler, ['field_ignored', 'x']]],
      [large(65_537), 'payload_too_large'],
    ] as const
    const body = `{"events":[${events.map(([text]) => text).join()}]}`
    const { results } = (await postBatch(key, body, json, '?dry_run=true')).json()
    const told = results.map(({ notes, error }: { notes?: { code: string; field: string }[]; error?: string }) =>
      notes ? notes.map(({ code, field }) => [code, field]) : error,
    )
    expect(told).toEqual(events.map(([, expected]) => expected))
  })

  it('has at most 20 notes per event and the number of the others', async () => {
    const { key } = await newAccount(api)
    const unknown = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`x${n}`, 1]))
    const sent = [20, 21, 5_000].map((count) => ({ ...event(), ...unknown(count) }))
    const response = await postBatch(key, { events: sent }, json, '?dry_run=true')
    const notes = response.json().results.map((result: { notes: object[] }) => result.notes)
    expect(notes.map(({ length }: object[]) => length)).toEqual([20, 21, 21])
    expect(notes[0][19]).toMatchObject({ code: 'field_ignored', field: 'x19' })
    expect(notes[2][20]).toEqual({
      code: 'notes_omitted',
      field: 'x20',
      message: '4980 notes are omitted; this field is the first of them.',
    })
    expect(response.body.length).toBeLessThan(20_000)
  })

  it('reports the fair-use ceiling and reserves nothing below it', async () => {
    await setPlanLimits(api.stores.postgres, 'pro', { ...noLimits, clickAllowance: 1 })
    const { id, key } = await newAccount(api, { plan: 'pro' })
    const events = Array.from({ length: 21 }, () => event())
    for (let time = 0; time < 2; time++) {
      const { results, ...counts } = (await postBatch(key, { events }, json, '?dry_run=true')).json()
      expect(counts).toMatchObject({ stored: 20, overCeiling: 1 })
      expect(results[20]).toMatchObject({ recorded: false, event: null })
    }
    expect((await postBatch(key, { events })).json()).toMatchObject({ stored: 20, overCeiling: 1 })
    expect(await storedEvents(api.stores, id)).toHaveLength(20)
  })
})

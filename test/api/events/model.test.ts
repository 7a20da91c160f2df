import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { ConversionPage } from '../../../schema/conversion.ts'
import { StatsOverview } from '../../../schema/stats.ts'
import { setPlanLimits } from '../../../src/accounts/plans.ts'
import { testNowMs, useTestApp } from '../../kit/app.ts'
import { randomCases } from '../../kit/randomCases.ts'
import { storeClicks, storeMetadata } from '../../kit/rows.ts'
import { type EventRow, type Sent, send, storedEvents } from './send.ts'

const api = useTestApp()
let key: string

beforeAll(async () => {
  await setPlanLimits(api.stores.postgres, 'scale', {
    eventsPerMinute: 10_000_000,
    identifierEventsPerMinute: 10_000_000,
  })
  key = await api.account('acme')
  await api.account('other')
  await storeMetadata(api.stores, 'campaigns', 'acme', [{ id: 'camp', user_id: 'owner' }, { id: 'camp2' }])
  await storeMetadata(api.stores, 'campaigns', 'other', [{ id: 'theirs' }])
  const clicked_at = '2026-11-20 10:00:00.000'
  await storeClicks(api.stores, 'acme', [
    { id: 'click', clicked_at, campaign_id: 'camp' },
    { id: 'stray', clicked_at, campaign_id: 'gone' },
    { id: 'aimless', clicked_at, campaign_id: '' },
    { id: 'astray', clicked_at, campaign_id: 'theirs' },
  ])
  await storeClicks(api.stores, 'other', [{ id: 'their-click', clicked_at, campaign_id: 'theirs' }])
})

/** A body as text, and nothing else, is what callers send. `json` is a piece of it that JSON.stringify can't write. */
const json = (text: string) => ({ text })
type Piece = ReturnType<typeof json>
const write = (fields: [string, Piece][]) =>
  `{${fields.map(([name, { text }]) => `${JSON.stringify(name)}:${text}`).join(',')}}`
const piece = (value: unknown) => json(JSON.stringify(value))

const oneOf = (...values: unknown[]) => fc.constantFrom(...values.map(piece))

const hostile: fc.Arbitrary<Piece> = fc.oneof(
  fc.constantFrom(
    json('1e999'),
    json('-1e999'),
    json('-0'),
    json('"\\ud800"'),
    json('"\\u0000"'),
    json('{"__proto__":{"a":1}}'),
    json('{"constructor":{"prototype":{"a":1}}}'),
    json('{"toJSON":1,"__proto__":null,"a":true}'),
    json(`${'['.repeat(9_000)}${']'.repeat(9_000)}`),
    json(`${'{"a":'.repeat(3_000)}1${'}'.repeat(3_000)}`),
    json(`"${'x'.repeat(60_000)}"`),
    json(`"${'é'.repeat(20_000)}"`),
  ),
  oneOf(null, true, false, 0, 5, -1.5, '', ' ', 'ä', 'x'.repeat(64), 'x'.repeat(65), 'x'.repeat(129), [], {}, [
    'click',
  ]),
  fc.jsonValue().map(piece),
)

const property: fc.Arbitrary<Piece> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }).map(piece),
  fc.double().map((value) => piece(value)),
  fc.boolean().map(piece),
  fc.constantFrom('x'.repeat(256), 'x'.repeat(257), '😀'.repeat(256), 'x'.repeat(4_000)).map(piece),
  hostile,
)

const longKeys = [64, 65].flatMap((length) => ['k'.repeat(length), '😀'.repeat(length)])

const properties: fc.Arbitrary<Piece> = fc
  .array(
    fc.tuple(
      fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom(...longKeys, 'constructor', 'toString', 'hasOwnProperty')),
      property,
    ),
    { maxLength: 25 },
  )
  .map((fields) => json(write(fields)))

const timestamp: fc.Arbitrary<Piece> = fc.oneof(
  fc
    .date({ min: new Date('0001-01-01'), max: new Date('9999-01-01'), noInvalidDate: true })
    .map((date) => piece(date.toISOString())),
  fc.integer({ min: -40 * 86_400, max: 86_400 }).map((s) => piece(new Date(testNowMs + s * 1000).toISOString())),
  oneOf('2026-11-20', '2026-11-20T10:30+05:30', '2026-02-30', 'yesterday', '2026-11-20T10:30:00.5-0800'),
)

/** Marks where each event gets its own id. */
const ownId = json('"OWN"')

/** Fields with the values that they usually have, now and then another one. */
const field = (name: string, usual: fc.Arbitrary<Piece>, weight = 12) =>
  fc.oneof(
    { weight, arbitrary: usual.map((value): [string, Piece][] => [[name, value]]) },
    { weight: 6, arbitrary: fc.constant<[string, Piece][]>([]) },
    { weight: 1, arbitrary: hostile.map((value): [string, Piece][] => [[name, value]]) },
  )

const body: fc.Arbitrary<[string, Piece][]> = fc
  .tuple(
    field('event_name', oneOf('paid', 'x'.repeat(64), 'A_1'), 60),
    field('click_id', oneOf(...Array(12).fill('click'), 'A_b.c:d-e', 'their-click', 'stray', 'aimless', 'astray'), 16),
    field('visitor_id', oneOf('v1', 'v:2')),
    field('campaign_id', oneOf('camp', 'camp2', 'theirs', 'nope')),
    field('value', fc.oneof(fc.double().map(piece), oneOf(0, -1.5, 1e12, 1.1e12, -1e300, 5e-324))),
    field('currency', oneOf('USD', 'EUR', 'usd', 'ZZZ')),
    field('properties', properties),
    field('event_id', fc.constant(ownId), 40),
    field('timestamp', timestamp),
    field('anything_else', hostile, 1),
  )
  .chain((fields) => fc.shuffledSubarray(fields.flat(), { minLength: fields.flat().length }))

/** What the rules say about a body: the response, and the row when there is one. */
interface Verdict {
  response: Sent
  row?: Partial<EventRow>
}

/** The rules once more, as plainly as they can be said. */
function judge(text: string): Verdict {
  const refuse = (error: string, status = 400): Verdict => ({ response: [status, { error }] })
  if (Buffer.byteLength(text) > 64 * 1024) return refuse('payload_too_large', 413)
  const given = JSON.parse(text)
  const at = (name: string) => (Object.hasOwn(given, name) && given[name] !== null ? given[name] : undefined)
  const isId = (value: unknown, most = 64) =>
    typeof value === 'string' && /^[\w.:-]+$/.test(value) && value.length <= most

  const name = at('event_name')
  if (typeof name !== 'string' || !/^[a-z]\w*$/i.test(name) || name.length > 64) return refuse('invalid_event_name')
  const [click, visitor, campaign] = [at('click_id'), at('visitor_id'), at('campaign_id')]
  if (click !== undefined && !isId(click)) return refuse('invalid_click_id')
  if (visitor !== undefined && !isId(visitor)) return refuse('invalid_visitor_id')
  if (click === undefined && visitor === undefined) return refuse('missing_identifier')
  if (click === undefined && !isId(campaign)) return refuse('invalid_campaign_id')

  const value = at('value')
  if (value !== undefined && typeof value !== 'number') return refuse('invalid_value')
  const id = at('event_id')
  if (id !== undefined && !isId(id, 128)) return refuse('invalid_event_id')
  const time = at('timestamp')
  const timeMs = typeof time === 'string' ? momentOf(time) : Number.NaN
  if (time !== undefined && Number.isNaN(timeMs)) return refuse('invalid_timestamp')

  const owners: Record<string, string> = { camp: 'owner', camp2: 'acme' }
  const campaignId = click === undefined ? campaign : click === 'click' ? 'camp' : undefined
  if (!Object.hasOwn(owners, campaignId))
    return refuse(click === undefined ? 'campaign_not_found' : 'click_not_found', 404)
  return {
    response: [200, { accepted: true }],
    row: {
      id,
      origin: 'server',
      generation: 0,
      event_name: name,
      click_id: click ?? '',
      visitor_id: visitor ?? '',
      campaign_id: campaignId,
      user_id: owners[campaignId] ?? '',
      value: value === undefined ? null : Math.max(-1e12, Math.min(1e12, value)) + 0,
      currency: ['USD', 'EUR'].includes(at('currency')) ? at('currency') : '',
      properties: propertiesOf(at('properties')),
      occurredAtMs:
        time === undefined
          ? testNowMs
          : Math.max(testNowMs - 30 * 86_400_000, Math.min(testNowMs + 5 * 60_000, timeMs)),
      receivedAtMs: testNowMs,
    },
  }
}

/** The platform's own reading of the few forms that are sent here. */
function momentOf(text: string): number {
  if (!/^\d{4}-\d\d-\d\d(T.*)?$/.test(text) || text === '2026-02-30') return Number.NaN
  return Date.parse(text.replace(/([+-]\d\d)(\d\d)$/, '$1:$2'))
}

function propertiesOf(given: unknown): string {
  if (given === null || typeof given !== 'object' || Array.isArray(given)) return ''
  let size = Number.POSITIVE_INFINITY
  try {
    size = Buffer.byteLength(JSON.stringify(withoutTraps(given)))
  } catch {
    // Too deep to be written, hence above 8 KiB: none of those sent here is that deep and smaller.
  }
  if (size > 8_192) return ''
  const valid = Object.entries(given).filter(([name, value]) => {
    if (name === '__proto__' || name === 'constructor' || Array.from(name).length > 64) return false
    if (typeof value === 'string') return Array.from(value).length <= 256
    return typeof value === 'boolean' || (typeof value === 'number' && Math.abs(value) < Number.POSITIVE_INFINITY)
  })
  const kept = Object.fromEntries(valid.slice(0, 20))
  return valid.length === 0 ? '' : Buffer.from(JSON.stringify(kept)).toString()
}

/** What the parser of bodies takes out, wherever it lies, counts for nothing: ways to reach into a prototype. */
function withoutTraps(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map(withoutTraps)
  const isTrap = ([name, part]: [string, unknown]) =>
    name === '__proto__' ||
    (name === 'constructor' && typeof part === 'object' && part !== null && Object.hasOwn(part, 'prototype'))
  const kept = Object.entries(value).filter((field) => !isTrap(field))
  return Object.fromEntries(kept.map(([name, part]) => [name, withoutTraps(part)]))
}

describe('any body', () => {
  it('gets the response and is stored as the rules say; none gives a 5xx', async () => {
    let sent = 0
    let accepted = 0
    await fc.assert(
      fc.asyncProperty(fc.array(body, { minLength: 1, maxLength: 40 }), async (bodies) => {
        const texts = bodies.map((fields) => write(fields).replace('"OWN"', () => `"event-${sent++}"`))
        const verdicts = texts.map(judge)
        const responses = await Promise.all(texts.map((text) => send(api.app, key, text)))
        expect(responses).toEqual(verdicts.map(({ response }) => response))

        const stored = await storedEvents(api.stores, 'acme')
        accepted += verdicts.filter(({ row }) => row).length
        expect(stored).toHaveLength(accepted)
        const rows = new Map(stored.map((row) => [row.id, row]))
        for (const { row } of verdicts) {
          if (row?.id) expect(forms(rows.get(row.id))).toEqual(forms(row))
        }
      }),
      { numRuns: randomCases(35) },
    )
    expect(sent).toBeGreaterThan(100)
    expect(accepted).toBeGreaterThan(50)
  })

  it('changes no conversion and no number of stats', async () => {
    const { totals } = await api.read('/stats/overview?days=30', key, StatsOverview)
    expect(totals).toMatchObject({ clicks: 4, conversions: 0, revenue: 0, pendingConversions: 0, cost: 0 })
    expect((await api.read('/conversions?include_test_mode=true', key, ConversionPage)).data).toEqual([])
  })
})

/** U+0000 and half surrogate pairs have become U+FFFD in the store. */
function forms(row: Partial<EventRow> | undefined): unknown {
  return row && { ...row, properties: row.properties && JSON.parse(row.properties, wellFormed) }
}

function wellFormed(_name: string, value: unknown): unknown {
  const text = (part: string) => Buffer.from(part).toString().replaceAll('\0', '\ufffd')
  if (typeof value === 'string') return text(value)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [text(name), part]))
}

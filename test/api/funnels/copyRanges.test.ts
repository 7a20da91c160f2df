import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { duplicateWindowMs } from '../../../schema/event.ts'
import { copyRangesOf, type EventPart, eventPartsSql } from '../../../src/api/funnels/copyRanges.ts'
import { funnelSettings } from '../../../src/api/funnels/storedEvents.ts'
import type { Range } from '../../../src/query/timeRange.ts'
import { selectRows } from '../../../src/stores/clickhouse/select.ts'
import { ch } from '../../../src/stores/clickhouse/sql.ts'
import { openTestApp, type TestApp } from '../../kit/app.ts'
import { randomCases } from '../../kit/randomCases.ts'
import { startMerges, stopMerges, storeEvents } from '../../kit/rows.ts'

const day = duplicateWindowMs

interface Event {
  part: string
  origin: string
  occurredMs: number
  receivedMs: number
  storedMs: number
}

/** A moment, often one at the limit of a window. */
const moment = fc
  .tuple(fc.integer({ min: 0, max: 90 }), fc.constantFrom(-1, 0, 0, 1, 3_600_000))
  .map(([days, ms]) => Date.UTC(2026, 8, 1) + days * day + ms)
const place = {
  part: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
  origin: fc.constantFrom('server', 'server', 'browser'),
}
/** Events of any times, as an import may store them. */
const anyEvents = fc.array(fc.record({ ...place, occurredMs: moment, receivedMs: moment, storedMs: moment }), {
  maxLength: 14,
})
/** Events that are received and stored at most an hour after they occurred, or a little more. */
const delay = fc.constantFrom(-1, 0, 0, 1, 60_000, 3_599_998, 3_599_999, 3_600_000)
const promptEvents = fc.array(
  fc
    .record({ ...place, occurredMs: moment, receivedAfterMs: delay, storedAfterMs: delay })
    .map(({ receivedAfterMs, storedAfterMs, ...event }) => ({
      ...event,
      receivedMs: event.occurredMs + receivedAfterMs,
      storedMs: event.occurredMs + storedAfterMs,
    })),
  { maxLength: 8 },
)
const events = fc.oneof(anyEvents, promptEvents)

/** The rows of `eventPartsSql`. */
function partsOf(given: readonly Event[]): EventPart[] {
  const groups = new Map<string, Event[]>()
  for (const event of given) {
    const key = [event.part, event.origin, new Date(event.receivedMs).toISOString().slice(0, 7)].join(' ')
    groups.set(key, [...(groups.get(key) ?? []), event])
  }
  return [...groups.values()].map((group) => {
    const received = group.map(({ receivedMs }) => receivedMs)
    const stored = group.map(({ storedMs }) => storedMs)
    const receivedAfter = group.map(({ receivedMs, occurredMs }) => receivedMs - occurredMs)
    const storedAfter = group.map(({ storedMs, occurredMs }) => storedMs - occurredMs)
    return {
      ...{ part: group[0]?.part ?? '', origin: group[0]?.origin ?? '', withoutVisitor: 0 },
      ...{ firstReceivedMs: Math.min(...received), lastReceivedMs: Math.max(...received) },
      ...{ firstStoredMs: Math.min(...stored), lastStoredMs: Math.max(...stored) },
      ...{ minReceivedAfterMs: Math.min(...receivedAfter), maxReceivedAfterMs: Math.max(...receivedAfter) },
      ...{ minStoredAfterMs: Math.min(...storedAfter), maxStoredAfterMs: Math.max(...storedAfter) },
    }
  })
}

/** Events of a part that were received and stored when they occurred. */
const received = (part: string, ...times: number[]): Event[] =>
  times.map((atMs) => ({ part, origin: 'server', occurredMs: atMs, receivedMs: atMs, storedMs: atMs }))

const covers = (ranges: readonly Range[], atMs: number) =>
  ranges.some(({ fromMs, untilMs }) => atMs >= fromMs && atMs < untilMs)

describe('the ranges of copies', () => {
  it('contain the events that were received or stored within 24 hours of an event in another part', () => {
    const isNear = (one: Event, other: Event) =>
      other.part !== one.part &&
      other.origin === one.origin &&
      (Math.abs(other.receivedMs - one.receivedMs) <= day || Math.abs(other.storedMs - one.storedMs) <= day)
    fc.assert(
      fc.property(events, (given) => {
        const { occurred, accepted } = copyRangesOf(partsOf(given))
        const isFound = ({ occurredMs, receivedMs, storedMs }: Event) =>
          covers(occurred, occurredMs) &&
          (!accepted || covers(accepted.received, receivedMs) || covers(accepted.stored, storedMs))
        const missing = given.filter((one) => given.some((other) => isNear(one, other)) && !isFound(one))
        expect(missing).toEqual([])
      }),
      { numRuns: randomCases(4_000), endOnFailure: true },
    )
  })

  it('contain no time that is further than 24 hours from all parts but one', () => {
    fc.assert(
      fc.property(anyEvents, (given) => {
        const parts = partsOf(given)
        const isNear = (part: EventPart, atMs: number) =>
          atMs >= part.firstReceivedMs - day && atMs <= part.lastReceivedMs + day
        for (const { fromMs, untilMs } of copyRangesOf(parts).accepted?.received ?? []) {
          for (const atMs of [fromMs, untilMs - 1]) {
            const near = parts.filter((part) => isNear(part, atMs))
            const ofOneOrigin = (origin: string) =>
              new Set(near.filter((part) => part.origin === origin).map(({ part }) => part)).size
            expect(Math.max(ofOneOrigin('server'), ofOneOrigin('browser'))).toBeGreaterThan(1)
          }
        }
      }),
      { numRuns: randomCases(2_000), endOnFailure: true },
    )
  })

  it('are around the limits of parts that follow each other, to the millisecond', () => {
    const ranges = (...given: Event[]) => {
      const { occurred, accepted } = copyRangesOf(partsOf(given))
      expect(accepted).toBeUndefined()
      return occurred
    }
    expect(
      ranges(...received('b', 10 * day, 20 * day), ...received('a', 0, 10 * day), ...received('c', 20 * day + 5)),
    ).toEqual([
      { fromMs: 9 * day, untilMs: 11 * day + 1 },
      { fromMs: 19 * day + 5, untilMs: 21 * day + 1 },
    ])
    expect(ranges(...received('a', 0, 10 * day))).toEqual([])
    expect(ranges(...received('a', 0), ...received('b', 2 * day))).toEqual([{ fromMs: day, untilMs: day + 1 }])
    expect(ranges(...received('a', 0), ...received('b', 2 * day + 1))).toEqual([])
  })

  it('are wider for the time of an event if some were received late, and then the time of acceptance counts too', () => {
    const at = (part: string, occurredDay: number, acceptedDay: number): Event => ({
      ...{
        part,
        origin: 'server',
        occurredMs: occurredDay * day,
        receivedMs: acceptedDay * day,
        storedMs: acceptedDay * day,
      },
    })
    const near = [...received('a', 0, 10 * day), ...received('b', 10 * day, 20 * day)]
    const range = { fromMs: 9 * day, untilMs: 11 * day + 1 }
    expect(copyRangesOf(partsOf([...near, at('b', 12, 15), at('b', 13, 12.5)]))).toEqual({
      occurred: [{ fromMs: 6 * day, untilMs: 11.5 * day + 1 }],
      accepted: { received: [range], stored: [range] },
    })
  })

  it('are one range if there are more than 16', () => {
    const parts = Array.from({ length: 18 }, (_, part) => received(`${part}`, 10 * part * day, 10 * (part + 1) * day))
    expect(copyRangesOf(partsOf(parts.flat())).occurred).toEqual([{ fromMs: 9 * day, untilMs: 171 * day + 1 }])
    expect(copyRangesOf(partsOf(parts.slice(0, 17).flat())).occurred).toHaveLength(16)
    const late = { part: '0', origin: 'server', occurredMs: 0, receivedMs: 5 * day, storedMs: 5 * day }
    const whole = { fromMs: 9 * day, untilMs: 171 * day + 1 }
    expect(copyRangesOf(partsOf([...parts.flat(), late]))).toEqual({
      occurred: [{ fromMs: 4 * day, untilMs: 171 * day + 1 }],
      accepted: { received: [whole], stored: [whole] },
    })
  })
})

describe('the parts of an account', () => {
  let api: TestApp
  beforeAll(async () => {
    api = await openTestApp()
  })
  afterAll(() => api?.close())

  it('are read from the projection, with the times and visitors of the account alone', async () => {
    await stopMerges(api.stores, 'pixel_events')
    try {
      const at = (date: string) => `2026-${date} 10:00:00.000`
      const ms = (date: string) => Date.parse(`2026-${date}T10:00:00Z`)
      const event = (id: string, receivedOn: string, storedOn: string, more = {}) => ({
        ...{
          id,
          occurred_at: `2026-11-0${id} 10:00:00.00${id}`,
          received_at: at(receivedOn),
          stored_at: at(storedOn),
          ...more,
        },
      })
      const occurredMs = (id: number) => Date.parse(`2026-11-0${id}T10:00:00.00${id}Z`)
      await storeEvents(api.stores, 'acme', [
        event('1', '11-03', '11-08', { visitor_id: 'v' }),
        event('2', '11-02', '11-09'),
        event('3', '10-31', '11-08'),
        event('4', '11-04', '11-07', { origin: 'browser' }),
      ])
      await storeEvents(api.stores, 'acme', [event('5', '11-05', '11-06', { visitor_id: 'v' })])
      await storeEvents(api.stores, 'other', [event('6', '11-10', '11-10')])
      const { clickhouse } = api.stores
      const query = eventPartsSql('acme')
      const settings = { ...funnelSettings }
      const found = await selectRows<EventPart>(clickhouse, query, { label: 'test', settings })
      if (!clickhouse.cluster) {
        const expected = [
          [['browser', '11-04', '11-04', '11-07', '11-07', 1], [4], [4]],
          [['server', '10-31', '10-31', '11-08', '11-08', 1], [3], [3]],
          [
            ['server', '11-02', '11-03', '11-08', '11-09', 1],
            [2, 1],
            [1, 2],
          ],
          [['server', '11-05', '11-05', '11-06', '11-06', 0], [5], [5]],
        ] as const
        const delays = (days: readonly string[], ids: readonly number[]) =>
          ids.map((id, index) => ms(days[index] as string) - occurredMs(id))
        expect(
          found
            .toSorted((a, b) => a.origin.localeCompare(b.origin) || a.firstReceivedMs - b.firstReceivedMs)
            .map(({ part: _, ...rest }) => rest),
        ).toEqual(
          expected.map(
            ([
              [origin, firstReceived, lastReceived, firstStored, lastStored, withoutVisitor],
              byReceipt,
              byStoring,
            ]) => {
              const receivedAfter = delays([firstReceived, lastReceived], byReceipt)
              const storedAfter = delays([firstStored, lastStored], byStoring)
              return {
                ...{ origin, firstReceivedMs: ms(firstReceived), lastReceivedMs: ms(lastReceived) },
                ...{ firstStoredMs: ms(firstStored), lastStoredMs: ms(lastStored), withoutVisitor },
                ...{ minReceivedAfterMs: Math.min(...receivedAfter), maxReceivedAfterMs: Math.max(...receivedAfter) },
                ...{ minStoredAfterMs: Math.min(...storedAfter), maxStoredAfterMs: Math.max(...storedAfter) },
              }
            },
          ),
        )
        expect(new Set(found.map(({ part }) => part)).size).toBe(2)
      }
      const plan = await selectRows<{ explain: string }>(clickhouse, ch`EXPLAIN distributed = 1 ${query}`, {
        ...{ label: 'test', settings },
      })
      const fromProjection = plan.filter(({ explain }) => explain.includes('ReadFromMergeTree (by_month)'))
      expect(fromProjection).toHaveLength(clickhouse.cluster?.nodes.length ?? 1)
    } finally {
      await startMerges(api.stores, 'pixel_events')
    }
  })
})

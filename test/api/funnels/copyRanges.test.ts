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
  receivedMs: number
  storedMs: number
}

/** A moment, often one at the limit of a window. */
const moment = fc
  .tuple(fc.integer({ min: 0, max: 90 }), fc.constantFrom(-1, 0, 0, 1, 3_600_000))
  .map(([days, ms]) => Date.UTC(2026, 8, 1) + days * day + ms)
const events = fc.array(
  fc.record({
    part: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
    origin: fc.constantFrom('server', 'server', 'browser'),
    receivedMs: moment,
    storedMs: moment,
  }),
  { maxLength: 14 },
)

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
    return {
      ...{ part: group[0]?.part ?? '', origin: group[0]?.origin ?? '', withoutVisitor: 0 },
      ...{ firstReceivedMs: Math.min(...received), lastReceivedMs: Math.max(...received) },
      ...{ firstStoredMs: Math.min(...stored), lastStoredMs: Math.max(...stored) },
    }
  })
}

/** Events of a part that were stored when they were received. */
const received = (part: string, ...times: number[]): Event[] =>
  times.map((receivedMs) => ({ part, origin: 'server', receivedMs, storedMs: receivedMs }))

const covers = (ranges: readonly Range[], atMs: number) =>
  ranges.some(({ fromMs, untilMs }) => atMs >= fromMs && atMs < untilMs)

describe('the ranges of copies', () => {
  it('contain the events that were received or stored within 24 hours of an event in another part', () => {
    fc.assert(
      fc.property(events, (given) => {
        const ranges = copyRangesOf(partsOf(given))
        for (const [field, found] of [['receivedMs', ranges.received] as const, ['storedMs', ranges.stored] as const]) {
          const isNear = (one: Event) =>
            given.some(
              (other) =>
                other.part !== one.part && other.origin === one.origin && Math.abs(other[field] - one[field]) <= day,
            )
          expect(given.filter((event) => isNear(event) && !covers(found, event[field]))).toEqual([])
        }
      }),
      { numRuns: randomCases(2_000), endOnFailure: true },
    )
  })

  it('contain no time that is further than 24 hours from all parts but one', () => {
    fc.assert(
      fc.property(events, (given) => {
        const parts = partsOf(given)
        const isNear = (part: EventPart, atMs: number) =>
          atMs >= part.firstReceivedMs - day && atMs <= part.lastReceivedMs + day
        for (const { fromMs, untilMs } of copyRangesOf(parts).received) {
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
    const ranges = (...given: Event[]) => copyRangesOf(partsOf(given)).received
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

  it('are one range if there are more than 16', () => {
    const parts = Array.from({ length: 18 }, (_, part) => received(`${part}`, 10 * part * day, 10 * (part + 1) * day))
    expect(copyRangesOf(partsOf(parts.flat())).received).toEqual([{ fromMs: 9 * day, untilMs: 171 * day + 1 }])
    expect(copyRangesOf(partsOf(parts.slice(0, 17).flat())).received).toHaveLength(16)
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
        ...{ id, occurred_at: at('11-02'), received_at: at(receivedOn), stored_at: at(storedOn), ...more },
      })
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
          ['browser', '11-04', '11-04', '11-07', '11-07', 1],
          ['server', '10-31', '10-31', '11-08', '11-08', 1],
          ['server', '11-02', '11-03', '11-08', '11-09', 1],
          ['server', '11-05', '11-05', '11-06', '11-06', 0],
        ] as const
        expect(
          found
            .toSorted((a, b) => a.origin.localeCompare(b.origin) || a.firstReceivedMs - b.firstReceivedMs)
            .map(({ part: _, ...rest }) => rest),
        ).toEqual(
          expected.map(([origin, firstReceived, lastReceived, firstStored, lastStored, withoutVisitor]) => ({
            ...{ origin, firstReceivedMs: ms(firstReceived), lastReceivedMs: ms(lastReceived) },
            ...{ firstStoredMs: ms(firstStored), lastStoredMs: ms(lastStored), withoutVisitor },
          })),
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

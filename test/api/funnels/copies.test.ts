import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { duplicateWindowMs } from '../../../schema/event.ts'
import { type EventPart, eventPartsSql, rangesOfCopies } from '../../../src/api/funnels/copies.ts'
import { selectRows } from '../../../src/stores/clickhouse/select.ts'
import { ch } from '../../../src/stores/clickhouse/sql.ts'
import { openTestApp, type TestApp } from '../../kit/app.ts'
import { randomCases } from '../../kit/randomCases.ts'
import { startMerges, stopMerges, storeEvents } from '../../kit/rows.ts'

const partOf = (received: readonly number[], part = ''): EventPart => ({
  ...{ part, firstMs: Math.min(...received), lastMs: Math.max(...received), withoutVisitor: 0 },
})

const times = fc.array(fc.integer({ min: 0, max: 20 * duplicateWindowMs }), { minLength: 1, maxLength: 4 })

describe('the ranges in which events can have copies', () => {
  it('contain all events of two parts that were received within the window of duplicates', () => {
    fc.assert(
      fc.property(fc.array(times, { maxLength: 40 }), (parts) => {
        const ranges = rangesOfCopies(parts.map((received) => partOf(received)))
        const isCovered = (atMs: number) => ranges.some(({ fromMs, untilMs }) => atMs >= fromMs && atMs < untilMs)
        const near = parts.flatMap((received, part) =>
          received.filter((atMs) =>
            parts.some(
              (others, other) =>
                other !== part && others.some((otherMs) => Math.abs(atMs - otherMs) <= duplicateWindowMs),
            ),
          ),
        )
        expect(near.filter((atMs) => !isCovered(atMs))).toEqual([])
        expect(
          ranges.every(({ fromMs, untilMs }, at) => fromMs < untilMs && fromMs >= (ranges[at - 1]?.untilMs ?? fromMs)),
        ).toBe(true)
      }),
      { numRuns: randomCases(1_000), endOnFailure: true },
    )
  })

  it('are those around the limits of parts that follow each other', () => {
    const day = duplicateWindowMs
    const parts = [partOf([10 * day, 20 * day]), partOf([0, 10 * day]), partOf([20 * day, 20 * day + 5])]
    expect(rangesOfCopies(parts)).toEqual([
      { fromMs: 9 * day, untilMs: 11 * day + 1 },
      { fromMs: 19 * day, untilMs: 21 * day + 1 },
    ])
    expect(rangesOfCopies([partOf([0, 10 * day])])).toEqual([])
    expect(rangesOfCopies([partOf([0]), partOf([2 * day + 1])])).toEqual([])
  })

  it('are one range if there are many', () => {
    const day = duplicateWindowMs
    const parts = Array.from({ length: 100 }, (_, part) => partOf([10 * part * day, 10 * (part + 1) * day]))
    expect(rangesOfCopies(parts)).toEqual([{ fromMs: 9 * day, untilMs: 991 * day + 1 }])
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
      const event = { occurred_at: '2026-11-02 10:00:00.000' }
      const at = (day: number) => `2026-11-0${day} 10:00:00.000`
      await storeEvents(api.stores, 'acme', [
        { ...event, id: '1', received_at: at(3), visitor_id: 'v' },
        { ...event, id: '2', received_at: at(2) },
        { ...event, id: '3', received_at: at(4), origin: 'browser' },
      ])
      await storeEvents(api.stores, 'acme', [{ ...event, id: '4', received_at: at(5), visitor_id: 'v' }])
      await storeEvents(api.stores, 'other', [{ ...event, id: '5', received_at: at(9) }])
      const { clickhouse } = api.stores
      const query = eventPartsSql('acme')
      const found = await selectRows<EventPart>(clickhouse, query, { label: 'test' })
      const ms = (day: number) => Date.UTC(2026, 10, day, 10)
      if (!clickhouse.cluster) {
        expect(found.map(({ part: _, ...rest }) => rest).sort((a, b) => a.firstMs - b.firstMs)).toEqual([
          { firstMs: ms(2), lastMs: ms(4), withoutVisitor: 2 },
          { firstMs: ms(5), lastMs: ms(5), withoutVisitor: 0 },
        ])
      }
      const plan = await selectRows<{ explain: string }>(clickhouse, ch`EXPLAIN distributed = 1 ${query}`, {
        label: 'test',
      })
      const fromProjection = plan.filter(({ explain }) => explain.includes('ReadFromMergeTree (by_month)'))
      expect(fromProjection).toHaveLength(clickhouse.cluster?.nodes.length ?? 1)
    } finally {
      await startMerges(api.stores, 'pixel_events')
    }
  })
})

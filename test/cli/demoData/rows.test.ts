// @module-tag all

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { clickRows } from '../../../src/cli/demoData/clicks.ts'
import { conversionRows, pixelEventRows } from '../../../src/cli/demoData/conversions.ts'
import { costRows } from '../../../src/cli/demoData/costs.ts'
import { campaignRows, landingPageRows } from '../../../src/cli/demoData/metadata.ts'
import { type Demo, demoOf } from '../../../src/cli/demoData/visits.ts'
import { testNowMs } from '../../kit/app.ts'

const dayMs = 86_400_000
const usual = { seed: 1, clicks: 20_000, days: 90, nowMs: testNowMs, currency: 'USD' }

function everything(of: Demo) {
  return {
    clicks: [...clickRows(of)],
    conversions: [...conversionRows(of)],
    pixelEvents: [...pixelEventRows(of)],
    campaigns: [...campaignRows(of)],
    costs: [...costRows(of)],
  }
}

describe('a second demo', () => {
  it('has the same rows for the same seed and time, and other rows for another seed', () => {
    const small = { ...usual, clicks: 2000 }
    expect(everything(demoOf(small))).toEqual(everything(demoOf(small)))
    const ids = new Set([...clickRows(demoOf(small))].map(({ id }) => id))
    for (const { id } of clickRows(demoOf({ ...small, seed: 2 }))) expect(ids.has(id)).toBe(false)
  })

  it('of a later time has all rows of the earlier one, and newer states of conversions', () => {
    const moments = fc.integer({ min: 0, max: 30 * dayMs })
    fc.assert(
      fc.property(moments, fc.integer({ min: 0, max: 20 * dayMs }), (startMs, laterMs) => {
        const before = demoOf({ ...usual, clicks: 900, nowMs: testNowMs + startMs })
        const after = { ...before, days: before.days + Math.ceil(laterMs / dayMs), nowMs: before.nowMs + laterMs }
        const known = (rows: Iterable<object>) => new Set([...rows].map((row) => JSON.stringify(row)))
        for (const rows of [clickRows, conversionRows, costRows, pixelEventRows]) {
          const later = known(rows({ ...after, days: after.days + 1 }))
          for (const row of known(rows(before))) expect(later.has(row), row).toBe(true)
        }
      }),
      { numRuns: 10 },
    )
  })

  it('has no rows in the future', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 400 * dayMs }), (offsetMs) => {
        const nowMs = testNowMs + offsetMs
        const rows = everything(demoOf({ ...usual, clicks: 900, nowMs }))
        const { clicks, conversions, pixelEvents, campaigns, costs } = rows
        const now = new Date(nowMs).toISOString()
        const times = [
          ...clicks.map(({ clickedAt }) => [clickedAt]),
          ...conversions.flatMap(({ convertedAt, createdAt, updatedAt }) => [[convertedAt], [createdAt], [updatedAt]]),
          ...pixelEvents.map(({ occurredAt, receivedAt }) => [occurredAt, receivedAt]),
          ...campaigns.map(({ createdAt, updatedAt }) => [createdAt, updatedAt]),
          ...costs.map(({ spentAt, updatedAt }) => [spentAt, updatedAt]),
        ]
        const isOrdered = (moments: string[]) => moments.every((moment, n) => moment <= (moments[n + 1] ?? now))
        expect(times.filter((moments) => !isOrdered(moments))).toEqual([])
      }),
      { numRuns: 20 },
    )
  })
})

it('conversions of a demo stop in the last seven days for a landing page that had some, and that still has paid clicks', () => {
  const demo = demoOf({ ...usual, clicks: 40_000 })
  const clicks = [...clickRows(demo)].filter(({ isTest }) => !isTest)
  const since = new Date(testNowMs - 7 * dayMs).toISOString()
  const converted = new Set([...conversionRows(demo)].map(({ clickId }) => clickId))
  const countsOf = (rows: typeof clicks) => (id: string, isLate: boolean) =>
    rows.filter(({ landingPageId, clickedAt }) => landingPageId === id && clickedAt >= since === isLate).length
  const conversions = countsOf(clicks.filter(({ id }) => converted.has(id)))
  const paid = countsOf(clicks.filter(({ cost }) => cost !== undefined))
  const stopped = [...landingPageRows()].filter(
    ({ id }) => conversions(id, false) >= 10 && conversions(id, true) === 0 && paid(id, true) >= 50,
  )
  expect(stopped.map(({ id }) => id)).toContain('lp-solaro-calculator')
})

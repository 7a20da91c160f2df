// @module-tag all

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { clickRows } from '../../../src/cli/demoData/clicks.ts'
import { conversionRows, pixelEventRows } from '../../../src/cli/demoData/conversions.ts'
import { costRows } from '../../../src/cli/demoData/costs.ts'
import { campaignRows, landingPageRows, offerRows, trafficSourceRows } from '../../../src/cli/demoData/metadata.ts'
import { type Demo, demoOf } from '../../../src/cli/demoData/visits.ts'
import { testNowMs } from '../../kit/app.ts'

const dayMs = 86_400_000
const usual = { seed: 1, clicks: 20_000, days: 90, nowMs: testNowMs, currency: 'USD' }
const demo = demoOf(usual)
const clicks = [...clickRows(demo)]
const pixelEvents = [...pixelEventRows(demo)]

function everything(of: Demo) {
  return {
    clicks: [...clickRows(of)],
    conversions: [...conversionRows(of)],
    pixelEvents: [...pixelEventRows(of)],
    campaigns: [...campaignRows(of)],
    costs: [...costRows(of)],
  }
}

function countBy<Row>(rows: Iterable<Row>, of: (row: Row) => string | null | undefined): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const row of rows) counts[of(row) ?? 'none'] = (counts[of(row) ?? 'none'] ?? 0) + 1
  return counts
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

describe('demo rows', () => {
  it('have about the requested number of clicks, over the requested days', () => {
    expect(clicks.length).toBeGreaterThan(usual.clicks * 0.93)
    expect(clicks.length).toBeLessThan(usual.clicks * 1.07)
    expect(new Set(clicks.map(({ clickedAt }) => clickedAt.slice(0, 10))).size).toBe(90)
    expect(clicks.map(({ clickedAt }) => clickedAt)).toEqual(clicks.map(({ clickedAt }) => clickedAt).sort())
  })

  it('refer only to existing campaigns, offers, landing pages and traffic sources', () => {
    const named = new Set(
      [...campaignRows(demo), ...offerRows(), ...landingPageRows(), ...trafficSourceRows()].map(({ id }) => id),
    )
    for (const { campaignId, offerId, landingPageId, trafficSourceId } of clicks) {
      for (const id of [campaignId, offerId, landingPageId, trafficSourceId])
        if (id) expect(named.has(id), id).toBe(true)
    }
  })

  it('belong to 20 campaigns; some campaigns start and stop', () => {
    for (const offset of [0, 45, 200]) {
      const later = demoOf({ ...usual, nowMs: testNowMs + offset * dayMs })
      const rows = [...clickRows(later)]
      expect(Object.keys(countBy(rows, ({ campaignId }) => campaignId)).sort()).toEqual(
        [...campaignRows(later)].map(({ id }) => id).sort(),
      )
      const visits = rows.filter(({ isBot }) => !isBot).map((row) => `${row.campaignId} ${row.clickedAt.slice(0, 10)}`)
      const daysOf = countBy(new Set(visits), (pair) => pair.split(' ')[0])
      expect(Object.values(daysOf).filter((days) => days < 70).length).toBeGreaterThanOrEqual(4)
      expect(Object.values(daysOf).filter((days) => days === 90).length).toBeGreaterThanOrEqual(8)
      expect([...campaignRows(later)].map(({ status }) => status)).toContain('active')
    }
  })

  it('include bots, tests, clicks without a landing page, free clicks and returning visitors', () => {
    const share = (rows: unknown[]) => rows.length / clicks.length
    expect(share(clicks.filter(({ isBot }) => isBot))).toBeCloseTo(0.033, 2)
    expect(share(clicks.filter(({ isTest }) => isTest))).toBeGreaterThan(0.0005)
    expect(share(clicks.filter(({ landingPageId }) => !landingPageId))).toBeGreaterThan(0.05)
    expect(share(clicks.filter(({ cost }) => cost === undefined))).toBeGreaterThan(0.02)
    const visits = countBy(
      clicks.filter(({ visitorId }) => visitorId),
      ({ visitorId }) => visitorId,
    )
    const counts = Object.values(visits)
    expect(counts.filter((count) => count > 1).length / counts.length).toBeGreaterThan(0.1)
    expect(new Set(clicks.map(({ currency }) => currency))).toEqual(new Set(['USD', 'EUR', undefined]))
  })
})

describe('demo conversions', () => {
  const large = demoOf({ ...usual, clicks: 40_000 })
  const largeClicks = [...clickRows(large)]
  const rows = [...conversionRows(large)]
  const now = new Map(rows.map((row) => [row.id, row]))

  it('have every status, both sources, two currencies, tests and coupons', () => {
    const statuses = countBy(now.values(), ({ status }) => status)
    expect(Object.keys(statuses).sort()).toEqual(['approved', 'chargeback', 'declined', 'hold', 'pending', 'refunded'])
    expect(Object.keys(countBy(now.values(), ({ source }) => source)).sort()).toEqual(['cpa', 'revenue'])
    expect(Object.keys(countBy(now.values(), ({ currency }) => currency)).sort()).toEqual(['EUR', 'USD'])
    const some = [...now.values()]
    expect(some.some(({ isTest }) => isTest)).toBe(true)
    expect(some.some(({ couponCode }) => couponCode)).toBe(true)
    expect(some.filter(({ clickId }) => !clickId).length).toBeGreaterThan(5)
    const rate = some.filter(({ status }) => status === 'approved').length / largeClicks.length
    expect(rate).toBeGreaterThan(0.01)
    expect(rate).toBeLessThan(0.04)
  })

  it('change status later, each state newer than the last one, with the same time and amount', () => {
    const states = new Map<string, typeof rows>()
    for (const row of rows) states.set(row.id, [...(states.get(row.id) ?? []), row])
    let changed = 0
    for (const [first, ...later] of states.values()) {
      let last = first
      for (const row of later) {
        changed += 1
        expect(row.updatedAt > (last?.updatedAt ?? '')).toBe(true)
        expect(row.status).not.toBe(last?.status)
        const changing = { status: '', externalStatus: '', updatedAt: '' }
        expect({ ...row, ...changing }).toEqual({ ...first, ...changing })
        last = row
      }
    }
    expect(changed / states.size).toBeGreaterThan(0.25)
  })

  it('stop in the last seven days for a landing page that had some, and that still has clicks with a cost', () => {
    const since = new Date(testNowMs - 7 * dayMs).toISOString()
    const converted = new Set([...now.values()].map(({ clickId }) => clickId))
    const key = (click: (typeof largeClicks)[number]) => `${click.landingPageId} ${click.clickedAt >= since}`
    const conversions = countBy(
      largeClicks.filter(({ id, isTest }) => converted.has(id) && !isTest),
      key,
    )
    const paid = countBy(
      largeClicks.filter(({ cost, isTest }) => cost !== undefined && !isTest),
      key,
    )
    const stopped = [...landingPageRows()].filter(
      ({ id }) =>
        (conversions[`${id} false`] ?? 0) >= 10 && !conversions[`${id} true`] && (paid[`${id} true`] ?? 0) >= 50,
    )
    expect(stopped.map(({ id }) => id)).toContain('lp-solaro-calculator')
  })

  it('follow a stored click, except for a few with a lost click', () => {
    const clickedAt = new Map(largeClicks.map((click) => [click.id, click.clickedAt]))
    let lost = 0
    for (const { clickId, convertedAt } of now.values()) {
      if (!clickId) continue
      const clicked = clickedAt.get(clickId)
      if (clicked === undefined) lost += 1
      else expect(convertedAt > clicked).toBe(true)
    }
    expect(lost).toBeGreaterThan(0)
    expect(lost / now.size).toBeLessThan(0.01)
  })
})

it('demo pixel events form funnels: fewer events at every step, in order of time', () => {
  const names = countBy(pixelEvents, ({ eventName }) => eventName)
  const { visit = 0, signup = 0, trial_started: trials = 0, purchase = 0 } = names
  expect(visit).toBeGreaterThan(3 * (signup + (names.cta_click ?? 0)))
  expect(signup).toBeGreaterThan(1.5 * trials)
  expect(names.cta_click).toBeGreaterThan(1.5 * (names.form_start ?? 0))
  expect(trials).toBeGreaterThan(2 * purchase)
  // Otherwise hardly any trial would lead to a purchase.
  expect(purchase).toBeGreaterThan(trials / 20)
  const last = new Map<string, string>()
  for (const { clickId, occurredAt } of pixelEvents) {
    if (!clickId) continue
    expect(occurredAt >= (last.get(clickId) ?? '')).toBe(true)
    last.set(clickId, occurredAt)
  }
})

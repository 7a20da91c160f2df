import fc from 'fast-check'
import type { Event } from '../../../../src/packages/client/client.ts'

const firstMs = Date.UTC(2026, 10, 18)
const hourMs = 3_600_000

export type Change =
  | { resource: 'clicks' | 'conversions' | 'costs' | 'pixel-events'; rows: object[] }
  | { resource: 'events'; events: Event[] }

/** Which process is killed, and at which of the next requests of the copy. */
interface Kill {
  victim: 'sync' | 'server' | 'clickhouse/engine' | 'postgres/engine'
  request: number
}

export interface Step {
  change: Change
  kill: Kill | undefined
}

const rowNumbers = fc.uniqueArray(fc.nat(400), { minLength: 1, maxLength: 120 })
const instant = (hours: number) => new Date(firstMs + hours * hourMs).toISOString()

/** Repeated numbers are duplicates. The time of a click follows from its number, so that late clicks are older. */
const clicks = rowNumbers.map((numbers) => ({
  resource: 'clicks' as const,
  rows: numbers.map((n) => ({
    id: `c${n}`,
    clickedAt: instant(((n * 37) % 400) / 4),
    campaignId: `k${n % 3}`,
    cost: n / 1_000,
    country: ['DE', 'US', undefined][n % 3],
    isBot: n % 11 === 0,
    isTest: n % 13 === 0,
    referrer: `"\\${n}\n`,
    ...(n % 5 === 0 && { subIds: { sub1: `s${n}` } }),
  })),
}))

/** Conversions of clicks that are there, come later or never; a later round changes status, amount or time. */
const conversions = fc
  .record({
    numbers: rowNumbers,
    status: fc.constantFrom('pending', 'approved', 'declined', 'refunded'),
    round: fc.nat(9),
    movedHours: fc.constantFrom(0, 0, 26),
  })
  .map(({ numbers, status, round, movedHours }) => ({
    resource: 'conversions' as const,
    rows: numbers.map((n) => ({
      id: `v${n}`,
      status,
      clickId: `c${n * 2}`,
      revenue: (10 * n + round) / 10,
      isTest: n % 17 === 0,
      convertedAt: instant(n / 4 + movedHours),
      updatedAt: new Date(firstMs + round * 1_000).toISOString(),
    })),
  }))

/** Costs of hours; a later round changes the amount, or takes the row back. */
const costs = fc.record({ numbers: rowNumbers, round: fc.nat(9) }).map(({ numbers, round }) => ({
  resource: 'costs' as const,
  rows: numbers.map((n) => ({
    spentAt: instant(n / 4),
    campaignId: `k${n % 3}`,
    cost: round === 9 ? 0 : (n + round) / 100,
    updatedAt: new Date(firstMs + round * 1_000).toISOString(),
  })),
}))

const browserEvents = rowNumbers.map((numbers) => ({
  resource: 'pixel-events' as const,
  rows: numbers.map((n) => ({ id: `e${n}`, eventName: 'visit', clickId: `c${n}`, occurredAt: instant(n / 4) })),
}))

/** Events of visitors, so that they need no click. */
const serverEvents = rowNumbers.map((numbers) => ({
  resource: 'events' as const,
  events: numbers.map((n) => ({
    event_id: `e${n}`,
    event_name: 'paid',
    visitor_id: `u${n}`,
    campaign_id: 'k0',
    value: n / 7,
    properties: { n, text: '"\u0000' },
  })),
}))

const kill = fc.record({
  victim: fc.constantFrom('sync', 'sync', 'server', 'server', 'clickhouse/engine', 'postgres/engine'),
  request: fc.integer({ min: 1, max: 20 }),
}) satisfies fc.Arbitrary<Kill>

/** A life begins with rows of every kind. */
export const life: fc.Arbitrary<Step[]> = fc
  .tuple(
    fc.tuple(clicks, conversions, costs, browserEvents, serverEvents),
    fc.array(
      fc.record({
        change: fc.oneof(clicks, conversions, costs, browserEvents, serverEvents) as fc.Arbitrary<Change>,
        kill: fc.option(kill, { nil: undefined, freq: 4 }),
      }),
      { minLength: 2, maxLength: 5 },
    ),
  )
  .map(([first, later]) => [...first.map((change): Step => ({ change, kill: undefined })), ...later])

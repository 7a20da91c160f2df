import type { ResourceName } from '../../../src/import/resourceNames.ts'
import type { Tally } from '../../../src/import/run.ts'

const dayMs = 86_400_000
const firstDayMs = Date.UTC(2020, 0, 1, 10)

export type Status = 'pending' | 'approved'
/** Cost of each click. */
export const cost = 0.25
/** Revenue of each conversion, by its status. */
export const revenue: Record<Status, number> = { pending: 2, approved: 3 }
export const campaignsOfClicks = ['campaign-0', 'campaign-1', 'campaign-2'] as const

/** The rows that must be stored: events with a 200 response and rows of successful imports. Clicks and conversions by number. */
export class Acknowledged {
  readonly clicks = new Set<number>()
  readonly conversions = new Map<number, Status>()
  readonly serverEvents = new Set<string>()
  readonly pixelEvents = new Set<string>()
  readonly campaigns = new Set<string>()
}

/** Rows of one import. Each number has its own UTC day, so that the repair of one day does not hide a fault on another. */
export interface Change {
  resource: ResourceName
  rows: readonly object[]
  /** Counts of the first import of these rows; undefined where they depend on failed attempts. */
  counts: Partial<Tally> | undefined
  acknowledge(acknowledged: Acknowledged): void
}

export const changes = {
  clicks: (numbers: readonly number[]): Change => ({
    resource: 'clicks',
    rows: numbers.map((number) => ({
      id: `click-${number}`,
      clickedAt: timeOf(number),
      campaignId: campaignsOfClicks[number % campaignsOfClicks.length],
      country: 'DE',
      cost,
    })),
    counts: { inserted: numbers.length },
    acknowledge({ clicks }) {
      for (const number of numbers) clicks.add(number)
    },
  }),

  /** Pending conversions of the clicks with the same numbers. */
  conversions: (numbers: readonly number[]): Change => ({
    resource: 'conversions',
    rows: numbers.map((number) => conversionOf(number, 'pending')),
    counts: { inserted: numbers.length },
    acknowledge({ conversions }) {
      for (const number of numbers) conversions.set(number, 'pending')
    },
  }),

  /** Approvals of stored conversions. */
  approvals: (numbers: readonly number[]): Change => ({
    resource: 'conversions',
    rows: numbers.map((number) => conversionOf(number, 'approved')),
    counts: { updated: numbers.length },
    acknowledge({ conversions }) {
      for (const number of numbers) conversions.set(number, 'approved')
    },
  }),

  pixelEvents: (numbers: readonly number[]): Change => ({
    resource: 'pixel-events',
    rows: numbers.map((number) => ({
      ...{ id: `pixel-${number}`, eventName: 'view', visitorId: 'visitor' },
      ...{ occurredAt: timeOf(number), receivedAt: timeOf(number) },
    })),
    counts: { inserted: numbers.length },
    acknowledge({ pixelEvents }) {
      for (const number of numbers) pixelEvents.add(`pixel-${number}`)
    },
  }),

  campaigns: (ids: readonly string[]): Change => ({
    resource: 'campaigns',
    rows: ids.map((id) => ({ id, name: `Campaign ${id}` })),
    // An upsert: a row that a failed attempt stored is a duplicate for the next attempt.
    counts: undefined,
    acknowledge({ campaigns }) {
      for (const id of ids) campaigns.add(id)
    },
  }),
}

/** The UTC day of all rows with that number, `2020-01-01`. */
export function dayOf(number: number): string {
  return timeOf(number).slice(0, 10)
}

function timeOf(number: number): string {
  return new Date(firstDayMs + number * dayMs).toISOString()
}

const conversionOf = (number: number, status: Status) => ({
  id: `conversion-${number}`,
  clickId: `click-${number}`,
  convertedAt: timeOf(number),
  updatedAt: timeOf(number + (status === 'approved' ? 1 : 0)),
  status,
  revenue: revenue[status],
})

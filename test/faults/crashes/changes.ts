import type { ResourceName } from '../../../src/import/resourceNames.ts'
import type { Tally } from '../../../src/import/run.ts'

const dayMs = 86_400_000
const firstDayMs = Date.UTC(2020, 0, 1, 10)

export type Status = 'pending' | 'approved'
/** Of each click. */
export const cost = 0.25
/** Of each conversion, by its status. */
export const revenue: Record<Status, number> = { pending: 2, approved: 3 }
export const campaignsOfClicks = ['campaign-0', 'campaign-1', 'campaign-2'] as const

/** What an account must hold: what was answered with 200, or was in an import that ended with success. */
export class Acknowledged {
  readonly clicks = new Set<number>()
  readonly conversions = new Map<number, Status>()
  readonly serverEvents = new Set<string>()
  readonly pixelEvents = new Set<string>()
  readonly campaigns = new Set<string>()
}

/** Rows of one import. Rows are known by number, and each number has a UTC day of its own: the repair of one day does not hide what is wrong on another. */
export interface Change {
  resource: ResourceName
  rows: readonly object[]
  /** What the import counts when it is the first one of these rows; undefined where an attempt without response counts. */
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

  /** Pending ones of clicks with the same numbers. */
  conversions: (numbers: readonly number[]): Change => ({
    resource: 'conversions',
    rows: numbers.map((number) => conversionOf(number, 'pending')),
    counts: { inserted: numbers.length },
    acknowledge({ conversions }) {
      for (const number of numbers) conversions.set(number, 'pending')
    },
  }),

  /** Approves conversions that are stored. */
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
    // An upsert: a row that an attempt without response stored is a duplicate for the next attempt.
    counts: undefined,
    acknowledge({ campaigns }) {
      for (const id of ids) campaigns.add(id)
    },
  }),
}

/** The UTC day of everything with that number, `2020-01-01`. */
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

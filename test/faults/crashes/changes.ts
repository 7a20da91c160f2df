import type { ResourceName } from '../../../src/import/resourceNames.ts'

const dayMs = 86_400_000
const firstDayMs = Date.UTC(2020, 0, 1, 10)

/** Revenue of each conversion, by its status. */
export const revenue = { pending: 2, approved: 3 }
/** Amount of each cost, before and after its correction. */
export const spent = { reported: 4, corrected: 5 }
export const campaignsOfClicks = [0, 1, 2]

interface Change {
  resource: ResourceName
  /** How the first import of a row counts it; undefined where that depends on failed attempts. */
  counted: 'inserted' | 'updated' | undefined
  rowOf(number: number): object
}

/** Each number has its own UTC day, so that the repair of one day does not hide a fault on another. */
export const changes = {
  clicks: {
    resource: 'clicks',
    counted: 'inserted',
    rowOf: (number) => ({
      id: `click-${number}`,
      clickedAt: timeOf(number),
      country: 'DE',
      cost: 0.25,
      campaignId: `campaign-${campaignsOfClicks[number % campaignsOfClicks.length]}`,
    }),
  },
  /** Of the clicks with the same numbers. */
  conversions: { resource: 'conversions', counted: 'inserted', rowOf: (number) => conversionOf(number, 'pending') },
  approvals: { resource: 'conversions', counted: 'updated', rowOf: (number) => conversionOf(number, 'approved') },
  costs: { resource: 'costs', counted: 'inserted', rowOf: (number) => costOf(number, 'reported') },
  corrections: { resource: 'costs', counted: 'updated', rowOf: (number) => costOf(number, 'corrected') },
  pixelEvents: {
    resource: 'pixel-events',
    counted: 'inserted',
    rowOf: (number) => ({
      id: `pixel-${number}`,
      eventName: 'view',
      visitorId: 'visitor',
      occurredAt: timeOf(number),
      receivedAt: timeOf(number),
    }),
  },
  // An upsert: a row that a failed attempt stored is a duplicate for the next attempt.
  campaigns: {
    resource: 'campaigns',
    counted: undefined,
    rowOf: (number) => ({ id: `campaign-${number}`, name: `Campaign ${number}` }),
  },
} as const satisfies Record<string, Change>

export type ChangeName = keyof typeof changes

function timeOf(number: number): string {
  return new Date(firstDayMs + number * dayMs).toISOString()
}

const conversionOf = (number: number, status: keyof typeof revenue) => ({
  id: `conversion-${number}`,
  clickId: `click-${number}`,
  convertedAt: timeOf(number),
  updatedAt: timeOf(number + (status === 'approved' ? 1 : 0)),
  status,
  revenue: revenue[status],
})

const costOf = (number: number, state: keyof typeof spent) => ({
  id: `cost-${number}`,
  spentAt: timeOf(number),
  country: 'DE',
  cost: spent[state],
  updatedAt: timeOf(number + (state === 'corrected' ? 1 : 0)),
})

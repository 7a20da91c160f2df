import {
  type Campaign,
  campaigns,
  type LandingPage,
  landingPages,
  type Offer,
  offers,
  type Source,
  sources,
} from './catalogue.ts'
import { activity, type DemoPlan, dayMs, flightDay, windowOf } from './visits.ts'

type Row = {
  id: string
  name: string
  status: 'active' | 'paused' | 'archived'
  createdAt: string
  updatedAt: string
} & Record<string, unknown>

/** Creation time of the first entity, long before the window; the others follow. */
const firstMs = Date.UTC(2024, 0, 8, 9)
const createdAt = (index: number) => new Date(firstMs + index * 9 * dayMs).toISOString()

/** Yields the campaigns in their present state. */
export function* campaignRows(plan: DemoPlan): Generator<Row> {
  const { today } = windowOf(plan)
  for (const [index, [id, campaign]] of Object.entries<Campaign>(campaigns).entries()) {
    const { name, schedule, source, costPerClick, tags } = campaign
    const { costModel, currency } = sources[source]
    const isOn = schedule.kind !== 'flights' || activity(campaign, today) > 0
    yield {
      id,
      name,
      status: isOn ? 'active' : tags.includes('test') ? 'archived' : 'paused',
      trafficSourceId: source,
      costModel,
      ...(costPerClick !== null && { costValue: costPerClick }),
      currency,
      tags,
      createdAt: createdAt(index),
      updatedAt:
        schedule.kind === 'flights' ? new Date(lastChange(schedule, today) * dayMs).toISOString() : createdAt(index),
    }
  }
}

/** The day of the campaign's last start or stop. */
function lastChange(schedule: { everyDays: number; onDays: number; start: number }, today: number): number {
  const day = flightDay(schedule, today)
  return today - (day < schedule.onDays ? day : day - schedule.onDays)
}

export function* offerRows(): Generator<Row> {
  for (const [index, [id, offer]] of Object.entries<Offer>(offers).entries()) {
    const { name, network, kind, amount, currency, countries, tags } = offer
    yield {
      id,
      name,
      status: 'active',
      url: `https://${id.slice('off-'.length)}.example/`,
      affiliateNetwork: network,
      payoutType: network ? (kind === 'lead' ? 'cpl' : kind === 'install' ? 'cpi' : 'cpa') : 'revshare',
      payout: amount,
      currency,
      countries,
      tags,
      createdAt: createdAt(index),
      updatedAt: createdAt(index),
    }
  }
  yield {
    id: 'off-luma-mattress',
    name: 'Luma Sleep – Mattress (ended)',
    status: 'archived',
    url: 'https://luma-mattress.example/',
    tags: ['home', 'own-shop'],
    createdAt: createdAt(0),
    updatedAt: createdAt(1),
  }
}

export function* landingPageRows(): Generator<Row> {
  for (const [index, [id, { name, hasPixel }]] of Object.entries<LandingPage>(landingPages).entries()) {
    yield {
      id,
      name,
      status: 'active',
      url: `https://go.harbour-media.example/${id.slice('lp-'.length)}`,
      tags: hasPixel ? ['pixel'] : [],
      createdAt: createdAt(index),
      updatedAt: createdAt(index),
    }
  }
}

export function* trafficSourceRows(): Generator<Row> {
  for (const [index, [id, { name, category, costModel, currency }]] of Object.entries<Source>(sources).entries()) {
    yield {
      id,
      name,
      status: 'active',
      category,
      costModel,
      currency,
      createdAt: createdAt(index),
      updatedAt: createdAt(index),
    }
  }
}

import { dayMs } from '../../stores/timing/units.ts'
import { type Campaign, campaigns, type DemoSource, landingPages, type Offer, offers, sources } from './catalogue.ts'
import endedOffer from './tables/endedOffer.json' with { type: 'json' }
import { activity, type Demo, flightDay, todayOf } from './visits.ts'

/** Creation time of the first entity, long before the window; the others follow. */
const firstMs = Date.UTC(2024, 0, 8, 9)
const createdAt = (index: number) => new Date(firstMs + index * 9 * dayMs).toISOString()

/** The rows of a table of the catalogue: the common fields, and the fields that `fieldsOf` returns. */
function* entityRows<Entity extends { name: string }>(table: object, fieldsOf: (entity: Entity, id: string) => object) {
  for (const [index, [id, entity]] of Object.entries<Entity>(table as Record<string, Entity>).entries()) {
    const dates = { createdAt: createdAt(index), updatedAt: createdAt(index) }
    yield { id, name: entity.name, status: 'active', ...dates, ...fieldsOf(entity, id) }
  }
}

export function campaignRows(demo: Demo) {
  const today = todayOf(demo)
  return entityRows(campaigns, (campaign: Campaign) => {
    const { schedule, source, costPerClick, tags } = campaign
    const { costModel, currency } = sources[source]
    const isOn = schedule.kind !== 'flights' || activity(campaign, today) > 0
    return {
      status: isOn ? 'active' : tags.includes('test') ? 'archived' : 'paused',
      trafficSourceId: source,
      costModel,
      ...(costPerClick !== null && { costValue: costPerClick }),
      currency,
      tags,
      ...(schedule.kind === 'flights' && { updatedAt: new Date(lastChange(schedule, today) * dayMs).toISOString() }),
    }
  })
}

function lastChange(schedule: { everyDays: number; onDays: number; start: number }, today: number): number {
  const day = flightDay(schedule, today)
  return today - (day < schedule.onDays ? day : day - schedule.onDays)
}

export function* offerRows() {
  yield* entityRows(offers, ({ network, kind, amount, coupons: _, ...offer }: Offer, id) => ({
    url: `https://${id.slice('off-'.length)}.example/`,
    affiliateNetwork: network,
    payoutType: network ? (kind === 'lead' ? 'cpl' : kind === 'install' ? 'cpi' : 'cpa') : 'revshare',
    payout: amount,
    ...offer,
  }))
  yield { ...endedOffer, createdAt: createdAt(0), updatedAt: createdAt(1) }
}

export function landingPageRows() {
  return entityRows(landingPages, ({ hasPixel }: { name: string; hasPixel: boolean }, id) => ({
    url: `https://go.harbour-media.example/${id.slice('lp-'.length)}`,
    tags: hasPixel ? ['pixel'] : [],
  }))
}

export function trafficSourceRows() {
  return entityRows(sources, ({ category, costModel, currency }: DemoSource) => ({ category, costModel, currency }))
}

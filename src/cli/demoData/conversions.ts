import { dayMs } from '../../stores/timing/units.ts'
import { type Offer, offers } from './catalogue.ts'
import { clickIdOf, exchangeRate } from './clicks.ts'
import type { Draws } from './draws.ts'
import { outcomesByDay, type Sale } from './outcomes.ts'
import salesTable from './tables/sales.json' with { type: 'json' }
import { type Demo, dateText, drawsOf } from './visits.ts'

/**
 * Yields the conversions of the window by the day of their click; omitted fields are absent or copied from the click. Each
 * status change is a row with the same id and a later `updatedAt`.
 */
export function* conversionRows(demo: Demo) {
  for (const { day, outcomes } of outcomesByDay(demo)) {
    for (const { visit, sales } of outcomes) {
      for (const [index, sale] of sales.entries()) {
        const number = index === 0 ? visit.number : `${visit.number}-${index + 1}`
        yield* statesOf(demo, `cnv-${demo.tag}-${number}`, sale, { clickId: clickIdOf(demo, visit) })
      }
    }
    yield* rowsWithoutClick(demo, day, drawsOf(demo, 'without click', day))
  }
}

/** Conversions per 1,000 clicks without a stored click: orders by telephone, and clicks that were lost. */
const withoutClickPerThousand = 0.35

function* rowsWithoutClick(demo: Demo, day: number, draws: Draws) {
  const idEnd = `${demo.tag}-${dateText(day)}`
  for (let left = draws.count((withoutClickPerThousand * demo.perDay) / 1000); left > 0; left--) {
    const atMs = day * dayMs + draws.between(0, dayMs - 1)
    const common = { atMs, isTest: false, states: [{ status: 'approved', atMs: atMs + 60_000 }] } as const
    if (draws.chance(0.3)) {
      const sale = { ...common, offerId: 'off-bramble-pet', name: 'lead', amount: 32, coupon: null } as const
      yield* statesOf(demo, `cnv-${idEnd}-lost${left}`, sale, { clickId: `clk-${idEnd}-lost${left}` })
    } else {
      const amount = draws.between(59, 240)
      const coupon = draws.chance(0.5) ? 'SLEEP10' : null
      const sale = { ...common, offerId: 'off-luma-blanket', name: 'phone_order', amount, coupon } as const
      const origin = draws.chance(0.5) ? { campaignId: 'cmp-luma-meta-broad' } : {}
      yield* statesOf(demo, `cnv-${idEnd}-phone${left}`, sale, origin)
    }
  }
}

function* statesOf(demo: Demo, id: string, sale: Sale, origin: { clickId?: string; campaignId?: string }) {
  const offer: Offer = offers[sale.offerId]
  const rate = exchangeRate(offer.currency, demo.currency, sale.atMs)
  for (const { status, atMs } of sale.states) {
    if (atMs > demo.nowMs) return
    yield {
      id,
      source: offer.network ? 'cpa' : 'revenue',
      status,
      externalStatus: salesTable[offer.network ? 'network' : 'shop'].statuses[status],
      eventName: sale.name,
      convertedAt: new Date(sale.atMs).toISOString(),
      createdAt: new Date(sale.states[0]?.atMs ?? atMs).toISOString(),
      updatedAt: new Date(atMs).toISOString(),
      ...origin,
      offerId: sale.offerId,
      transactionId: `${offer.network ? offer.network.slice(0, 3).toUpperCase() : 'ord'}-${id.slice('cnv-'.length)}`,
      ...(offer.network && { payout: sale.amount }),
      revenue: sale.amount,
      currency: offer.currency,
      ...(rate !== null && { exchangeRate: rate }),
      ...(sale.coupon && { couponCode: sale.coupon }),
      isTest: sale.isTest,
    }
  }
}

export function* pixelEventRows(demo: Demo) {
  for (const { outcomes } of outcomesByDay(demo)) {
    for (const { visit, steps, sales } of outcomes) {
      const { visitor, campaign } = visit
      const [offerId, page] = visitor.path
      const offer: Offer = offers[offerId]
      const [sale] = sales
      for (const [index, { name, atMs, hasClickId, isSale }] of steps.entries()) {
        const receivedMs = atMs + 120
        if (receivedMs > demo.nowMs || !visitor.id) break
        yield {
          id: `evt-${demo.tag}-${visit.number}-${index + 1}`,
          eventName: name,
          ...(hasClickId && { clickId: clickIdOf(demo, visit) }),
          visitorId: visitor.id,
          campaignId: campaign,
          ...(isSale && sale && { value: sale.amount, currency: offer.currency }),
          properties: { page: page ?? '', step: index + 1 },
          occurredAt: new Date(atMs).toISOString(),
          receivedAt: new Date(receivedMs).toISOString(),
          origin: 'browser',
        }
      }
    }
  }
}

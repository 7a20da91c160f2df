import { moneyOf } from './clicks.ts'
import { outcomeOf } from './outcomes.ts'
import offers from './tables/offers.json' with { type: 'json' }
import reporters from './tables/reporters.json' with { type: 'json' }
import { type Demo, rowOf, timeText, visitsOf } from './visits.ts'

/**
 * Yields the conversions of the window by the time of their click; omitted fields are absent or copied from the click. Each
 * status change is a row with the same id and a later `updatedAt`.
 */
export function* conversionRows(demo: Demo) {
  for (const visit of visitsOf(demo)) {
    const { row, reporter } = rowOf(offers, visit.offerId)
    const [network, { names }] = [row.affiliateNetwork, rowOf(reporters, reporter)]
    for (const [index, { name, atMs, amount, coupon, states }] of outcomeOf(visit).sales.entries()) {
      const number = index === 0 ? visit.id : `${visit.id}-${index + 1}`
      for (const [status, stateMs] of states) {
        if (stateMs > demo.nowMs) break
        yield {
          id: `cnv-${number}`,
          source: network ? 'cpa' : 'revenue',
          status,
          externalStatus: rowOf(names, status),
          eventName: name,
          convertedAt: timeText(atMs),
          createdAt: timeText(states[0]?.[1] ?? stateMs),
          updatedAt: timeText(stateMs),
          // An order by telephone has no click.
          ...(visit.kind !== 'phone' && { clickId: `clk-${visit.id}` }),
          offerId: visit.offerId,
          transactionId: `${network ? network.slice(0, 3).toUpperCase() : 'ord'}-${number}`,
          ...(network && { payout: amount }),
          revenue: amount,
          ...moneyOf(demo, row.currency, atMs),
          ...(coupon && { couponCode: coupon }),
          isTest: visit.kind === 'test',
        }
      }
    }
  }
}

export function* pixelEventRows(demo: Demo) {
  for (const visit of visitsOf(demo)) {
    const { id, visitorId, campaignId, offerId, landingPageId } = visit
    for (const [index, { name, atMs, hasClickId, value }] of outcomeOf(visit).steps.entries()) {
      const receivedMs = atMs + 120
      if (receivedMs > demo.nowMs) break
      yield {
        id: `evt-${id}-${index + 1}`,
        eventName: name,
        ...(hasClickId && { clickId: `clk-${id}` }),
        visitorId,
        campaignId,
        ...(value !== undefined && { value, currency: rowOf(offers, offerId).row.currency }),
        properties: { page: landingPageId, step: index + 1 },
        occurredAt: timeText(atMs),
        receivedAt: timeText(receivedMs),
        origin: 'browser',
      }
    }
  }
}

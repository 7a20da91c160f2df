import { type Offer, offers } from './catalogue.ts'
import { clickIdOf } from './clicks.ts'
import { outcomesByDay } from './outcomes.ts'
import type { DemoPlan } from './visits.ts'

/** Yields the pixel events of browsers: funnels from the landing page to the sale. */
export function* pixelEventRows(plan: DemoPlan) {
  for (const { outcomes } of outcomesByDay(plan)) {
    for (const { visit, steps, sales } of outcomes) {
      const { visitor, campaign } = visit
      const [offerId, page] = visitor.path
      const offer: Offer = offers[offerId]
      const [sale] = sales
      for (const [index, { name, atMs, hasClickId, isSale }] of steps.entries()) {
        const receivedMs = atMs + 120
        if (receivedMs > plan.nowMs || !visitor.id) break
        yield {
          id: `evt-${plan.tag}-${visit.number}-${index + 1}`,
          eventName: name,
          ...(hasClickId && { clickId: clickIdOf(plan, visit) }),
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

import { dayMs, hourMs } from '../../stores/timing/units.ts'
import { type Campaign, type CampaignId, campaigns, sources } from './catalogue.ts'
import { exchangeRate } from './clicks.ts'
import { activity, type DemoPlan, dateText, drawsOf, todayOf } from './visits.ts'

/** Campaigns whose clicks are free: the partner bills each mailing. Fees are relative to the clicks of a day of the demo. */
const feePerClick: Partial<Record<CampaignId, number>> = { 'cmp-nordhaus-newsletters': 0.06 }

/** A fee is known on the next morning. Two days later it is corrected by a discount. */
const states = [
  { afterMs: 30 * hourMs, factor: 1 },
  { afterMs: 78 * hourMs, factor: 0.95 },
] as const

/** Yields the costs of campaigns by day; a correction is a row with the same id and a later `updatedAt`. */
export function* costRows(plan: DemoPlan) {
  const today = todayOf(plan)
  for (let day = today - plan.days + 1; day <= today; day++) {
    const draws = drawsOf(plan, 'costs', day)
    for (const [campaignId, perClick] of Object.entries(feePerClick)) {
      const campaign: Campaign = campaigns[campaignId as CampaignId]
      if (activity(campaign, day) === 0) continue
      const { currency } = sources[campaign.source]
      const rate = exchangeRate(currency, plan.currency, day * dayMs)
      const fee = perClick * plan.perDay * (0.8 + 0.4 * draws.unit())
      for (const { afterMs, factor } of states) {
        if (day * dayMs + afterMs > plan.nowMs) break
        yield {
          id: `cost-${plan.tag}-${dateText(day)}-${campaignId}`,
          spentAt: new Date(day * dayMs).toISOString(),
          updatedAt: new Date(day * dayMs + afterMs).toISOString(),
          campaignId,
          trafficSourceId: campaign.source,
          cost: Number((fee * factor).toFixed(2)),
          currency,
          ...(rate !== null && { exchangeRate: rate }),
        }
      }
    }
  }
}

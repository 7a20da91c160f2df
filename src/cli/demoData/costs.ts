import { dayMs, hourMs } from '../../stores/timing/units.ts'
import { type Campaign, type CampaignId, campaigns, sources } from './catalogue.ts'
import { exchangeRate } from './clicks.ts'
import { activity, type Demo, dateText, drawsOf, todayOf } from './visits.ts'

/** Amounts that are reported apart from clicks, relative to the clicks of a day of the demo. */
const reports: readonly { campaignId: CampaignId; perClick: number; everyDays: number }[] = [
  // The clicks are free: the partner bills each mailing.
  { campaignId: 'cmp-nordhaus-newsletters', perClick: 0.06, everyDays: 1 },
  // A credit for invalid clicks of the week.
  { campaignId: 'cmp-kite-youtube', perClick: -0.02, everyDays: 7 },
]

/** An amount is known on the next morning. Two days later it is corrected by a discount. */
const states = [
  { afterMs: 30 * hourMs, factor: 1 },
  { afterMs: 78 * hourMs, factor: 0.95 },
] as const

/** Yields the costs of campaigns by day; a correction is a row with the same id and a later `updatedAt`. */
export function* costRows(demo: Demo) {
  const today = todayOf(demo)
  for (let day = today - demo.days + 1; day <= today; day++) {
    const draws = drawsOf(demo, 'costs', day)
    for (const { campaignId, perClick, everyDays } of reports) {
      const campaign: Campaign = campaigns[campaignId]
      if (activity(campaign, day) === 0 || day % everyDays > 0) continue
      const { currency } = sources[campaign.source]
      const rate = exchangeRate(currency, demo.currency, day * dayMs)
      const amount = perClick * demo.perDay * (0.8 + 0.4 * draws.unit())
      for (const { afterMs, factor } of states) {
        if (day * dayMs + afterMs > demo.nowMs) break
        yield {
          id: `cost-${demo.tag}-${dateText(day)}-${campaignId}`,
          spentAt: new Date(day * dayMs).toISOString(),
          updatedAt: new Date(day * dayMs + afterMs).toISOString(),
          campaignId,
          trafficSourceId: campaign.source,
          cost: Number((amount * factor).toFixed(2)),
          currency,
          ...(rate !== null && { exchangeRate: rate }),
        }
      }
    }
  }
}

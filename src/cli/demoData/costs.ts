import { dayMs, hourMs } from '../../stores/timing/units.ts'
import { moneyOf } from './clicks.ts'
import { openDraws } from './draws.ts'
import reports from './tables/costs.json' with { type: 'json' }
import { type Demo, sharesOf, timeText, todayOf } from './visits.ts'

/** An amount is known on the next morning. Two days later it is corrected by a discount. */
const states = [[30 * hourMs, 1] as const, [78 * hourMs, 0.95] as const]

/**
 * Yields the costs of campaigns by day, relative to the clicks of a day of the demo: bills of a partner for mailings, and credits for the
 * invalid clicks of a week. A correction is a row with the same id and a later `updatedAt`.
 */
export function* costRows(demo: Demo) {
  const today = todayOf(demo)
  for (let day = today - demo.days + 1; day <= today; day++) {
    for (const { perClick, everyDays, currency, ...ids } of reports) {
      const id = `cost-${demo.tag}-${day}-${ids.campaignId}`
      if (!sharesOf(day)[ids.campaignId] || day % everyDays > 0) continue
      for (const [afterMs, factor] of states) {
        if (day * dayMs + afterMs > demo.nowMs) break
        const [spentAt, updatedAt] = [timeText(day * dayMs), timeText(day * dayMs + afterMs)]
        const cost = Number((factor * perClick * demo.perDay * (0.8 + 0.4 * openDraws(id).unit())).toFixed(2))
        yield { id, spentAt, updatedAt, ...ids, cost, ...moneyOf(demo, currency, day * dayMs) }
      }
    }
  }
}

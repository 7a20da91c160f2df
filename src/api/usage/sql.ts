import { ch, type Fragment, instant, text } from '../../stores/clickhouse/sql.ts'
import type { UsagePlan } from './plan.ts'

/** Counts the clicks of the month as stats and reports do. @returns one row `clicks` */
export function trackedClicksSql({ accountId, month }: UsagePlan): Fragment {
  return ch`
SELECT sum(clicks) AS clicks
FROM sums_by_quarter_hour
WHERE account_id = ${text(accountId)}
  AND bucket >= ${instant(month.fromMs)}
  AND bucket < ${instant(month.untilMs)}`
}

import { notSet } from '../../../schema/dimensions.ts'
import { funnelGroupsMax } from '../../../schema/funnel.ts'
import { ch, count, type Fragment, identifier, join, text } from '../../stores/clickhouse/sql.ts'
import { chainsSql } from './chains.ts'
import type { FunnelPlan } from './plan.ts'
import { stepRowsSql } from './rows.ts'

/**
 * The steps of a funnel.
 * @returns one row: for each step from 1 `entered1`, …, from 2 `median2`, … (milliseconds, null if none). If the funnel is
 *   grouped: a row per group with `id`, by `entered1`, descending, then by id, and the totals of all groups
 */
export function funnelSql(plan: FunnelPlan): Fragment {
  const sums = plan.steps.flatMap((_, index) => {
    const step = index + 1
    const hasReached = ch`depth >= ${count(step)}`
    const entered = ch`countIf(${hasReached}) AS ${identifier(`entered${step}`)}`
    if (step === 1) return [entered]
    const gap = identifier(`gap${step}`)
    const median = ch`quantileExactInclusiveIf(0.5)(${gap}, ${hasReached}) AS ${identifier(`median${step}`)}`
    return [entered, median]
  })
  const chains = chainsSql(plan, stepRowsSql(plan))
  if (!plan.groupBy) {
    return ch`
SELECT ${join(sums, ', ')}
FROM (${chains})`
  }
  return ch`
SELECT if(bucket = '', ${text(notSet)}, bucket) AS id, ${join(sums, ', ')}
FROM (${chains})
GROUP BY id
WITH TOTALS
ORDER BY entered1 DESC, id
LIMIT ${count(funnelGroupsMax)}`
}

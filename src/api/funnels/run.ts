import type { ClickHouseSettings } from '@clickhouse/client'
import type { FunnelResponse } from '../../../schema/funnel.ts'
import { eventsByTime } from '../../query/eventRows.ts'
import { ratio } from '../../query/money.ts'
import { readGroups, readRows } from '../../query/readContext.ts'
import { rangeTexts, toInstantText } from '../../query/timeRange.ts'
import { readNames } from '../../rows/dimensionNames.ts'
import type { RowContext } from '../../rows/nameCache.ts'
import { longRead } from '../../stores/clickhouse/select.ts'
import { type FunnelPlan, kindOf } from './plan.ts'
import { anyWithoutVisitorSql, funnelSql } from './sql.ts'

export const funnelSettings: ClickHouseSettings = {
  ...eventsByTime,
  // Sets of hashes, which no key has, would be read before the rows instead of beside them.
  use_index_for_in_with_subqueries: 0,
  // Share of a query's memory limit above which ClickHouse groups on disk; joins need the rest.
  max_bytes_ratio_before_external_group_by: 0.375,
  ...longRead,
}

/** `entered1`, `median2`, …; medians in milliseconds. */
type StepSums = Record<string, number | null>

/** Computes a funnel. */
export async function runFunnel(context: RowContext, plan: FunnelPlan): Promise<FunnelResponse> {
  const range = rangeTexts(plan.range)
  const asOf = toInstantText(plan.nowMs)
  const readsEventVisitors = plan.by === 'visitor' && plan.labels.some((label) => kindOf(label) === 'event')
  const [events] = readsEventVisitors
    ? await readRows<{ found: 0 | 1 }>(context, anyWithoutVisitorSql(plan.accountId), 'funnels', funnelSettings)
    : []
  // Without events that lack a visitor, the statement needs no join. Such an event that is stored meanwhile is left out.
  const query = funnelSql(plan, events?.found === 1)
  if (!plan.groupBy) {
    const [sums] = await readRows<StepSums>(context, query, 'funnels', funnelSettings)
    return { ...range, steps: stepResults(plan, sums ?? {}), ...plan.retained, asOf }
  }
  type Group = StepSums & { id: string }
  const { rows, totals } = await readGroups<Group>(context, query, 'funnels', funnelSettings)
  const ids = rows.map(({ id }) => id)
  const nameOf = await readNames(context.nameCache, plan.accountId, plan.groupBy, ids)
  const data = rows.map((row) => ({ id: row.id, name: nameOf(row.id), steps: stepResults(plan, row) }))
  return { ...range, steps: stepResults(plan, totals), data, ...plan.retained, asOf }
}

function stepResults({ steps }: FunnelPlan, sums: StepSums): FunnelResponse['steps'] {
  const enteredAt = (index: number) => sums[`entered${index + 1}`] ?? 0
  return steps.map((step, index) => {
    const entered = enteredAt(index)
    const medianMs = sums[`median${index + 1}`] ?? null
    return {
      step,
      entered,
      fromPrevious: index === 0 ? null : ratio(entered, enteredAt(index - 1), 100),
      fromFirst: ratio(entered, enteredAt(0), 100),
      medianSeconds: medianMs === null ? null : medianMs / 1000,
    }
  })
}

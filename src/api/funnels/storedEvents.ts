import type { ClickHouseSettings } from '@clickhouse/client'
import type { ClickHouse } from '../../stores/clickhouse/connection.ts'
import { longRead, selectRows } from '../../stores/clickhouse/select.ts'
import { copiedKeysMax, copiedKeysSql, type StoredEvents } from './copies.ts'
import { copyRangesOf, type EventPart, eventPartsSql } from './copyRanges.ts'
import { clickCountSql, type EventCounts, eventCountsSql } from './eventRows.ts'
import { type FunnelPlan, joinsFirstEvents } from './plan.ts'

/** Share of a query's memory limit above which ClickHouse groups on disk; joins need the rest. */
const groupingRatio = 0.375

/** Settings of the queries of a funnel. */
export const funnelSettings: ClickHouseSettings = {
  preferred_optimize_projection_name: 'by_time',
  // ClickHouse would compare events with the clicks of bots before it compares their times.
  allow_reorder_prewhere_conditions: 0,
  do_not_merge_across_partitions_select_final: 1,
  max_bytes_ratio_before_external_group_by: groupingRatio,
  ...longRead,
}

/** A click that is looked up takes at least as much time as this number of clicks that are read in order. */
const clicksPerEvent = 4

/**
 * Maximum number of clicks that all joins of a query read. A click takes 100 to 200 bytes of memory in each, a query may use
 * 4 GB, and grouping uses 1.5 GB of that.
 */
const joinedClicksMax = 10_000_000

/**
 * Finds the events of a funnel that are stored more than once, and what its joins have to read.
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function readStoredEvents(
  { clickhouse }: { clickhouse: ClickHouse },
  plan: FunnelPlan,
  signal: AbortSignal,
): Promise<StoredEvents> {
  const options = { label: 'funnels.copies', signal, settings: funnelSettings }
  const parts = await selectRows<EventPart>(clickhouse, eventPartsSql(plan.accountId), options)
  const ranges = copyRangesOf(parts)
  const mayHaveCopies = ranges.occurred.length > 0
  const copied = mayHaveCopies
    ? await selectRows<{ hash: number }>(clickhouse, copiedKeysSql(plan, ranges), options)
    : []
  const joinsFirst = joinsFirstEvents(plan)
  const mayJoinLater = plan.by === 'visitor' && parts.some(({ withoutVisitor }) => withoutVisitor > 0)
  const [counts = { first: 0, withoutVisitor: 0 }] =
    joinsFirst || mayJoinLater ? await selectRows<EventCounts>(clickhouse, eventCountsSql(plan), options) : []
  const first = joinsFirst ? counts.first : 0
  const withoutVisitor = mayJoinLater ? counts.withoutVisitor : 0
  return {
    copies: copied.length > copiedKeysMax ? 'many' : copied.map(({ hash }) => hash),
    areJoined: withoutVisitor > 0,
    readsAllClicks: await findJoinsOfAllClicks(first, withoutVisitor, async () => {
      const [row] = await selectRows<{ clicks: number }>(clickhouse, clickCountSql(plan), options)
      return row?.clicks ?? 0
    }),
  }
}

/**
 * @param first number of events of the first step that are joined
 * @param later maximum number of later events that are joined
 * @param countClicks counts the clicks of the account; not called if no event is joined
 */
async function findJoinsOfAllClicks(
  first: number,
  later: number,
  countClicks: () => Promise<number>,
): Promise<StoredEvents['readsAllClicks']> {
  if (first === 0 && later === 0) return { first: false, later: false }
  const clicks = await countClicks()
  const clicksMax = first > 0 && later > 0 ? joinedClicksMax / 2 : joinedClicksMax
  const isFaster = (events: number) => events > 0 && clicks <= Math.min(clicksPerEvent * events, clicksMax)
  return { first: isFaster(first), later: isFaster(later) }
}

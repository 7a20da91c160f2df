import { ch, type Fragment } from '../sql/fragment.ts'
import { runStatement } from '../sql/write.ts'
import type { ClickHouse } from '../stores/clickhouse.ts'
import { type Rollup, type RollupName, rollups, type Span } from './catalogue.ts'

/**
 * Every key of a rollup whose sums are not those of the clicks: the key, `true_clicks` and `true_cost`, `stored_clicks`
 * and `stored_cost`. No row: the rollup is right for that span.
 * @param span whole UTC days
 */
export function differences(name: RollupName, span: Span): Fragment {
  const { keys, fromClicks, stored }: Rollup = rollups[name]
  return ch`
SELECT
  account_id, ${keys},
  sumIf(clicks, is_true) AS true_clicks, sumIf(cost, is_true) AS true_cost,
  sumIf(clicks, NOT is_true) AS stored_clicks, sumIf(cost, NOT is_true) AS stored_cost
FROM (
  SELECT *, true AS is_true FROM (${fromClicks(span)})
  UNION ALL
  SELECT *, false AS is_true FROM (${stored(span)}))
GROUP BY account_id, ${keys}
HAVING true_clicks != stored_clicks OR true_cost != stored_cost`
}

/**
 * Makes a rollup right by inserting what is missing, or too much, as one block: readers see the old sums or the right
 * ones, and running it again changes nothing. Nobody else may write clicks of the account meanwhile.
 * @param span whole UTC days of one year, which is one partition and so one part
 * @throws Problem `unavailable` when its outcome is not known
 */
export async function repair(clickhouse: ClickHouse, name: RollupName, span: Span): Promise<void> {
  const { table, keys }: Rollup = rollups[name]
  await runStatement(
    clickhouse,
    ch`
INSERT INTO ${table} (account_id, ${keys}, clicks, cost)
SELECT account_id, ${keys}, true_clicks - stored_clicks, true_cost - stored_cost
FROM (${differences(name, span)})`,
    `repair.${name}`,
  )
}

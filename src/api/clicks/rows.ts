import type { Click } from '../../../schema/click.ts'
import type { RouteContext } from '../../http/context.ts'
import type { PageKey } from '../../query/pagination.ts'
import { type StoredClick, toClick } from '../../rows/clicks.ts'
import { readEntityNames } from '../../rows/entityNames.ts'
import { selectRows, smallFinal } from '../../stores/clickhouse/select.ts'
import type { ClickPlan } from './plan.ts'
import { clickRowsSql, conversionCountsSql } from './sql.ts'

/**
 * Reads the clicks at these keys, in their order, with their conversion counts and the names of their entities.
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function readClicks(
  { stores, nameCache }: RouteContext,
  plan: ClickPlan,
  keys: PageKey[],
  signal: AbortSignal,
): Promise<Click[]> {
  if (keys.length === 0) return []
  const [rows, counts] = await Promise.all([
    readRows(stores, plan, keys, signal),
    selectRows<{ id: string; conversionCount: number }>(stores.clickhouse, conversionCountsSql(plan.accountId, keys), {
      label: 'clicks.conversions',
      signal,
      settings: smallFinal,
    }),
  ])
  const rowById = new Map(rows.map((row) => [row.id, row]))
  const countById = new Map(counts.map(({ id, conversionCount }) => [id, conversionCount]))
  const entitiesOf = await readEntityNames(nameCache, plan.accountId, rows)
  return keys.flatMap(({ id }) => {
    const row = rowById.get(id)
    return row
      ? [
          toClick(row, {
            entities: entitiesOf(row),
            baseCurrency: plan.baseCurrency,
            conversionCount: countById.get(id) ?? 0,
          }),
        ]
      : []
  })
}

/** Reads the rows at these keys, unordered; converted clicks from their copies, which are close together on disk. */
async function readRows(
  { clickhouse }: RouteContext['stores'],
  plan: ClickPlan,
  keys: PageKey[],
  signal: AbortSignal,
): Promise<StoredClick[]> {
  const readFrom = (table: Parameters<typeof clickRowsSql>[0], wanted: PageKey[]) =>
    selectRows<StoredClick>(clickhouse, clickRowsSql(table, plan.accountId, wanted), { label: 'clicks.rows', signal })
  if (!plan.converted) return readFrom('clicks', keys)
  const rows = await readFrom('converted_click_rows', keys)
  const found = new Set(rows.map(({ id }) => id))
  const missing = keys.filter(({ id }) => !found.has(id))
  return missing.length === 0 ? rows : [...rows, ...(await readFrom('clicks', missing))]
}

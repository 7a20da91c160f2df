import type { Click } from '../../schema/click.ts'
import type { PageKey } from '../query/pagination.ts'
import { type QueryTarget, selectRows, smallFinal } from '../stores/clickhouse/select.ts'
import { ch, type Fragment, identifier, instantKeys, text } from '../stores/clickhouse/sql.ts'
import { clickColumns, type StoredClick, toClick } from './clicks.ts'
import { readEntityNames } from './entityNames.ts'
import type { NameCache } from './nameCache.ts'

/** Which clicks to read. */
export interface ClickQuery {
  accountId: string
  /** Currency of the account. */
  baseCurrency: string
  /** Whether most of the clicks have conversions. */
  converted?: boolean | undefined
}

/**
 * Reads the clicks at these keys, in their order, with their conversion counts and the names of their entities.
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function readClicks(
  { stores, nameCache }: { stores: { clickhouse: QueryTarget }; nameCache: NameCache },
  query: ClickQuery,
  keys: readonly PageKey[],
  signal: AbortSignal,
): Promise<Click[]> {
  if (keys.length === 0) return []
  const [rows, counts] = await Promise.all([
    readRows(stores.clickhouse, query, keys, signal),
    selectRows<{ id: string; conversionCount: number }>(stores.clickhouse, conversionCountsSql(query.accountId, keys), {
      label: 'clicks.conversions',
      signal,
      settings: smallFinal,
    }),
  ])
  const rowById = new Map(rows.map((row) => [row.id, row]))
  const countById = new Map(counts.map(({ id, conversionCount }) => [id, conversionCount]))
  const entitiesOf = await readEntityNames(nameCache, query.accountId, rows)
  return keys.flatMap(({ id }) => {
    const row = rowById.get(id)
    return row
      ? [
          toClick(row, {
            entities: entitiesOf(row),
            baseCurrency: query.baseCurrency,
            conversionCount: countById.get(id) ?? 0,
          }),
        ]
      : []
  })
}

/** Reads the rows at these keys, unordered; converted clicks from their copies, which are close together on disk. */
async function readRows(
  clickhouse: QueryTarget,
  { accountId, converted }: ClickQuery,
  keys: readonly PageKey[],
  signal: AbortSignal,
): Promise<StoredClick[]> {
  const readFrom = (table: Parameters<typeof clickRowsSql>[0], wanted: readonly PageKey[]) =>
    selectRows<StoredClick>(clickhouse, clickRowsSql(table, accountId, wanted), { label: 'clicks.rows', signal })
  if (!converted) return readFrom('clicks', keys)
  const rows = await readFrom('converted_click_rows', keys)
  const found = new Set(rows.map(({ id }) => id))
  const missing = keys.filter(({ id }) => !found.has(id))
  return missing.length === 0 ? rows : [...rows, ...(await readFrom('clicks', missing))]
}

/**
 * The clicks of a page by their sort keys, unordered; columns as stored.
 * @param table `converted_click_rows` has copies of most clicks with conversions
 */
function clickRowsSql(table: 'clicks' | 'converted_click_rows', accountId: string, keys: readonly PageKey[]): Fragment {
  return ch`
SELECT ${clickColumns}
FROM ${identifier(table)}
WHERE account_id = ${text(accountId)}
  AND (clicked_at, id) IN ${instantKeys(keys)}`
}

/** @returns rows `id`, `conversionCount` of the clicks of a page with conversions that are not tests */
function conversionCountsSql(accountId: string, keys: readonly PageKey[]): Fragment {
  return ch`
SELECT click_id AS id, count() AS conversionCount
FROM converted_clicks FINAL
WHERE account_id = ${text(accountId)}
  AND (clicked_at, click_id) IN ${instantKeys(keys)}
  AND NOT is_test
GROUP BY click_id`
}

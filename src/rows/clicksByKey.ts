import type { ClickHouseSettings } from '@clickhouse/client'
import type { Click } from '../../schema/click.ts'
import type { PageKey } from '../query/pagination.ts'
import { type QueryTarget, selectRows, smallFinal, smallRead } from '../stores/clickhouse/select.ts'
import { ch, type Fragment, identifier, instant, instantKeys, text } from '../stores/clickhouse/sql.ts'
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

/** What reads of clicks need. */
interface ClickContext {
  stores: { clickhouse: QueryTarget }
  nameCache: NameCache
}

/**
 * Reads the clicks at these keys, in their order, with their conversion counts and the names of their entities.
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function readClicks(
  context: ClickContext,
  query: ClickQuery,
  keys: readonly PageKey[],
  signal: AbortSignal,
): Promise<Click[]> {
  if (keys.length === 0) return []
  const [rows, counts] = await Promise.all([
    readStoredClicks(context.stores.clickhouse, query, keys, signal),
    readConversionCounts(context.stores.clickhouse, query.accountId, inKeys(keys), signal),
  ])
  return toClicks(context, query, rows, counts)
}

/** Adds conversion counts and the names of entities to stored clicks. @throws Problem `unavailable` */
export async function toClicks(
  { nameCache }: Pick<ClickContext, 'nameCache'>,
  { accountId, baseCurrency }: ClickQuery,
  rows: readonly StoredClick[],
  counts: ReadonlyMap<string, number>,
): Promise<Click[]> {
  const entitiesOf = await readEntityNames(nameCache, accountId, rows)
  return rows.map((row) =>
    toClick(row, { entities: entitiesOf(row), baseCurrency, conversionCount: counts.get(row.id) ?? 0 }),
  )
}

/**
 * Reads the stored clicks at these keys, in their order, without those that were removed; converted clicks from their copies,
 * which are close together on disk.
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function readStoredClicks(
  clickhouse: QueryTarget,
  { accountId, converted }: ClickQuery,
  keys: readonly PageKey[],
  signal: AbortSignal,
): Promise<StoredClick[]> {
  const rowById = new Map<string, StoredClick>()
  for (const table of converted ? (['converted_click_rows', 'clicks'] as const) : (['clicks'] as const)) {
    const missing = keys.filter(({ id }) => !rowById.has(id))
    if (missing.length === 0) break
    const query = clickRowsSql(table, accountId, missing)
    const rows = await selectRows<StoredClick>(clickhouse, query, { label: 'clicks.rows', signal })
    for (const row of rows) rowById.set(row.id, row)
  }
  return keys.flatMap(({ id }) => rowById.get(id) ?? [])
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

/** Which converted clicks to read: a condition, and the settings of its query. */
export interface ConvertedClicks {
  condition: Fragment
  settings: ClickHouseSettings
}

/** The converted clicks at these keys. */
export function inKeys(keys: readonly PageKey[]): ConvertedClicks {
  return { condition: ch`(clicked_at, click_id) IN ${instantKeys(keys)}`, settings: smallFinal }
}

/**
 * The converted clicks from the first to the last of these keys: those of a page of a list with all clicks. The condition of the
 * times is for the primary key; thousands of clicks may have the same time.
 * @param keys newest first, those with equal times by id, descending; at least one
 */
export function betweenKeys(keys: readonly PageKey[]): ConvertedClicks {
  const [newest, oldest] = [keys[0], keys.at(-1)] as [PageKey, PageKey]
  const tuple = ({ atMs, id }: PageKey) => ch`(${instant(atMs)}, ${text(id)})`
  const condition = ch`clicked_at BETWEEN ${instant(oldest.atMs)} AND ${instant(newest.atMs)}
  AND (clicked_at, click_id) BETWEEN ${tuple(oldest)} AND ${tuple(newest)}`
  return { condition, settings: { ...smallFinal, ...smallRead } }
}

/**
 * Counts the conversions of clicks that are not tests; clicks without them are absent.
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function readConversionCounts(
  clickhouse: QueryTarget,
  accountId: string,
  { condition, settings }: ConvertedClicks,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  const counts = await selectRows<{ id: string; conversionCount: number }>(
    clickhouse,
    ch`
SELECT click_id AS id, count() AS conversionCount
FROM converted_clicks FINAL
WHERE account_id = ${text(accountId)}
  AND ${condition}
  AND NOT is_test
GROUP BY click_id`,
    { label: 'clicks.conversions', signal, settings },
  )
  return new Map(counts.map(({ id, conversionCount }) => [id, conversionCount]))
}

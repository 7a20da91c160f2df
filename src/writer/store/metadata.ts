import type { NamedTable } from '../../../schema/metadata.ts'
import { searchedTables, searchTextOf } from '../../query/searchText.ts'
import { columnName } from '../../stores/clickhouse/columnKinds.ts'
import { metadataFields } from '../../stores/postgres/metadataFields.ts'
import { inChunks } from '../erasure/matching.ts'
import type { WriteSession } from '../fence/session.ts'
import { keyText } from '../tables/accountKeys.ts'
import type { RowOutcome } from '../upserts/rowOutcome.ts'

/** A row of a metadata table, by column; amounts and times are text. Dates that the file does not give are null. */
export interface MetadataRow {
  account_id: string
  id: string
  name: string
  status: string
  tags?: string[]
  created_at: string | null
  updated_at: string | null
  [column: string]: string | string[] | null | undefined
}

/** Columns that an upsert replaces: all but the id and the dates. Their names are constants. */
function replacedColumns(table: NamedTable): string[] {
  const fields = Object.keys(metadataFields[table])
  const columns = fields.filter((name) => !['id', 'createdAt', 'updatedAt'].includes(name)).map(columnName)
  return isSearched(table) ? [...columns, 'search_text'] : columns
}

const isSearched = (table: NamedTable): boolean => (searchedTables as readonly NamedTable[]).includes(table)

const rowsPerStatement = 2_000

/**
 * Upserts campaigns, offers, landing pages or traffic sources by id; of rows with one id the last wins. Without `created_at` a
 * row keeps the stored value; without `updated_at` it gets `nowMs` (epoch milliseconds) if another column changed.
 * @returns the outcome of each row; one that a later row replaces is a duplicate
 */
export async function storeMetadata(
  session: WriteSession,
  table: NamedTable,
  rows: readonly MetadataRow[],
  nowMs: number,
): Promise<RowOutcome[]> {
  const last = new Map<string, MetadataRow>()
  const indexes = new Map<string, number>()
  for (const [index, row] of rows.entries()) {
    const key = keyOf(row)
    last.set(key, { ...row, created_at: row.created_at ?? last.get(key)?.created_at ?? null })
    indexes.set(key, index)
  }
  const distinct = [...last.values()]
  const outcomes: RowOutcome[] = rows.map(() => 'duplicate')
  for (const some of inChunks(distinct, rowsPerStatement)) {
    const changed = await upsert(session, table, some, new Date(nowMs).toISOString())
    for (const row of changed) outcomes[indexes.get(keyOf(row)) ?? 0] = row.isNew ? 'inserted' : 'updated'
  }
  return outcomes
}

const keyOf = ({ account_id, id }: Pick<MetadataRow, 'account_id' | 'id'>) => keyText({ accountId: account_id, id })

type Changed = Pick<MetadataRow, 'account_id' | 'id'> & { isNew: boolean }

/** @returns the rows that change a stored row or are new, read before the upsert: a retry finds them stored by a commit without response */
async function upsert(session: WriteSession, table: NamedTable, rows: readonly MetadataRow[], now: string) {
  const { postgres } = session.stores
  const names = replacedColumns(table)
  const all = [...names, 'created_at', 'updated_at']
  // TRAP: the driver's own column list becomes assignments after SET.
  const list = (prefix: string, columns = names) =>
    postgres.unsafe(columns.map((name) => `${prefix}${name}`).join(', '))
  const records = rows.map((row) => ({ ...row, ...(isSearched(table) && { search_text: searchTextOf(row) }) }))
  const dated = () => postgres`
    records AS (
      SELECT * FROM jsonb_populate_recordset(NULL::${postgres(table)}, ${postgres.json(records)})
    ), dated AS (
      SELECT records.account_id, records.id, ${list('records.')},
        coalesce(records.created_at, stored.created_at, ${now}::timestamptz) AS created_at,
        CASE
          WHEN records.updated_at IS NOT NULL THEN records.updated_at
          WHEN stored.id IS NULL THEN coalesce(records.created_at, ${now}::timestamptz)
          WHEN (${list('records.')}) IS NOT DISTINCT FROM (${list('stored.')})
            AND coalesce(records.created_at, stored.created_at) = stored.created_at THEN stored.updated_at
          ELSE ${now}::timestamptz
        END AS updated_at
      FROM records
      LEFT JOIN ${postgres(table)} AS stored ON stored.account_id = records.account_id AND stored.id = records.id
    )`
  const isChanged = (prefix: string) => postgres`(${list('stored.', all)}) IS DISTINCT FROM (${list(prefix, all)})`
  const changed = await session.sql<Changed[]>('comparing a batch with the stored rows')`
    WITH ${dated()}
    SELECT dated.account_id, dated.id, stored.id IS NULL AS "isNew"
    FROM dated
    LEFT JOIN ${postgres(table)} AS stored ON stored.account_id = dated.account_id AND stored.id = dated.id
    WHERE stored.id IS NULL OR ${isChanged('dated.')}`
  await session.change('storing a batch')`
    ${dated()},
    upserted AS (
      INSERT INTO ${postgres(table)} AS stored (account_id, id, ${list('', all)})
      SELECT account_id, id, ${list('dated.', all)} FROM dated, held
      ON CONFLICT (account_id, id) DO UPDATE SET (${list('', all)}) = ROW (${list('excluded.', all)})
      WHERE ${isChanged('excluded.')})`
  return changed
}

import type { PageKey } from '../../query/pagination.ts'
import type { ReadContext } from '../../query/readContext.ts'
import { type searchedTables, valuePositions, valueSeparator } from '../../query/searchText.ts'
import type { Fragment } from '../../stores/clickhouse/sql.ts'
import { writeTexts } from '../../stores/clickhouse/textList.ts'
import { type Postgres, queryPostgres, withNewPlan } from '../../stores/postgres/connection.ts'

interface SliceQuery {
  accountId: string
  table: (typeof searchedTables)[number]
  values: readonly (keyof typeof valuePositions)[]
  folded: string
}

export type FoundRow<Row> = { row: Row; positions: number[] }

/**
 * Limits of one slice, for about 5 ms: the embedded engine runs one statement at a time, and key look-ups wait for it.
 * The worst text costs 20 ns per byte.
 */
const sliceRowsMax = 500
const sliceBytesMax = 128 * 1024

/**
 * Searches a table, newest first, slice by slice. The signal ends the search between two slices. TRAP: Postgres may cancel the next
 * statement of the connection, of another account, instead of the running one; a slice is too short to cancel.
 * @param columns select list of the rows found, with `id` and `created_at AS "createdAt"`; undefined for `id`, `name` and
 *   `createdAt` alone
 * @param after key of the last row before the first one
 * @param rowsMax maximum number of rows returned
 */
export async function* searchRows<Row extends { id: string; createdAt: Date }>(
  { stores: { postgresReader: postgres }, signal }: ReadContext,
  { accountId, table, values, folded }: SliceQuery,
  columns: ReturnType<Postgres['unsafe']> | undefined,
  after: PageKey | undefined,
  rowsMax: number,
): AsyncGenerator<FoundRow<Row>, undefined> {
  const positions = values.map((value) => valuePositions[value])
  // LATERAL with LIMIT reads each row by its primary key; a join might read the whole table to find a few.
  const found =
    columns &&
    postgres`
      CROSS JOIN LATERAL (
        SELECT ${columns}
        FROM ${postgres(table)}
        WHERE account_id = ${accountId} AND id = next_id
        LIMIT 1
      ) AS found`
  let from = after
  for (let missing = rowsMax; missing > 0; ) {
    const before = from === undefined ? 'infinity' : new Date(from.atMs).toISOString()
    const slice = postgres<(Row & { positions: number[]; isEnd: boolean })[]>`
        WITH examined AS (
          SELECT next_id, next_at, next_name, next_text,
            row_number() OVER newest AS number,
            sum(octet_length(next_text)) OVER newest AS bytes,
            count(*) OVER () AS total
          FROM ${postgres(`next_${table}`)}(${accountId}, ${before}::text::timestamptz, ${from?.id ?? ''}, ${sliceRowsMax})
          WINDOW newest AS (ORDER BY next_at DESC, next_id DESC)
        ), searched AS MATERIALIZED (
          SELECT next_id, next_at, next_name, number,
            bytes >= ${sliceBytesMax} OR number = total AS is_last,
            number = total AND total < ${sliceRowsMax} AS "isEnd",
            CASE WHEN strpos(next_text, ${folded}) = 0 THEN '{}'::integer[] ELSE ARRAY(
              SELECT position::integer
              FROM unnest(string_to_array(next_text, ${valueSeparator})) WITH ORDINALITY AS stored (value, position)
              WHERE least(position, ${valuePositions.tags}) = ANY(${positions}::integer[])
                AND strpos(value, ${folded}) > 0
              ORDER BY position
            ) END AS positions
          FROM examined
          WHERE bytes - octet_length(next_text) < ${sliceBytesMax}
        )
        SELECT positions, "isEnd",
          ${found ? postgres`found.*` : postgres`next_id AS id, next_name AS name, next_at AS "createdAt"`}
        FROM (
          SELECT next_id, next_at, next_name, number, "isEnd", positions
          FROM searched
          WHERE positions <> '{}' OR is_last
          ORDER BY number
          LIMIT ${missing}
        ) AS next ${found ?? postgres``}
        ORDER BY number`
    // The functions `next_…` always read an index, so only the plan of `found` depends on the size of the table.
    signal.throwIfAborted()
    const read = await queryPostgres(found ? withNewPlan(slice) : slice)
    for (const { positions, isEnd: _, ...row } of read) {
      if (positions.length === 0) continue
      missing -= 1
      yield { row: row as unknown as Row, positions }
    }
    const last = read.at(-1)
    if (last === undefined || last.isEnd) return
    from = { atMs: last.createdAt.getTime(), id: last.id }
  }
}

/** Ids that are written in one turn of the event loop. */
const idsAtOnce = 1_000

/** More rows than a table has. */
const allRows = 2_147_483_647

/** Finds the campaigns or offers with a name that contains the text. @returns their ids, arrays for `concat`; empty without one */
export async function findIdsByName(context: ReadContext, query: Omit<SliceQuery, 'values'>): Promise<Fragment[]> {
  const written: Fragment[] = []
  let ids: string[] = []
  type Named = { id: string; name: string; createdAt: Date }
  const found = searchRows<Named>(context, { ...query, values: ['name'] }, undefined, undefined, allRows)
  for await (const { row } of found) {
    ids.push(row.id)
    if (ids.length < idsAtOnce) continue
    written.push(...writeTexts(ids))
    ids = []
  }
  return ids.length === 0 ? written : [...written, ...writeTexts(ids)]
}

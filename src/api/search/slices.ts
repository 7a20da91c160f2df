import type { PageKey } from '../../query/pagination.ts'
import { type searchedTables, valuePositions, valueSeparator } from '../../query/searchText.ts'
import { type Postgres, queryUntilAborted, withNewPlan } from '../../stores/postgres/connection.ts'

/** A search in one table of metadata. */
export interface SliceQuery {
  accountId: string
  table: (typeof searchedTables)[number]
  /** The searched fields. */
  values: readonly (keyof typeof valuePositions)[]
  /** The search text with its case folded. */
  folded: string
}

/** The matching rows of one slice of a table. */
export interface Slice<Row> {
  /** Newest first, each with the positions of the matching values. */
  found: { row: Row; positions: number[] }[]
  /** Key after which the next slice begins; undefined after the last slice. */
  next: PageKey | undefined
}

/**
 * Limits of one slice, for about 5 ms: the embedded engine runs one statement at a time, and key look-ups wait for it.
 * The worst text costs 20 ns per byte.
 */
const sliceRowsMax = 500
const sliceBytesMax = 128 * 1024

/**
 * Searches the next rows of a table, newest first.
 * @param columns select list of the rows found, with `id` and `created_at AS "createdAt"`; undefined for `id`, `name` and
 *   `createdAt` alone
 * @param from last key of the previous slice
 * @param rowsMax maximum number of rows returned
 * @throws Problem `unavailable`, `query_timeout`, or the signal's reason
 */
export async function readSlice<Row extends { id: string; createdAt: Date }>(
  postgres: Postgres,
  { accountId, table, values, folded }: SliceQuery,
  columns: ReturnType<Postgres['unsafe']> | undefined,
  from: PageKey | undefined,
  rowsMax: number,
  signal: AbortSignal,
): Promise<Slice<Row>> {
  const positions = values.map((value) => valuePositions[value])
  const before = from === undefined ? 'infinity' : new Date(from.atMs).toISOString()
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
        LIMIT ${rowsMax}
      ) AS next ${found ?? postgres``}
      ORDER BY number`
  // The functions `next_…` always read an index, so only the plan of `found` depends on the size of the table.
  const read = await queryUntilAborted(found ? withNewPlan(slice) : slice, signal)
  const last = read.at(-1)
  return {
    found: read.flatMap(({ positions, isEnd: _, ...row }) =>
      positions.length === 0 ? [] : [{ row: row as unknown as Row, positions }],
    ),
    next: last === undefined || last.isEnd ? undefined : { atMs: last.createdAt.getTime(), id: last.id },
  }
}

import { setImmediate as nextTurn } from 'node:timers/promises'
import { type PendingQuery, type Postgres, queryPostgres, withNewPlan } from './connection.ts'

/** Bytes of one part, unless one row has more: they are written in some milliseconds. */
const partBytes = 256 << 10

/** Whether more rows may follow a row, although there are fewer than the limit. */
export type InPart<Row> = Row & { isFull: boolean }

/**
 * The first rows of a query, until they have `bytesMax`.
 * @param rows a query with an order and a limit
 * @param order of its columns
 */
export function firstBytes<Row>(
  postgres: Postgres,
  rows: PendingQuery<object[]>,
  order: PendingQuery<object[]>,
  bytesMax = partBytes,
): PendingQuery<InPart<Row>[]> {
  return postgres<InPart<Row>[]>`
    SELECT (next).*, bytes >= ${bytesMax} AS "isFull"
    FROM (
      SELECT next, octet_length(next::text) AS row_bytes, sum(octet_length(next::text)) OVER (ORDER BY ${order}) AS bytes
      FROM (${rows}) AS next
    ) AS counted
    WHERE bytes - row_bytes < ${bytesMax}
    ORDER BY bytes`
}

/**
 * Reads rows in parts that are bounded by rows and bytes: few enough that a key look-up does not wait long behind a statement on the
 * embedded engine. Other requests are handled in between.
 * @param select the first rows after a row, as `firstBytes`, at most `limit`
 * @returns at least one part, which may be empty
 */
export async function* readInParts<Row>(
  select: (last: Row | undefined, limit: number) => PendingQuery<InPart<Row>[]>,
  rowsMax: number,
): AsyncGenerator<readonly Row[]> {
  let last: InPart<Row> | undefined
  for (let limit = rowsMax; ; ) {
    const rows = await queryPostgres(withNewPlan(select(last, limit)))
    await nextTurn()
    yield rows
    last = rows.at(-1)
    if (!last || (rows.length < limit && !last.isFull)) return
    // The statement measures all rows up to its limit, also those that it does not return.
    limit = Math.min(rowsMax, 2 * rows.length)
  }
}

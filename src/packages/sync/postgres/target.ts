import postgres from 'postgres'
import type { DayChecksum, DayRange } from '../source/checksums.ts'
import { assertSameAccount, SyncError } from '../source/errors.ts'
import { isCursor, isDay, isInstant, type Row } from '../source/received.ts'
import { type ChangingResource, columnNameOf, type Resource } from '../source/resources.ts'
import { jsonOf, otherRows, recordColumns } from './rows.ts'
import { createTables } from './tables.ts'

/** How far a resource has been copied. */
export interface SyncState {
  /** First UTC day of the copy; null for all. */
  firstDay: string | null
  /** The `updated_since` of the pass; null for a complete export. */
  since: string | null
  /** The `updated_since` of the next pass; null until the first response of this pass. */
  nextSince: string | null
  /** Cursor of the last stored row of an unfinished pass; null if there is none. */
  cursor: string | null
  /** Columns that were added to a table with rows and that the pass fills, separated by commas; null if there are none. */
  newColumns: string | null
}

/** A copy in PostgreSQL. */
export type Target = Awaited<ReturnType<typeof openTarget>>

/**
 * Opens a copy, and creates or upgrades its tables.
 * @param schema a checked name
 */
export async function openTarget(url: string, schema: string) {
  const sql = postgres(url, { max: 1, onnotice() {}, connection: { application_name: 'tributary-sync' } })
  try {
    await createTables(sql, schema)
  } catch (error) {
    await sql.end({ timeout: 1 })
    throw error
  }
  /** Changes the state if it is what this process has read or written last. */
  const changeState = `
    INSERT INTO ${schema}.sync_state AS s (resource, first_day, since, next_since, cursor, new_columns)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (resource) DO UPDATE
    SET first_day = excluded.first_day, since = excluded.since, next_since = excluded.next_since, cursor = excluded.cursor,
      new_columns = excluded.new_columns
    WHERE s.since IS NOT DISTINCT FROM $7 AND s.cursor IS NOT DISTINCT FROM $8
    RETURNING 1`
  return {
    /**
     * Assigns the copy to an account, once.
     * @throws SyncError when it is a copy of another account
     */
    async assign(accountId: string): Promise<void> {
      const [source] = await sql.unsafe<[{ accountId: string }]>(
        `INSERT INTO ${schema}.sync_source AS s (account_id) VALUES ($1)
         ON CONFLICT (is_only) DO UPDATE SET account_id = s.account_id
         RETURNING account_id AS "accountId"`,
        [accountId],
      )
      assertSameAccount(`the schema ${schema}`, source.accountId, accountId)
    },
    /** @throws SyncError when the state is not one that this program writes */
    async readState({ name }: Resource): Promise<SyncState> {
      // FOR UPDATE waits for the last statement of a process that was killed.
      const [row] = await sql.unsafe<[SyncState?]>(
        `SELECT first_day::text AS "firstDay", since, next_since AS "nextSince", cursor, new_columns AS "newColumns"
         FROM ${schema}.sync_state WHERE resource = $1 FOR UPDATE`,
        [name],
      )
      if (!row) return { firstDay: null, since: null, nextSince: null, cursor: null, newColumns: null }
      const { firstDay, since, nextSince, cursor } = row
      const isNullOr = (isValid: (value: unknown) => boolean, value: unknown) => value === null || isValid(value)
      const isValid = isNullOr(isDay, firstDay) && isNullOr(isCursor, cursor) && isNullOr(isInstant, since)
      if (isValid && isNullOr(isInstant, nextSince)) return row
      throw new SyncError(
        `the row ${name} of ${schema}.sync_state was changed by another program; delete it, and the next run starts again.`,
      )
    },
    /**
     * Stores rows and how far they reach, in one statement: a process that ends at any moment continues where it was. A row
     * with the same `storedAt` is replaced only by a pass that fills new columns.
     * @returns number of rows that were inserted or changed
     * @throws SyncError when another process has changed the state
     */
    async store(resource: Resource, rows: readonly Row[], before: SyncState, after: SyncState): Promise<number> {
      const condition = before.newColumns === null ? 'WHERE t.stored_at <> excluded.stored_at' : ''
      // TRAP: not a transaction; a connection that breaks within one ends the process (postgres 3.4: its rollback finds no socket).
      const [written] = await sql.unsafe<[{ rows: number }?]>(
        `WITH state AS (${changeState}), stored AS (${upsertOf(resource, 9, ', state', `${condition} RETURNING 1`)})
         SELECT (SELECT count(*) FROM stored)::int AS rows FROM state`,
        [
          ...[resource.name, after.firstDay, after.since, after.nextSince, after.cursor, after.newColumns],
          ...[before.since, before.cursor],
          jsonOf(resource, rows),
        ],
      )
      if (!written) throw new SyncError(`another tributary-sync writes to the schema ${schema}; stop one of them.`)
      return written.rows
    },
    /** Inserts or replaces rows. */
    storeAll: replace,
    /** Checksums of the rows that were stored before `asOf`. */
    async checksums(
      { name, key, time, amount }: ChangingResource,
      asOf: string,
      { from, to }: DayRange,
    ): Promise<DayChecksum[]> {
      const timeColumn = columnNameOf(time)
      return await sql.unsafe<DayChecksum[]>(
        `SELECT to_char(${timeColumn} AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, count(*)::int AS rows,
           ${amount ? `coalesce(sum(${columnNameOf(amount)}), 0)` : 0}::text AS amount,
           lpad(to_hex(bit_xor(('x' || left(md5(${key.map((field) => `${columnNameOf(field)} || '|' || `).join('')}to_char(stored_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')), 15))::bit(60)::bigint)), 15, '0') AS hash
         FROM ${schema}.${name}
         WHERE stored_at < $1 AND ${timeColumn} >= $2::date::timestamp AT TIME ZONE 'UTC'
           AND ${timeColumn} < ($3::date + 1)::timestamp AT TIME ZONE 'UTC'
         GROUP BY day
         ORDER BY day`,
        [asOf, from, to],
      )
    },
    /** First and last UTC day with rows; undefined for an empty table. */
    async days({ name, time }: ChangingResource): Promise<DayRange | undefined> {
      const timeColumn = columnNameOf(time)
      const [row] = await sql.unsafe<[{ first: string | null; last: string }]>(
        `SELECT to_char(min(${timeColumn}) AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS first,
           to_char(max(${timeColumn}) AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS last
         FROM ${schema}.${name}`,
      )
      if (!row?.first) return undefined
      if (isDay(row.first) && isDay(row.last)) return { from: row.first, to: row.last }
      throw new SyncError(`${schema}.${name} has a row with ${timeColumn} before the year 1 or after 9999; delete it.`)
    },
    /**
     * Makes the rows of a UTC day equal to these: replaces each batch, and deletes the other rows between its first and its last.
     * @param batches all rows of the day, newest first
     * @param isComplete asked before rows are deleted, and after the last batch; if not, no further row is deleted
     * @returns number of rows; undefined if they are not complete
     */
    async replaceDay(
      resource: ChangingResource,
      day: string,
      batches: AsyncIterable<readonly Row[]>,
      isComplete: () => Promise<boolean>,
    ): Promise<number | undefined> {
      let count = 0
      let before: Row | undefined
      for await (const rows of batches) {
        await replace(resource, rows)
        const others = otherRows(schema, resource, day, { before, rows, last: rows.at(-1) })
        const [found] = await sql.unsafe(`SELECT 1 ${others.from} LIMIT 1`, others.values)
        if (found) {
          if (!(await isComplete())) return undefined
          await sql.unsafe(`DELETE ${others.from}`, others.values)
        }
        count += rows.length
        before = rows.at(-1)
      }
      if (!(await isComplete())) return undefined
      const rest = otherRows(schema, resource, day, { before, rows: [], last: undefined })
      await sql.unsafe(`DELETE ${rest.from}`, rest.values)
      return count
    },
    close: () => sql.end({ timeout: 5 }),
  }

  async function replace(resource: Resource, rows: readonly Row[]): Promise<void> {
    await sql.unsafe(upsertOf(resource, 1, '', ''), [jsonOf(resource, rows)])
  }

  /**
   * @param parameter number of the parameter with the rows as JSON
   * @param joined further tables of FROM
   * @param condition of the replacement of an existing row, and what follows
   */
  function upsertOf(resource: Resource, parameter: number, joined: string, condition: string): string {
    const { name, key, fields } = resource
    const names = Object.keys(fields)
    const columns = names.map(columnNameOf)
    const updates = columns.map((column) => `${column} = excluded.${column}`)
    return `INSERT INTO ${schema}.${name} AS t (${columns.join(', ')})
      SELECT ${names.map((field) => `r."${field}"${fields[field] === 'json' ? '::json' : ''}`).join(', ')}
      FROM json_to_recordset($${parameter}::text::json) AS r(${recordColumns(resource, names)})${joined}
      ON CONFLICT (${key.map(columnNameOf).join(', ')}) DO UPDATE SET ${updates.join(', ')} ${condition}`
  }
}

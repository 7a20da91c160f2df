import postgres from 'postgres'
import type { DayChecksum, DayRange } from '../checksums.ts'
import { assertSameAccount, SyncError } from '../errors.ts'
import { type ChangingResource, columnOf, type Resource } from '../resources.ts'
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
}

/** A row of the API. */
export type Row = Readonly<Record<string, unknown>>

/** A copy in PostgreSQL. */
export interface Target {
  /**
   * Assigns the copy to an account, once.
   * @throws SyncError when it is a copy of another account
   */
  assign(accountId: string): Promise<void>
  readState(resource: Resource): Promise<SyncState>
  /**
   * Stores rows and how far they reach, in one statement: a process that ends at any moment continues where it was.
   * @throws SyncError when another process has changed the state
   */
  store(resource: Resource, rows: readonly Row[], before: SyncState, after: SyncState): Promise<void>
  /** Inserts or replaces rows of metadata. */
  storeAll(resource: Resource, rows: readonly Row[]): Promise<void>
  /** Checksums of the rows that were stored before `asOf`. */
  checksums(resource: ChangingResource, asOf: string, range: DayRange): Promise<DayChecksum[]>
  /** First and last UTC day with rows; undefined for an empty table. */
  days(resource: ChangingResource): Promise<DayRange | undefined>
  /** Makes the rows of a UTC day equal to these: replaces them, then deletes all others. @returns number of rows */
  replaceDay(resource: ChangingResource, day: string, batches: AsyncIterable<readonly Row[]>): Promise<number>
  close(): Promise<void>
}

/**
 * Opens a copy, and creates or upgrades its tables.
 * @param schema a checked name
 */
export async function openPostgres(url: string, schema: string): Promise<Target> {
  const sql = postgres(url, { max: 1, onnotice() {}, connection: { application_name: 'tributary-sync' } })
  try {
    await createTables(sql, schema)
  } catch (error) {
    await sql.end({ timeout: 1 })
    throw error
  }
  /** Changes the state if it is what this process has read or written last. */
  const changeState = `
    INSERT INTO ${schema}.sync_state AS s (resource, first_day, since, next_since, cursor)
    VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (resource) DO UPDATE
    SET first_day = excluded.first_day, since = excluded.since, next_since = excluded.next_since, cursor = excluded.cursor
    WHERE s.since IS NOT DISTINCT FROM $6 AND s.cursor IS NOT DISTINCT FROM $7
    RETURNING 1`
  return {
    async assign(accountId) {
      const [source] = await sql.unsafe<[{ accountId: string }]>(
        `INSERT INTO ${schema}.sync_source AS s (account_id) VALUES ($1)
         ON CONFLICT (is_only) DO UPDATE SET account_id = s.account_id
         RETURNING account_id AS "accountId"`,
        [accountId],
      )
      assertSameAccount(`the schema ${schema}`, source.accountId, accountId)
    },
    async readState({ name }) {
      const [row] = await sql.unsafe<[SyncState?]>(
        `SELECT first_day::text AS "firstDay", since, next_since AS "nextSince", cursor
         FROM ${schema}.sync_state WHERE resource = $1`,
        [name],
      )
      return row ?? { firstDay: null, since: null, nextSince: null, cursor: null }
    },
    async store(resource, rows, before, after) {
      // TRAP: not a transaction; a connection that breaks within one ends the process (postgres 3.4: its rollback finds no socket).
      const written = await sql.unsafe(
        `WITH state AS (${changeState}), stored AS (${upsertOf(resource, 8, ', state', 'WHERE excluded.stored_at >= t.stored_at')})
         SELECT FROM state`,
        [
          ...[resource.name, after.firstDay, after.since, after.nextSince, after.cursor, before.since, before.cursor],
          jsonOf(rows),
        ],
      )
      if (written.length === 0) {
        throw new SyncError(`another tributary-sync writes to the schema ${schema}; stop one of them.`)
      }
    },
    async storeAll(resource, rows) {
      await replace(resource, rows)
    },
    async checksums({ name, timeColumn, amountColumn }, asOf, { from, to }) {
      return await sql.unsafe<DayChecksum[]>(
        `SELECT to_char(${timeColumn} AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, count(*)::int AS rows,
           coalesce(sum(${amountColumn}), 0)::text AS amount,
           lpad(to_hex(bit_xor(('x' || left(md5(id || '|' || to_char(stored_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')), 15))::bit(60)::bigint)), 15, '0') AS hash
         FROM ${schema}.${name}
         WHERE stored_at < $1 AND ${timeColumn} >= $2::date::timestamp AT TIME ZONE 'UTC'
           AND ${timeColumn} < ($3::date + 1)::timestamp AT TIME ZONE 'UTC'
         GROUP BY day
         ORDER BY day`,
        [asOf, from, to],
      )
    },
    async days({ name, timeColumn }) {
      const [row] = await sql.unsafe<[{ first: string | null; last: string }]>(
        `SELECT to_char(min(${timeColumn}) AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS first,
           to_char(max(${timeColumn}) AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS last
         FROM ${schema}.${name}`,
      )
      return row?.first ? { from: row.first, to: row.last } : undefined
    },
    async replaceDay(resource, day, batches) {
      const ids: string[] = []
      for await (const rows of batches) {
        await replace(resource, rows)
        ids.push(...rows.map(({ id }) => `${id}`))
      }
      const { name, timeColumn } = resource
      await sql.unsafe(
        `DELETE FROM ${schema}.${name}
         WHERE ${timeColumn} >= $1::date::timestamp AT TIME ZONE 'UTC'
           AND ${timeColumn} < ($1::date + 1)::timestamp AT TIME ZONE 'UTC'
           AND id NOT IN (SELECT json_array_elements_text($2::text::json))`,
        [day, JSON.stringify(ids)],
      )
      return ids.length
    },
    close: () => sql.end({ timeout: 5 }),
  }

  async function replace(resource: Resource, rows: readonly Row[]): Promise<void> {
    await sql.unsafe(upsertOf(resource, 1, '', ''), [jsonOf(rows)])
  }

  /**
   * @param parameter number of the parameter with the rows as JSON
   * @param joined further tables of FROM
   * @param condition of the replacement of an existing row
   */
  function upsertOf({ name, fields }: Resource, parameter: number, joined: string, condition: string): string {
    const names = Object.keys(fields)
    const columns = names.map(columnOf)
    const types = names.map((field) => `"${field}" ${fields[field]?.replace(/ (NOT NULL|PRIMARY KEY)$/, '')}`)
    const updates = columns.filter((column) => column !== 'id').map((column) => `${column} = excluded.${column}`)
    return `INSERT INTO ${schema}.${name} AS t (${columns.join(', ')})
      SELECT ${names.map((field) => `r."${field}"`).join(', ')}
      FROM json_to_recordset($${parameter}::text::json) AS r(${types.join(', ')})${joined}
      ON CONFLICT (id) DO UPDATE SET ${updates.join(', ')} ${condition}`
  }
}

function jsonOf(rows: readonly Row[]): string {
  return JSON.stringify(rows.map(flat))
}

/** The sub-ids of a row are columns of their own. */
function flat(row: Row): Row {
  const { subIds, ...rest } = row
  return { ...rest, ...(subIds as Row | undefined) }
}

import { assertSameAccount, SyncError } from '../source/errors.ts'
import { isCursor, isDay, isInstant } from '../source/received.ts'
import type { Resource } from '../source/resources.ts'
import type { Database } from './database.ts'

/** How far a resource has been copied. */
export interface SyncState {
  /** First UTC day of the copy; null for all. */
  firstDay: string | null
  /** The `updated_since` of the pass; null for a complete one. */
  since: string | null
  /** The `updated_since` of the next pass; null until the first response of this pass. */
  nextSince: string | null
  /** Where an unfinished pass continues: the cursor of the last stored row, or a day; null if there is none. */
  cursor: string | null
  /** Columns that were added to a table with rows and that the pass fills, separated by commas; null if there are none. */
  newColumns: string | null
}

/** Tables of the account, and of how far each resource is copied. */
export function stateStatements(schema: string): string[] {
  return [
    `CREATE TABLE IF NOT EXISTS ${schema}.sync_state (
      resource text PRIMARY KEY, first_day date, since text, next_since text, cursor text, new_columns text)`,
    `CREATE TABLE IF NOT EXISTS ${schema}.sync_times (resource text PRIMARY KEY, as_of text NOT NULL)`,
    `CREATE TABLE IF NOT EXISTS ${schema}.sync_source (
      is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only), account_id text NOT NULL)`,
  ]
}

/** @returns a statement that inserts or replaces the state `s` of a resource, with the parameters of `stateValues` */
export function stateStatement(schema: string): string {
  return `
    INSERT INTO ${schema}.sync_state AS s (resource, first_day, since, next_since, cursor, new_columns)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (resource) DO UPDATE
    SET first_day = excluded.first_day, since = excluded.since, next_since = excluded.next_since, cursor = excluded.cursor,
      new_columns = excluded.new_columns`
}

export function stateValues({ name }: Resource, state: SyncState): (string | null)[] {
  return [name, state.firstDay, state.since, state.nextSince, state.cursor, state.newColumns]
}

/** Opens the account of a copy, and how far its resources are copied. */
export function openState({ dialect, query }: Database, schema: string) {
  return {
    /** @throws SyncError when the state is not one that this program writes */
    async readState({ name }: Resource): Promise<SyncState> {
      const [row] = await query<SyncState>(
        `SELECT coalesce(${dialect.dayText('first_day')}, first_day::text) AS "firstDay", since, next_since AS "nextSince", cursor, new_columns AS "newColumns"
         FROM ${schema}.sync_state WHERE resource = $1 ${dialect.lock}`,
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
    async assign(accountId: string, resources: readonly Resource[]): Promise<void> {
      const [source] = await query<{ accountId: string }>(
        `INSERT INTO ${schema}.sync_source AS s (account_id) VALUES ($1)
         ON CONFLICT (is_only) DO UPDATE SET account_id = s.account_id
         RETURNING account_id AS "accountId"`,
        [accountId],
      )
      assertSameAccount(`the schema ${schema}`, source?.accountId ?? '', accountId)
      if (resources.length === 0) return
      const rows = resources.map((_, index) => `($${index + 1})`)
      await query(
        `INSERT INTO ${schema}.sync_state (resource) VALUES ${rows} ON CONFLICT (resource) DO NOTHING`,
        resources.map(({ name }) => name),
      )
    },
    async storeAsOf({ name }: Resource, { copied, before }: { copied: string; before: string }): Promise<string> {
      const table = `${schema}.${name}`
      const isIdle = `NOT EXISTS (SELECT 1 FROM ${table})
        OR EXISTS (SELECT 1 FROM ${table} WHERE stored_at = $2::text::timestamptz - interval '1 millisecond')`
      const [stored] = await query<{ asOf: string }>(
        `INSERT INTO ${schema}.sync_times AS t (resource, as_of)
         SELECT $1::text, CASE WHEN ${isIdle} THEN greatest($2::text, $3::text) ELSE $2::text END
         ON CONFLICT (resource) DO UPDATE SET as_of = excluded.as_of
         RETURNING as_of AS "asOf"`,
        [name, copied, before],
      )
      return stored?.asOf ?? ''
    },
  }
}

/** @returns the time so much earlier than another */
export function earlier(time: string, ms: number): string {
  return new Date(Date.parse(time) - ms).toISOString()
}

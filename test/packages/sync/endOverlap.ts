import type { Sql } from 'postgres'

/**
 * Sets the state of a copy as if a minute had passed since its last row of events was stored: the next pass does not read that
 * row again.
 */
export async function endOverlap(sql: Sql, schema = 'tributary'): Promise<void> {
  await sql.unsafe(
    `UPDATE ${schema}.sync_state
     SET since = (
       SELECT to_char((max(stored_at) + interval '1 ms') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') FROM ${schema}.events
     )
     WHERE resource = 'events'`,
  )
}

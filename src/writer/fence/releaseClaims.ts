import { type Postgres, queryPostgres } from '../../stores/postgres/connection.ts'

/** Releases the claims of a process that has released its lease and has no statement left; deletes the lease. */
export async function releaseClaims(postgres: Postgres, name: string): Promise<void> {
  // While Postgres is unavailable, the claims end with the lease.
  await queryPostgres(postgres`
    WITH released AS (
      UPDATE leases SET owner = '', process = NULL, expires_at = '-infinity' WHERE process = ${name})
    DELETE FROM leases WHERE name = ${name} AND owner = ''`).catch(() => {})
}

import { type Postgres, queryPostgres } from '../stores/postgres/connection.ts'
import { auditClause } from './audit.ts'

export interface Deletion {
  /** Milliseconds since its keys were revoked, by the clock of Postgres. */
  ageMs: number
  /** Null while rows of the account may be left. */
  completedAt: Date | null
}

/** Begins a deletion: keys revoked, id used up, unknown to commands. Idempotent. @returns undefined when there is no such account */
export async function beginDeletion(postgres: Postgres, accountId: string): Promise<Deletion | undefined> {
  await queryPostgres(postgres`
    WITH begun AS (
      INSERT INTO account_deletions (account_id)
      SELECT id FROM accounts
      WHERE id = ${accountId}
      ON CONFLICT DO NOTHING
      RETURNING account_id),
    revoked AS (
      UPDATE api_keys
      SET revoked_at = clock_timestamp()
      FROM begun
      WHERE api_keys.account_id = begun.account_id AND revoked_at IS NULL
      RETURNING api_keys.id),
    ${auditClause(postgres, 'account.delete')`
      SELECT account_id, jsonb_build_object('name', accounts.name, 'keysRevoked', (SELECT count(*) FROM revoked))
      FROM begun
      JOIN accounts ON accounts.id = account_id`}
    SELECT 1`)
  return await findDeletion(postgres, accountId)
}

/** @returns undefined when the account has not been deleted */
export async function findDeletion(postgres: Postgres, accountId: string): Promise<Deletion | undefined> {
  const [row] = await queryPostgres(postgres<Deletion[]>`
    SELECT EXTRACT(EPOCH FROM clock_timestamp() - began_at)::float8 * 1000 AS "ageMs", completed_at AS "completedAt"
    FROM account_deletions
    WHERE account_id = ${accountId}`)
  return row
}

/** Removes all rows of the account from Postgres and completes its deletion. The caller holds the account's lease. Idempotent. */
export async function completeDeletion(postgres: Postgres, accountId: string): Promise<void> {
  const tables = await queryPostgres(postgres<{ name: string }[]>`
    SELECT relname AS name
    FROM pg_constraint
    JOIN pg_class ON pg_class.oid = conrelid
    WHERE contype = 'f' AND confrelid = 'accounts'::regclass
    ORDER BY relname`)
  for (const { name } of tables) {
    await queryPostgres(postgres`DELETE FROM ${postgres(name)} WHERE account_id = ${accountId}`)
  }
  await queryPostgres(postgres`
    WITH deleted AS (
      DELETE FROM accounts
      WHERE id = ${accountId}),
    completed AS (
      UPDATE account_deletions
      SET completed_at = clock_timestamp()
      WHERE account_id = ${accountId} AND completed_at IS NULL
      RETURNING account_id),
    ${auditClause(postgres, 'account.delete_complete')`SELECT account_id, '{}'::jsonb FROM completed`}
    SELECT 1`)
}

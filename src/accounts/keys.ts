import type { PendingQuery, Row } from 'postgres'
import { v7 as uuidv7 } from 'uuid'
import type { Scope } from '../../schema/scopes.ts'
import { type Postgres, queryPostgres } from '../stores/postgres/connection.ts'
import { isNotDeleted } from './accounts.ts'
import { auditClause } from './audit.ts'
import { hashOfKey, makeKeyText, prefixOfKey } from './keyFormat.ts'

/** The stored attributes of an API key, without the secret. */
export interface KeyRow {
  id: string
  accountId: string
  name: string
  /** `trb_live_` and 4 characters, to identify the key in lists. */
  prefix: string
  scopes: Scope[]
  createdAt: Date
  expiresAt: Date | null
  revokedAt: Date | null
  /** To the minute. */
  lastUsedAt: Date | null
  /** Id of the key that replaces it; it is valid until it expires. */
  replacedBy: string | null
}

/**
 * Creates an API key of an account.
 * @param values `isShown`: false for a key that the caller will show and then pass to `markShown`; it replaces those of this
 *   name that were never shown. The caller holds a lease meanwhile, so that these are left from interrupted processes.
 * @returns the row and the key itself, which is not stored; undefined when the account does not exist
 */
export async function createKey(
  postgres: Postgres,
  values: { accountId: string; name: string; scopes: readonly Scope[]; expiresAt: Date | null; isShown?: boolean },
): Promise<{ key: string; row: KeyRow } | undefined> {
  const key = makeKeyText()
  const { isShown = true } = values
  const [row] = await queryPostgres(
    postgres<KeyRow[]>`
      WITH unshown AS (
        DELETE FROM api_keys
        WHERE account_id = ${values.accountId} AND name = ${values.name} AND shown_at IS NULL AND last_used_at IS NULL
          AND revoked_at IS NULL AND replaced_by IS NULL AND NOT ${isShown}
        RETURNING id),
      created AS (
        INSERT INTO api_keys (id, account_id, name, hash, prefix, scopes, expires_at, shown_at)
        SELECT ${uuidv7()}, accounts.id, ${values.name}, decode(${hashOfKey(key)}, 'hex'), ${prefixOfKey(key)},
          ${values.scopes as Scope[]}::text[], ${values.expiresAt}::timestamptz,
          CASE WHEN ${isShown} THEN now() END
        FROM accounts
        WHERE accounts.id = ${values.accountId} AND ${isNotDeleted(postgres)}
        RETURNING *),
      ${auditClause(
        postgres,
        'key.create',
        postgres`
          SELECT account_id, jsonb_build_object('key', id, 'name', name, 'scopes', scopes, 'expiresAt', expires_at)
            || COALESCE((SELECT jsonb_build_object('replaces', min(id)) FROM unshown HAVING count(*) > 0), '{}')
          FROM created`,
      )}
      SELECT ${keyColumns(postgres)}
      FROM created`,
  )
  return row && { key, row }
}

/** Records that a key has been shown, so that no later one replaces it. Idempotent. */
export async function markShown(postgres: Postgres, { accountId, id }: KeyRow): Promise<void> {
  await queryPostgres(postgres`
    UPDATE api_keys
    SET shown_at = now()
    WHERE account_id = ${accountId} AND id = ${id} AND shown_at IS NULL`)
}

/** @returns all keys of an account, including revoked and expired keys, oldest first */
export async function listKeys(postgres: Postgres, accountId: string): Promise<KeyRow[]> {
  return await queryPostgres(
    postgres<KeyRow[]>`
      SELECT ${keyColumns(postgres)}
      FROM api_keys
      WHERE account_id = ${accountId}
      ORDER BY created_at, id`,
  )
}

/** @returns the key with this id, also a revoked or expired one; undefined if it does not exist */
export async function findKey(postgres: Postgres, id: string): Promise<KeyRow | undefined> {
  const [row] = await queryPostgres(
    postgres<KeyRow[]>`
      SELECT ${keyColumns(postgres)}
      FROM api_keys
      WHERE id = ${id}`,
  )
  return row
}

/**
 * Revokes a key; all instances reject it within 5 seconds. A second call does not change the time of revocation.
 * @returns the updated key, or undefined when it does not exist
 */
export async function revokeKey(postgres: Postgres, id: string): Promise<KeyRow | undefined> {
  const [row] = await queryPostgres(
    postgres<KeyRow[]>`
      WITH previous AS (
        SELECT id, revoked_at
        FROM api_keys
        WHERE id = ${id}
        FOR UPDATE),
      revoked AS (
        UPDATE api_keys
        SET revoked_at = COALESCE(previous.revoked_at, clock_timestamp())
        FROM previous
        WHERE api_keys.id = previous.id
        RETURNING api_keys.*, previous.revoked_at IS NULL AS is_changed),
      ${auditClause(
        postgres,
        'key.revoke',
        postgres`
          SELECT account_id, jsonb_build_object('key', id, 'name', name)
          FROM revoked
          WHERE is_changed`,
      )}
      SELECT ${keyColumns(postgres)}
      FROM revoked`,
  )
  return row
}

/** The columns of `KeyRow`. */
export function keyColumns(postgres: Postgres): PendingQuery<Row[]> {
  return postgres`id, account_id AS "accountId", name, prefix, scopes, created_at AS "createdAt",
    expires_at AS "expiresAt", revoked_at AS "revokedAt", last_used_at AS "lastUsedAt",
    replaced_by AS "replacedBy"`
}

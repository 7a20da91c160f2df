import { v7 as uuidv7 } from 'uuid'
import { type Postgres, queryPostgres } from '../stores/postgres/connection.ts'
import { auditClause } from './audit.ts'
import { hashOfKey, makeKeyText, prefixOfKey } from './keyFormat.ts'
import { type KeyRow, keyColumns } from './keys.ts'

/** A key and the one that it replaces. */
export interface Rotation {
  /** The new key itself, which is not stored. */
  key: string
  row: KeyRow
  /** When the replaced key ends. */
  previousExpiresAt: Date
}

/**
 * Replaces a key by a new one with the same name, scopes and lifetime. The old key ends after the grace period, or at its
 * expiry if that is earlier. Both happen in one statement.
 * @param graceMs milliseconds from `nowMs`; 0 ends the old key at once, on all instances within 5 seconds
 * @returns undefined when the key does not exist, is revoked, expired or already replaced
 */
export async function rotateKey(
  postgres: Postgres,
  { id, graceMs, nowMs }: { id: string; graceMs: number; nowMs: number },
): Promise<Rotation | undefined> {
  const key = makeKeyText()
  const newId = uuidv7()
  const now = new Date(nowMs)
  const [rotated] = await queryPostgres(
    postgres<(KeyRow & { previousExpiresAt: Date })[]>`
      WITH previous AS (
        SELECT * FROM api_keys
        WHERE id = ${id}
          AND revoked_at IS NULL
          AND (expires_at IS NULL OR expires_at > ${now}::timestamptz)
          AND replaced_by IS NULL
          AND NOT EXISTS (SELECT FROM account_deletions WHERE account_deletions.account_id = api_keys.account_id)
        FOR UPDATE),
      created AS (
        INSERT INTO api_keys (id, account_id, name, hash, prefix, scopes, created_at, expires_at)
        SELECT ${newId}, account_id, name, decode(${hashOfKey(key)}, 'hex'), ${prefixOfKey(key)}, scopes,
          ${now}::timestamptz, ${now}::timestamptz + (expires_at - created_at)
        FROM previous
        RETURNING *),
      ended AS (
        UPDATE api_keys
        SET expires_at = least(previous.expires_at, ${new Date(nowMs + graceMs)}::timestamptz), replaced_by = ${newId}
        FROM previous
        WHERE api_keys.id = previous.id
        RETURNING api_keys.expires_at AS previous_expires_at),
      ${auditClause(
        postgres,
        'key.rotate',
        postgres`
          SELECT account_id, jsonb_build_object('key', id, 'name', name, 'scopes', scopes, 'expiresAt', expires_at,
            'replaces', ${id}::text, 'previousExpiresAt', previous_expires_at)
          FROM created, ended`,
      )}
      SELECT ${keyColumns(postgres)}, previous_expires_at AS "previousExpiresAt"
      FROM created, ended`,
  )
  if (!rotated) return undefined
  const { previousExpiresAt, ...row } = rotated
  return { key, row, previousExpiresAt }
}

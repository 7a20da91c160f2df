import type { PendingQuery, Row } from 'postgres'
import { v7 as uuidv7 } from 'uuid'
import type { KeyView } from '../../schema/keyView.ts'
import type { Scope } from '../../schema/scopes.ts'
import { type Postgres, queryPostgres } from '../stores/postgres/connection.ts'
import { isNotDeleted } from './accounts.ts'
import { auditClause } from './audit.ts'
import { hashOfKey, makeKeyText, prefixOfKey } from './keyFormat.ts'

export interface KeyRow {
  id: string
  accountId: string
  name: string
  /** `trb_live_` or `trb_part_`, and 4 characters, to identify the key in lists. */
  prefix: string
  scopes: readonly Scope[]
  /** The part of the account that the key sees; null: all of it. */
  view: KeyView | null
  createdAt: Date
  expiresAt: Date | null
  revokedAt: Date | null
  /** To the minute. */
  lastUsedAt: Date | null
  /** Id of the key that replaces it; it is valid until it expires. */
  replacedBy: string | null
}

type NewKey = Pick<KeyRow, 'accountId' | 'name' | 'scopes' | 'expiresAt'> & { view?: KeyRow['view']; isShown?: boolean }

/**
 * Creates an API key of an account.
 * @param values `isShown`: false for a key that is shown and then passed to `markShown`. The key then replaces the keys of this name
 *   that were never shown: the caller has a lease, so interrupted processes left them
 * @returns the row and the key itself, which is not stored; undefined when the account does not exist
 */
export async function createKey(postgres: Postgres, values: NewKey): Promise<{ key: string; row: KeyRow } | undefined> {
  const { isShown = true, view = null } = values
  const key = makeKeyText(view !== null)
  const [row] = await queryPostgres(postgres<KeyRow[]>`
    WITH unshown AS (
      DELETE FROM api_keys
      WHERE account_id = ${values.accountId} AND name = ${values.name} AND shown_at IS NULL AND last_used_at IS NULL
        AND revoked_at IS NULL AND replaced_by IS NULL AND NOT ${isShown}
      RETURNING id),
    created AS (
      INSERT INTO api_keys (id, account_id, name, hash, prefix, scopes, view, expires_at, shown_at)
      SELECT ${uuidv7()}, accounts.id, ${values.name}, decode(${hashOfKey(key)}, 'hex'), ${prefixOfKey(key)},
        ${values.scopes as Scope[]}::text[], ${view && JSON.stringify(view)}::text::jsonb, ${values.expiresAt}::timestamptz,
        CASE WHEN ${isShown} THEN now() END
      FROM accounts
      WHERE accounts.id = ${values.accountId} AND ${isNotDeleted(postgres)}
      RETURNING *),
    ${auditClause(postgres, 'key.create')`
      SELECT account_id, ${keyDetails(postgres)}
        || COALESCE((SELECT jsonb_build_object('replaces', min(id)) FROM unshown HAVING count(*) > 0), '{}')
      FROM created`}
    SELECT ${keyColumns(postgres)}
    FROM created`)
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
  return await readKeys(postgres, postgres`account_id = ${accountId}`)
}

/** @returns the key with this id, also a revoked or expired one; undefined if it does not exist */
export async function findKey(postgres: Postgres, id: string): Promise<KeyRow | undefined> {
  return (await readKeys(postgres, postgres`id = ${id}`))[0]
}

async function readKeys(postgres: Postgres, condition: PendingQuery<Row[]>): Promise<KeyRow[]> {
  return await queryPostgres(postgres<KeyRow[]>`
    SELECT ${keyColumns(postgres)} FROM api_keys WHERE ${condition} ORDER BY created_at, id`)
}

/** Revokes a key, once; all instances reject it within 5 seconds. @returns the updated key, or undefined when it does not exist */
export async function revokeKey(postgres: Postgres, id: string): Promise<KeyRow | undefined> {
  const [row] = await queryPostgres(postgres<KeyRow[]>`
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
    ${auditClause(postgres, 'key.revoke')`
      SELECT account_id, jsonb_build_object('key', id, 'name', name)
      FROM revoked
      WHERE is_changed`}
    SELECT ${keyColumns(postgres)}
    FROM revoked`)
  return row
}

/** What the audit log says of a new key; `view` if it sees a part of the account. */
export function keyDetails(postgres: Postgres): PendingQuery<Row[]> {
  return postgres`jsonb_build_object('key', id, 'name', name, 'scopes', scopes, 'expiresAt', expires_at)
    || CASE WHEN view IS NULL THEN '{}' ELSE jsonb_build_object('view', view) END`
}

/** The select list of KeyRow. */
export function keyColumns(postgres: Postgres): PendingQuery<Row[]> {
  return postgres`id, account_id AS "accountId", name, prefix, scopes, view, created_at AS "createdAt",
    expires_at AS "expiresAt", revoked_at AS "revokedAt", last_used_at AS "lastUsedAt",
    replaced_by AS "replacedBy"`
}

/**
 * Replaces a key by one with the same name, scopes, view and lifetime; the old key ends after the grace period or at its own expiry.
 * @param graceMs milliseconds from `nowMs`; 0 ends the old key at once, on all instances within 5 seconds
 * @returns the new key, as `createKey` does; undefined when the key does not exist, is revoked, expired or already replaced
 */
export async function rotateKey(postgres: Postgres, id: string, graceMs: number, nowMs: number) {
  const key = makeKeyText((await findKey(postgres, id))?.view != null)
  const newId = uuidv7()
  const now = new Date(nowMs)
  const [rotated] = await queryPostgres(postgres<(KeyRow & { previousExpiresAt: Date })[]>`
    WITH previous AS (
      SELECT * FROM api_keys
      WHERE id = ${id}
        AND revoked_at IS NULL
        AND (expires_at IS NULL OR expires_at > ${now}::timestamptz)
        AND replaced_by IS NULL
        AND NOT EXISTS (SELECT FROM account_deletions WHERE account_deletions.account_id = api_keys.account_id)
      FOR UPDATE),
    created AS (
      INSERT INTO api_keys (id, account_id, name, hash, prefix, scopes, view, created_at, expires_at)
      SELECT ${newId}, account_id, name, decode(${hashOfKey(key)}, 'hex'), ${prefixOfKey(key)}, scopes, view,
        ${now}::timestamptz, ${now}::timestamptz + (expires_at - created_at)
      FROM previous
      RETURNING *),
    ended AS (
      UPDATE api_keys
      SET expires_at = least(previous.expires_at, ${new Date(nowMs + graceMs)}::timestamptz), replaced_by = ${newId}
      FROM previous
      WHERE api_keys.id = previous.id
      RETURNING api_keys.expires_at AS previous_expires_at),
    ${auditClause(postgres, 'key.rotate')`
      SELECT account_id, ${keyDetails(postgres)}
        || jsonb_build_object('replaces', ${id}::text, 'previousExpiresAt', previous_expires_at)
      FROM created, ended`}
    SELECT ${keyColumns(postgres)}, previous_expires_at AS "previousExpiresAt"
    FROM created, ended`)
  if (!rotated) return undefined
  const { previousExpiresAt, ...row } = rotated
  return { key, row, previousExpiresAt }
}

import { v7 as uuidv7 } from 'uuid'
import type { Scope } from '../../schema/scopes.ts'
import { type Postgres, queryPostgres } from '../stores/postgres/connection.ts'
import { hashOfKey, makeKeyText, prefixOfKey } from './keyFormat.ts'

/** A key as an operator sees it: everything but the key. */
export interface KeyRow {
  id: string
  accountId: string
  name: string
  /** `trb_live_` and 4 characters, to recognise it by. */
  prefix: string
  scopes: Scope[]
  createdAt: Date
  expiresAt: Date | null
  revokedAt: Date | null
  /** To the minute. */
  lastUsedAt: Date | null
}

/**
 * Creates a key of an account.
 * @returns the row and the key itself, which nothing can show again; undefined when there is no such account
 */
export async function createKey(
  postgres: Postgres,
  wanted: { accountId: string; name: string; scopes: readonly Scope[]; expiresAt: Date | null },
): Promise<{ key: string; row: KeyRow } | undefined> {
  const key = makeKeyText()
  const [row] = await queryPostgres(
    postgres<KeyRow[]>`
      INSERT INTO api_keys (id, account_id, name, hash, prefix, scopes, expires_at)
      SELECT ${uuidv7()}, accounts.id, ${wanted.name}, decode(${hashOfKey(key)}, 'hex'), ${prefixOfKey(key)},
        ${wanted.scopes as Scope[]}::text[], ${wanted.expiresAt}::timestamptz
      FROM accounts
      WHERE accounts.id = ${wanted.accountId}
      RETURNING id, account_id AS "accountId", name, prefix, scopes, created_at AS "createdAt",
        expires_at AS "expiresAt", revoked_at AS "revokedAt", last_used_at AS "lastUsedAt"`,
  )
  return row && { key, row }
}

/** @returns every key of an account, revoked and expired ones too, oldest first */
export async function listKeys(postgres: Postgres, accountId: string): Promise<KeyRow[]> {
  return await queryPostgres(
    postgres<KeyRow[]>`
      SELECT id, account_id AS "accountId", name, prefix, scopes, created_at AS "createdAt",
        expires_at AS "expiresAt", revoked_at AS "revokedAt", last_used_at AS "lastUsedAt"
      FROM api_keys
      WHERE account_id = ${accountId}
      ORDER BY created_at, id`,
  )
}

/**
 * Ends a key; every instance refuses it within 5 seconds. A key that was revoked before keeps its first moment.
 * @returns the key as it is now, or undefined when there is none of that id
 */
export async function revokeKey(postgres: Postgres, id: string): Promise<KeyRow | undefined> {
  const [row] = await queryPostgres(
    postgres<KeyRow[]>`
      UPDATE api_keys
      SET revoked_at = COALESCE(revoked_at, clock_timestamp())
      WHERE id = ${id}
      RETURNING id, account_id AS "accountId", name, prefix, scopes, created_at AS "createdAt",
        expires_at AS "expiresAt", revoked_at AS "revokedAt", last_used_at AS "lastUsedAt"`,
  )
  return row
}

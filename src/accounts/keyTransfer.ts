import type { Scope } from '../../schema/scopes.ts'
import { type Postgres, queryPostgres } from '../stores/postgres/connection.ts'
import { isNotDeleted } from './accounts.ts'
import { auditClause } from './audit.ts'
import { type KeyRow, keyColumns, keyDetails } from './manageKeys.ts'

/** A key as it is moved to another installation: times as ISO 8601, and `hash`, SHA-256 in hexadecimal. */
type TransferredKey = { hash: string; scopes: Scope[]; view?: KeyRow['view'] } & {
  [Field in Exclude<keyof KeyRow, 'accountId' | 'scopes' | 'view'>]:
    | Exclude<KeyRow[Field], Date>
    | (Date extends KeyRow[Field] ? string : never)
}

/** @returns all keys of an account, oldest first */
export async function readAccountKeys(postgres: Postgres, accountId: string): Promise<TransferredKey[]> {
  const rows = await queryPostgres(postgres<(KeyRow & { hash: string })[]>`
    SELECT ${keyColumns(postgres)}, encode(hash, 'hex') AS hash
    FROM api_keys
    WHERE account_id = ${accountId}
    ORDER BY created_at, id`)
  // Dates become ISO 8601.
  return JSON.parse(JSON.stringify(rows.map(({ accountId: _, ...key }) => key)))
}

/** @returns how many of the keys, or their ids, belong to other accounts of this installation */
export async function countKeysOfOthers(postgres: Postgres, accountId: string, keys: readonly TransferredKey[]) {
  const [row] = await queryPostgres(postgres<{ count: number }[]>`
    SELECT count(*)::integer AS count
    FROM unnest(${keys.map(({ id }) => id)}::text[], ${keys.map(({ hash }) => hash)}::text[]) AS sent (id, hash)
    WHERE EXISTS (
      SELECT FROM api_keys
      WHERE account_id <> ${accountId} AND (api_keys.id = sent.id OR api_keys.hash = decode(sent.hash, 'hex')))`)
  return row?.count ?? 0
}

/** Stores keys of an account that are missing, which ends its import. @returns how many of the keys the account has afterwards */
export async function storeKeys(postgres: Postgres, accountId: string, keys: readonly TransferredKey[]) {
  const ids = keys.map(({ id }) => id)
  await queryPostgres(postgres`
    WITH created AS (
      INSERT INTO api_keys (id, account_id, name, hash, prefix, scopes, view, created_at, expires_at, revoked_at, last_used_at,
        replaced_by)
      SELECT sent.id, accounts.id, sent.name, decode(hash, 'hex'), prefix, scopes, view, "createdAt", "expiresAt", "revokedAt",
        "lastUsedAt", "replacedBy"
      FROM accounts, jsonb_to_recordset(${JSON.stringify(keys)}::text::jsonb) AS sent (
        id text, name text, hash text, prefix text, scopes text[], view jsonb, "createdAt" timestamptz, "expiresAt" timestamptz,
        "revokedAt" timestamptz, "lastUsedAt" timestamptz, "replacedBy" text)
      WHERE accounts.id = ${accountId} AND ${isNotDeleted(postgres)}
      ON CONFLICT DO NOTHING
      RETURNING *),
    ${auditClause(postgres, 'key.import')`
      SELECT account_id, ${keyDetails(postgres)}
      FROM created`},
    ended AS (
      UPDATE accounts
      SET import_of = NULL
      WHERE id = ${accountId} AND import_of IS NOT NULL
        AND ${keys.length} = (SELECT count(*) FROM created) + (
          SELECT count(*) FROM api_keys WHERE account_id = ${accountId} AND id = ANY(${ids}::text[])))
    SELECT 1`)
  return (await readAccountKeys(postgres, accountId)).filter(({ id }) => ids.includes(id)).length
}

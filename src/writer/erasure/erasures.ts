import { createHash, randomUUID } from 'node:crypto'
import type { PendingQuery, Row } from 'postgres'
import { type Postgres, queryPostgres } from '../../stores/postgres/connection.ts'
import type { Writer, WriteSession } from '../fence/session.ts'

export type ErasedKind = 'visitor' | 'click'

export type Erasure = {
  kind: ErasedKind
  /** Key of the hash, a UUID. */
  key: string
  /** `identifierHash` the identifier. */
  hash: string
  /** Epoch milliseconds; rows with a later time are new data. */
  erasedMs: number
}

/** A click to store. */
export interface ListedClick {
  /** Its visitor is erased: the click is listed before it is sent, but not if its id is stored. */
  erasure?: Erasure
}

/** @returns SHA-256 of key, kind and identifier, upper-case hexadecimal; `erasedUntilMs` computes the same in ClickHouse */
export function identifierHash(key: string, kind: ErasedKind, id: string): string {
  return createHash('sha256').update(`${key} ${kind} ${id}`).digest('hex').toUpperCase()
}

/** @returns the present time by the clock of Postgres, which `stored_at` of clicks and conversions comes from; epoch ms */
export async function readErasureClock(writer: Writer): Promise<number> {
  const [row] = await writer.sql<{ ms: number }[]>('reading the clock of Postgres')`
    SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms`
  return Math.floor(row?.ms ?? 0)
}

/** @returns the key of an account's hashes, from its first erasure, or a new one; the caller holds the account's lease */
export async function readErasureKey(writer: Writer): Promise<string> {
  const [row] = await query<{ key: string }[]>(writer)`
    SELECT key FROM erasures WHERE account_id = ${writer.accountId} ORDER BY key LIMIT 1`
  return row?.key ?? randomUUID()
}

/**
 * Adds incomplete erasures; one that exists, or is listed twice, has the latest time. A later writer completes them.
 * @param audit WITH clause that records the change, stored with it or not at all
 * @param awaitsClick whether `dropUnstoredClicks` removes them unless their clicks are stored
 */
export async function addErasures(
  writer: Writer,
  erasures: readonly Erasure[],
  { audit, awaitsClick = false }: { audit?: (postgres: Postgres) => PendingQuery<Row[]>; awaitsClick?: boolean } = {},
): Promise<void> {
  if (erasures.length === 0) return
  const { postgres } = writer.stores
  await writer.change('adding erasures')`
    added AS (
      INSERT INTO erasures (account_id, kind, key, hash, erased_at, awaits_click)
      SELECT ${writer.accountId}::text, kind, key, decode(hash, 'hex'), to_timestamp(max("erasedMs") / 1000), ${awaitsClick}::boolean
      FROM held,
        jsonb_to_recordset(${postgres.json(erasures)}) AS listed (kind text, key uuid, hash text, "erasedMs" float8)
      GROUP BY kind, key, hash
      ON CONFLICT (account_id, kind, key, hash) DO UPDATE
      SET erased_at = greatest(erasures.erased_at, excluded.erased_at), is_complete = false,
        awaits_click = erasures.awaits_click AND excluded.awaits_click
      RETURNING kind, hash)
    ${audit ? postgres`, ${audit(postgres)}` : postgres``}`
}

/** @returns the erasures of all accounts, or of one, in a fixed order, as `erase list` prints them */
export async function listErasures(postgres: Postgres, accountId?: string) {
  type Listed = Omit<Erasure, 'erasedMs'> & { account: string; erasedAt: string }
  return await queryPostgres(postgres<Listed[]>`
    SELECT account_id AS account, kind, key, upper(encode(hash, 'hex')) AS hash,
      to_char(erased_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "erasedAt"
    FROM erasures
    WHERE ${accountId ?? null}::text IS NULL OR account_id = ${accountId ?? null}
    ORDER BY account_id, erased_at, kind, hash`)
}

export async function hasIncompleteErasures(writer: Writer): Promise<boolean> {
  const rows = await query(writer)`
    SELECT 1 FROM erasures WHERE account_id = ${writer.accountId} AND NOT is_complete LIMIT 1`
  return rows.length > 0
}

const erasuresPerPage = 5_000

/** `awaiting`: erasures of clicks that are perhaps not stored; these erasures are incomplete. */
type State = 'awaiting' | 'incomplete' | 'all'

/** Reads the erasures of the account, in the order of key, kind and hash. @yields some of one key; not empty */
export async function* pagesOfErasures(writer: Writer, state: State): AsyncGenerator<Erasure[]> {
  for await (const page of erasuresOf(writer, [writer.accountId], state))
    for (const key of new Set(page.map((erasure) => erasure.key))) yield page.filter((erasure) => erasure.key === key)
}

/** Reads the erasures of accounts, in the order of account, key, kind and hash. @yields pages; not empty */
export async function* erasuresOf(session: WriteSession, accountIds: readonly string[], state: State) {
  let after = { accountId: '', key: '00000000-0000-0000-0000-000000000000', kind: '', hash: '' }
  for (;;) {
    const { accountId, key, kind, hash } = after
    const page = await query<(Erasure & { accountId: string })[]>(session)`
      SELECT account_id AS "accountId", kind, key, upper(encode(hash, 'hex')) AS hash,
        round(extract(epoch FROM erased_at)::float8 * 1000) AS "erasedMs"
      FROM erasures
      WHERE account_id = ANY(${[...accountIds]}::text[])
        AND (${state === 'all'} OR NOT is_complete)
        AND (${state !== 'awaiting'} OR awaits_click)
        AND (account_id, key, kind, hash) > (${accountId}::text, ${key}::uuid, ${kind}::text, decode(${hash}, 'hex'))
      ORDER BY account_id, key, kind, hash
      LIMIT ${erasuresPerPage}`
    const last = page.at(-1)
    if (!last) return
    yield page
    after = last
  }
}

/** @param page of awaiting erasures; those without a stored click are removed @param stored hashes of stored clicks */
export async function endAwaiting(writer: Writer, page: readonly Erasure[], stored: readonly string[]): Promise<void> {
  const { postgres } = writer.stores
  const isOneOf = (hashes: readonly string[]) => postgres`
    account_id = ${writer.accountId} AND awaits_click AND upper(encode(hash, 'hex')) = ANY(${[...hashes]}::text[])`
  const unstored = page.map(({ hash }) => hash).filter((hash) => !stored.includes(hash))
  await writer.change('settling listed clicks')`
    removed AS (DELETE FROM erasures USING held WHERE ${isOneOf(unstored)}),
    settled AS (UPDATE erasures SET awaits_click = false FROM held WHERE ${isOneOf(stored)})`
}

export async function markErasures(writer: Writer, isComplete: boolean): Promise<void> {
  await writer.change('marking erasures')`
    marked AS (
      UPDATE erasures SET is_complete = ${isComplete}
      FROM held
      WHERE account_id = ${writer.accountId} AND is_complete <> ${isComplete})`
}

function query<Rows extends readonly object[]>(session: WriteSession) {
  return session.sql<Rows>('reading the list of erasures')
}

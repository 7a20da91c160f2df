import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { waitForClickHouseClock } from '../../stores/cluster/clock.ts'
import { killQueries } from '../../stores/cluster/killQueries.ts'
import { migrationLease } from '../../stores/migrations/migrate.ts'
import { type Postgres, queryPostgres } from '../../stores/postgres/connection.ts'
import { expireAndCheckHolder } from '../../stores/postgres/lease.ts'
import { writePrefix } from './fence.ts'
import type { WriteSession } from './session.ts'

/** Patterns of LIKE: the leases of all processes that write, of feeds, and of live demos. */
const processLeases = 'process:%'
const feedLeases = 'process:feed-%'
const demoLeases = 'process:feed-demo-%'

/** A feed hands its accounts over to processes that request them. A live demo is a feed that requests no account. */
export type FeedKind = 'feed' | 'feed-demo'

export function newProcess(kind?: FeedKind): string {
  return `process:${kind ? `${kind}-` : ''}${process.pid}@${hostname()}/${randomUUID()}`
}

/** @param name of a lease of a process; null for a writer of 1.0 or 1.1 */
export function describeProcess(name: string | null): string {
  const [, kind, pid, host] = /^process:(feed-(?:demo-)?)?(\d+)@(.*)\//.exec(name ?? '') ?? []
  if (pid === undefined) return 'another process'
  return `${kind ? (kind === 'feed-' ? 'a feed, ' : 'a live demo, ') : ''}process ${pid} on ${host}`
}

/** A request for an account is valid for this time; a process that waits repeats it every second. */
const requestMs = 2_000

/** An account that a process has claimed. */
export interface ClaimedAccount {
  accountId: string
  /** Each claim of the account increases it by one; the column `fence`. */
  claimNumber: number
}

interface Claim extends ClaimedAccount {
  /** Leases of earlier processes whose statements may still run. */
  unsettled: string[]
  /** Of a writer of 1.0 or 1.1, which had a lease for each account. */
  deadline: Date | null
}

/**
 * Claims accounts for the process of a session, until it releases them or its lease ends. Then it waits until no statement of
 * an earlier process can change a row of them, and until both replicas have what such statements stored. Idempotent. A feed does not claim
 * accounts that another process requests.
 * @param requested accounts that this process itself requests
 * @returns the claimed accounts; other processes hold the others
 */
export async function claimAccounts(
  session: WriteSession,
  accountIds: readonly string[],
  requested: readonly string[] = [],
): Promise<ClaimedAccount[]> {
  const { lease, stores } = session
  const { postgres } = stores
  const claims = await session.retry('claiming accounts', async () => {
    await lease.assertHeld()
    await expireAndCheckHolder(postgres, processLeases)
    // Sorted, against deadlocks. TRAP: the end of a process must be seen (`owner = ''`), never inferred from a missing row. A statement that
    // waits for the lock of a claim would take the account from a process that has started since its snapshot.
    return await queryPostgres(postgres<Claim[]>`
      WITH alive AS (
        SELECT owner FROM leases
        WHERE name = ${lease.name} AND fence = ${lease.fencingToken.toString()}::bigint AND owner <> ''
        FOR SHARE)
      INSERT INTO leases AS held (name, owner, fence, expires_at, process)
      SELECT 'writer:' || id, owner, 1, 'infinity', ${lease.name}
      FROM alive, unnest(${[...accountIds].sort()}::text[]) AS requested (id)
      ON CONFLICT (name) DO UPDATE
      SET owner = excluded.owner, fence = held.fence + 1, expires_at = excluded.expires_at, process = excluded.process,
        wanted_at = NULL,
        unsettled = CASE
          WHEN held.process IS NULL OR held.process = excluded.process THEN held.unsettled
          ELSE array_append(held.unsettled, held.process)
        END
      WHERE (held.owner = '' OR held.expires_at < clock_timestamp() OR held.process = excluded.process
          OR EXISTS (SELECT FROM leases AS other WHERE other.name = held.process AND other.owner = ''))
        AND (excluded.process NOT LIKE ${feedLeases} OR NOT ${isRequested(postgres, 'held')}
          OR substr(held.name, 8) = ANY(${[...requested]}::text[]))
      RETURNING substr(name, 8) AS "accountId", fence::float8 AS "claimNumber", unsettled, statement_deadline AS deadline`)
  })
  if (claims.some(({ unsettled, deadline }) => unsettled.length > 0 || deadline !== null))
    await endEarlierStatements(session, claims)
  if (claims.length > 0) await session.waitForReplicas()
  return claims
}

/** Condition: a process requests the account of a claim. */
function isRequested(postgres: Postgres, claim: string) {
  return postgres`
    coalesce(${postgres(claim)}.wanted_at > clock_timestamp() - ${requestMs} * interval '1 millisecond', false)`
}

/**
 * Records that this process requests accounts which other processes have.
 * @returns by account the process that has it, null for none or a writer of 1.0 or 1.1, and whether it is available: free, or held by a feed, which hands it over
 */
export async function requestAccounts(session: WriteSession, accountIds: readonly string[]) {
  type Requested = { accountId: string; holder: string | null; isAvailable: boolean }
  const claims = await session.sql<Requested[]>('requesting accounts')`
    UPDATE leases
    SET wanted_at = CASE WHEN ${session.lease.name} LIKE ${demoLeases} THEN wanted_at ELSE clock_timestamp() END
    WHERE name = ANY(${accountIds.map((id) => `writer:${id}`)}::text[])
    RETURNING substr(name, 8) AS "accountId", process AS holder, process IS NULL OR process LIKE ${feedLeases} AS "isAvailable"`
  return new Map(claims.map((claim) => [claim.accountId, claim]))
}

/** @returns the accounts of the process that others request; all of them while a migration waits */
export async function readRequestedAccounts(session: WriteSession): Promise<string[]> {
  const { postgres } = session.stores
  const requested = await session.sql<{ accountId: string }[]>('reading which accounts other writers request')`
    SELECT substr(name, 8) AS "accountId"
    FROM leases AS claim
    WHERE process = ${session.lease.name} AND (${isRequested(postgres, 'claim')} OR EXISTS (
      SELECT FROM leases WHERE name = ${migrationLease} AND owner <> '' AND expires_at > clock_timestamp()))`
  return requested.map(({ accountId }) => accountId)
}

/** Releases accounts, once no statement of this process is left. @throws LeaseLost */
export async function releaseAccounts(session: WriteSession, accountIds: readonly string[]): Promise<void> {
  await session.waitForEarlierStatements()
  await session.change('releasing accounts')`
    released AS (
      UPDATE leases SET owner = '', process = NULL, expires_at = '-infinity'
      FROM held
      WHERE name = ANY(${accountIds.map((id) => `writer:${id}`)}::text[]) AND process = ${session.lease.name})`
}

/** Waits for the deadlines of earlier statements, ends those that run, and forgets the processes. */
async function endEarlierStatements(session: WriteSession, claims: readonly Claim[]): Promise<void> {
  const { clickhouse, postgres } = session.stores
  const ended = [...new Set(claims.flatMap(({ unsettled }) => unsettled))]
  const ofEarlierVersions = claims.filter(({ deadline }) => deadline !== null)
  await session.retry('ending earlier statements', async () => {
    const [row] = await queryPostgres(postgres<{ latest: Date | null }[]>`
      SELECT max(statement_deadline) AS latest FROM leases WHERE name = ANY(${ended}::text[])`)
    const deadlines = [row?.latest, ...ofEarlierVersions.map(({ deadline }) => deadline)]
    await waitForClickHouseClock(clickhouse, Math.max(...deadlines.map((deadline) => deadline?.getTime() ?? 0)))
    for (const name of [...ended, ...ofEarlierVersions.map(({ accountId }) => accountId)]) {
      await killQueries(clickhouse, writePrefix(name))
    }
  })
  await session.change('recording that earlier statements have ended')`
    settled AS (
      UPDATE leases SET unsettled = '{}', statement_deadline = NULL
      FROM held
      WHERE name = ANY(${claims.map(({ accountId }) => `writer:${accountId}`)}::text[]) AND process = ${session.lease.name})`
  await session.sql('deleting the leases of ended processes')`
    DELETE FROM leases AS ended
    WHERE name = ANY(${ended}::text[]) AND owner = '' AND NOT EXISTS (
      SELECT FROM leases AS claim WHERE claim.process = ended.name OR ended.name = ANY(claim.unsettled))`
}

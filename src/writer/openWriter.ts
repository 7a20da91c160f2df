import { assertWritable, migrationLease } from '../stores/migrations/migrate.ts'
import { acquireLease, type Lease, tryLease } from '../stores/postgres/lease.ts'
import { claimAccounts, describeProcess, type FeedKind, newProcess, wish } from './fence/claims.ts'
import { WriteFence } from './fence/fence.ts'
import { releaseClaims, WriteRefused, type Writer, WriteSession } from './fence/session.ts'
import { recoverAccount } from './repair/recoverAccount.ts'

/** Options of a session; `signal` ends the wait for accounts and every step. */
export interface SessionOptions extends Pick<WriteSession, 'onMessage' | 'signal'> {
  /** Milliseconds within which a statement must begin; 2 s unless given. After an unknown outcome the next one waits for their end. */
  statementWindowMs?: number | undefined
  /** Set for a process that yields its accounts to others. */
  feed?: FeedKind
}

export interface WriterOptions extends SessionOptions {
  /** `recover` completes interrupted work; `settle` only waits until no statement of it is left; `delete` is for a deleted account. */
  first?: 'recover' | 'settle' | 'delete'
}

/**
 * Opens the session of a process, which has no accounts yet, under a lease of its own; waits while a migration runs.
 * @throws MigrationError when a newer version has migrated the databases in a way that this version must not write
 */
export async function openWriterSet(stores: WriteSession['stores'], options: SessionOptions): Promise<WriteSession> {
  const { onMessage, signal } = options
  const lease = await acquireLease(stores.postgres, newProcess(options.feed), {
    blockedBy: migrationLease,
    signal,
    onWait: () => onMessage('The stores are being migrated; waiting for the migration to end.'),
    retry: { step: 'acquiring a lease', onMessage, signal },
  })
  return await openUnder(lease, stores, options)
}

/** Opens a set as `openWriterSet` does. @returns undefined while a migration runs */
export async function tryOpenWriterSet(
  stores: WriteSession['stores'],
  options: SessionOptions,
): Promise<WriteSession | undefined> {
  const name = newProcess(options.feed)
  const lease = await tryLease(stores.postgres, name, migrationLease)
  if (lease) return await openUnder(lease, stores, options)
  await releaseClaims(stores.postgres, name)
  return undefined
}

async function openUnder(
  lease: Lease,
  stores: WriteSession['stores'],
  { onMessage, signal, statementWindowMs }: SessionOptions,
): Promise<WriteSession> {
  const fence = new WriteFence(stores.clickhouse, lease, statementWindowMs)
  const set = new WriteSession({ stores, lease, onMessage, fence, signal: AbortSignal.any([signal, lease.lost]) })
  return await orClose(set, async () => {
    await set.retry('reading which migrations ran', () => assertWritable(stores))
    return set
  })
}

/** Time between two attempts to claim an account that another process holds, between two wishes for it, and until a longer wait is reported. */
const retryMs = 250
const wishesMs = 1_000
const reportMs = 2_000
/** Time in which a feed yields an account, even if it is busy. */
const yieldMs = 10_000

/**
 * Opens the writer of an account, a set of one; waits while another process has claimed it.
 * @throws WriteRefused when the account is deleted or its deletion has begun; MigrationError as `openWriterSet`
 */
export async function openWriter(
  stores: WriteSession['stores'],
  accountId: string,
  options: WriterOptions,
): Promise<Writer> {
  const set = await openWriterSet(stores, options)
  return await orClose(set, async () => {
    await claimInTime(set, accountId, Number.POSITIVE_INFINITY)
    return await begin(set.writerOf(accountId), options)
  })
}

/**
 * Claims an account, and wishes for it while another process has it.
 * @param maxMs longest wait for a feed; unless it is infinite, other processes are not waited for
 * @returns whether the account is claimed
 */
async function claimInTime(set: WriteSession, accountId: string, maxMs: number): Promise<boolean> {
  const startedMs = performance.now()
  for (let attempts = 0; (await claimAccounts(set, [accountId])).length === 0; attempts++) {
    if ((attempts * retryMs) % wishesMs === 0) {
      const { process = null, isYielded = true } = (await wish(set, [accountId])).get(accountId) ?? {}
      if (!isYielded && maxMs < Number.POSITIVE_INFINITY) return false
      if (attempts * retryMs === reportMs)
        set.onMessage(`Waiting for account ${accountId}, which ${describeProcess(process)} has.`)
    }
    if (performance.now() - startedMs >= maxMs) return false
    await set.pause(retryMs)
  }
  return true
}

async function begin(writer: Writer, { first = 'recover' }: WriterOptions): Promise<Writer> {
  if (first !== 'delete') await assertNotDeleted(writer)
  if (first === 'recover') await recoverAccount(writer)
  return writer
}

/** Closes the session if the work fails. */
async function orClose<Result>(session: WriteSession, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    await session.close()
    throw error
  }
}

/** Opens the writer of an account as `openWriter` does, for the time of some work. */
export async function withWriter<Result>(
  stores: WriteSession['stores'],
  accountId: string,
  options: WriterOptions,
  work: (writer: Writer) => Promise<Result>,
): Promise<Result> {
  const writer = await openWriter(stores, accountId, options)
  return await andClose(writer, () => work(writer))
}

/**
 * Opens the writer of an account, for the time of some work, if no other process has claimed it, or a feed that yields it.
 * @returns undefined if one has, or while a migration runs
 */
export async function tryWithWriter<Result>(
  stores: WriteSession['stores'],
  accountId: string,
  options: WriterOptions,
  work: (writer: Writer) => Promise<Result>,
): Promise<Result | undefined> {
  const set = await tryOpenWriterSet(stores, options)
  if (!set) return undefined
  return await andClose(set, async () => {
    const isClaimed = await claimInTime(set, accountId, yieldMs)
    return isClaimed ? await work(await begin(set.writerOf(accountId), options)) : undefined
  })
}

/** Closes the session after the work. */
async function andClose<Result>(session: WriteSession, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } finally {
    await session.close()
  }
}

/** The deletion claims the account too, so a writer that waited for it adds no rows afterwards. @throws WriteRefused */
async function assertNotDeleted(writer: Writer): Promise<void> {
  const { accountId } = writer
  const found = await writer.sql('reading the account')`SELECT 1 FROM account_deletions WHERE account_id = ${accountId}`
  if (found.length > 0) throw new WriteRefused(`account ${accountId} has been deleted.`)
}

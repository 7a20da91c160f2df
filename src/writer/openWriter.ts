import { assertWritable, migrationLease } from '../stores/migrations/migrate.ts'
import { acquireLease, type Lease, tryLease } from '../stores/postgres/lease.ts'
import { claimAccounts, describeProcess, type FeedKind, newProcess, requestAccounts } from './fence/claims.ts'
import { WriteFence } from './fence/fence.ts'
import { releaseClaims, WriteRefused, type Writer, WriteSession } from './fence/session.ts'
import { recoverAccount } from './repair/recoverAccount.ts'

/** Options of a session; `signal` ends the wait for accounts and every step. */
export interface SessionOptions extends Pick<WriteSession, 'onMessage' | 'signal'> {
  /** Milliseconds within which a statement must begin; 2 s unless given. After an unknown outcome the next one waits for their end. */
  statementWindowMs?: number | undefined
  /** Set for a process that hands its accounts over to others. */
  feed?: FeedKind
}

export interface WriterOptions extends SessionOptions {
  /** `recover` completes interrupted work; `wait` only waits until no statement of it is left; `delete` is for a deleted account. */
  first?: 'recover' | 'wait' | 'delete'
}

/**
 * Opens the session of a process, which has no accounts yet, under a lease of its own; waits while a migration runs.
 * @throws MigrationError when a newer version has migrated the databases in a way that this version must not write
 */
export async function openWriteSession(stores: WriteSession['stores'], options: SessionOptions): Promise<WriteSession> {
  const { onMessage, signal } = options
  const lease = await acquireLease(stores.postgres, newProcess(options.feed), {
    blockedBy: migrationLease,
    signal,
    onWait: () => onMessage('The stores are being migrated; waiting for the migration to end.'),
    retry: { step: 'acquiring a lease', onMessage, signal },
  })
  return await openUnder(lease, stores, options)
}

/** Opens a session as `openWriteSession` does. @returns undefined while a migration runs */
export async function tryOpenWriteSession(
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
  const session = new WriteSession({ stores, lease, onMessage, fence, signal: AbortSignal.any([signal, lease.lost]) })
  await orClose(session, () => session.retry('reading which migrations ran', () => assertWritable(stores)))
  return session
}

/** Time between two attempts to claim an account that another process holds, between two requests for it, and until a longer wait is reported. */
const retryMs = 250
const requestsMs = 1_000
const reportMs = 2_000
/** Time in which a feed hands an account over, even if it is busy. */
const handoverMs = 10_000

/**
 * Opens the writer of an account, a session of one account; waits while another process has claimed it.
 * @throws WriteRefused when the account is deleted or its deletion has begun; MigrationError as `openWriteSession`
 */
export async function openWriter(
  stores: WriteSession['stores'],
  accountId: string,
  options: WriterOptions,
): Promise<Writer> {
  const session = await openWriteSession(stores, options)
  return await orClose(session, async () => {
    await claimInTime(session, accountId, Number.POSITIVE_INFINITY)
    return await begin(session.writerOf(accountId), options)
  })
}

/**
 * Claims an account, and requests it while another process has it.
 * @param maxMs longest wait for a feed; unless it is infinite, other processes are not waited for
 * @returns whether the account is claimed
 */
async function claimInTime(session: WriteSession, accountId: string, maxMs: number): Promise<boolean> {
  const startedMs = performance.now()
  for (let attempts = 0; (await claimAccounts(session, [accountId])).length === 0; attempts++) {
    if ((attempts * retryMs) % requestsMs === 0) {
      const { holder = null, isAvailable = true } = (await requestAccounts(session, [accountId])).get(accountId) ?? {}
      if (!isAvailable && maxMs < Number.POSITIVE_INFINITY) return false
      if (attempts * retryMs === reportMs)
        session.onMessage(`Waiting for account ${accountId}, which ${describeProcess(holder)} has.`)
    }
    if (performance.now() - startedMs >= maxMs) return false
    await session.pause(retryMs)
  }
  return true
}

/** The deletion claims the account too, so a writer that waited for it adds no rows afterwards. @throws WriteRefused */
async function begin(writer: Writer, { first = 'recover' }: WriterOptions): Promise<Writer> {
  const { accountId } = writer
  if (first !== 'delete') {
    const reading = writer.sql('reading the account')
    const deletions = await reading`SELECT 1 FROM account_deletions WHERE account_id = ${accountId}`
    if (deletions.length > 0) throw new WriteRefused(`account ${accountId} has been deleted.`)
  }
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
  try {
    return await work(writer)
  } finally {
    await writer.close()
  }
}

/**
 * Opens the writer of an account, for the time of some work, if no other process has claimed it, or a feed that hands it over.
 * @returns undefined if one has, or while a migration runs
 */
export async function tryWithWriter<Result>(
  stores: WriteSession['stores'],
  accountId: string,
  options: WriterOptions,
  work: (writer: Writer) => Promise<Result>,
): Promise<Result | undefined> {
  const session = await tryOpenWriteSession(stores, options)
  if (!session) return undefined
  try {
    const isClaimed = await claimInTime(session, accountId, handoverMs)
    return isClaimed ? await work(await begin(session.writerOf(accountId), options)) : undefined
  } finally {
    await session.close()
  }
}

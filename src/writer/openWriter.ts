import { assertCurrent } from '../stores/migrations/migrate.ts'
import type { Lease } from '../stores/postgres/lease.ts'
import { retryWhileUnavailable } from '../stores/retry.ts'
import { assertNotDeleted } from './lease/accountDeleted.ts'
import { settle, WriteFence } from './lease/fence.ts'
import type { Writer } from './lease/writer.ts'
import { acquireWriterLease, type RetryContext, tryWriterLease } from './lease/writerLease.ts'
import { type CompletedWork, recoverAccount } from './repair/recoverAccount.ts'

/** Options of a writer. */
export interface WriterOptions extends RetryContext {
  /**
   * Time within which a statement must begin after it was prepared, in milliseconds; 2 s unless given. If its outcome is
   * unknown, the account's next statement waits for the end of this time.
   */
  statementWindowMs?: number | undefined
}

/**
 * Acquires the account's lease and waits until no statement of an earlier writer is left; repairs nothing.
 * @param signal ends the wait and every step
 * @throws what `acquireWriterLease` throws, AccountDeleted, or MigrationError when a newer version has migrated the
 *   databases since this process opened them
 */
export async function openIdleWriter(
  stores: Writer['stores'],
  accountId: string,
  context: WriterOptions,
): Promise<Writer> {
  const lease = await acquireWriterLease(stores, accountId, context)
  await assertMayWrite(stores, accountId, lease, context)
  return await settleWith(stores, accountId, lease, context)
}

/**
 * The same for the deletion of the account, which no other writer may write any longer.
 * @param signal ends the wait and every step
 * @throws what `acquireWriterLease` throws
 */
export async function openDeletingWriter(
  stores: Writer['stores'],
  accountId: string,
  context: WriterOptions,
): Promise<Writer> {
  const lease = await acquireWriterLease(stores, accountId, context)
  await releaseOnError(lease, () => assertCurrentVersion(stores, context))
  return await settleWith(stores, accountId, lease, context)
}

/**
 * Acquires the account's lease, then completes the work of an interrupted writer.
 * @param signal ends the wait and every step
 * @throws what `openIdleWriter` and `recoverAccount` throw
 */
export async function openWriter(stores: Writer['stores'], accountId: string, context: WriterOptions): Promise<Writer> {
  const lease = await acquireWriterLease(stores, accountId, context)
  await assertMayWrite(stores, accountId, lease, context)
  return (await completeWith(stores, accountId, lease, context)).writer
}

/**
 * Acquires the account's lease only if it is free and no migration runs, and completes the work of an interrupted writer;
 * never waits for another writer.
 * @returns the writer and what was completed; undefined while another writer holds the lease or a migration runs
 * @throws what `openWriter` throws
 */
export async function openWriterIfFree(
  stores: Writer['stores'],
  accountId: string,
  context: WriterOptions,
): Promise<{ writer: Writer; completed: CompletedWork } | undefined> {
  const lease = await tryWriterLease(stores, accountId)
  if (!lease) return undefined
  await assertMayWrite(stores, accountId, lease, context)
  return await completeWith(stores, accountId, lease, context)
}

/** Releases the lease when this version may not write, or the account has been deleted. */
async function assertMayWrite(
  stores: Writer['stores'],
  accountId: string,
  lease: Lease,
  context: RetryContext,
): Promise<void> {
  await releaseOnError(lease, async () => {
    await assertCurrentVersion(stores, context)
    await retryWhileUnavailable('reading the account', () => assertNotDeleted(stores, accountId), context)
  })
}

async function assertCurrentVersion(stores: Writer['stores'], context: RetryContext): Promise<void> {
  await retryWhileUnavailable('reading which migrations ran', () => assertCurrent(stores), context)
}

async function releaseOnError(lease: Lease, check: () => Promise<void>): Promise<void> {
  try {
    await check()
  } catch (error) {
    await lease.release()
    throw error
  }
}

/** Releases the lease when statements of an earlier writer cannot be ended. */
async function settleWith(
  stores: Writer['stores'],
  accountId: string,
  lease: Lease,
  context: WriterOptions,
): Promise<Writer> {
  const writer = writerWith(stores, accountId, lease, context)
  try {
    await settle(writer)
    return writer
  } catch (error) {
    await writer.close()
    throw error
  }
}

/** Completes interrupted work; releases the lease when that fails. */
async function completeWith(
  stores: Writer['stores'],
  accountId: string,
  lease: Lease,
  context: WriterOptions,
): Promise<{ writer: Writer; completed: CompletedWork }> {
  const writer = writerWith(stores, accountId, lease, context)
  try {
    return { writer, completed: await recoverAccount(writer) }
  } catch (error) {
    await writer.close()
    throw error
  }
}

function writerWith(
  stores: Writer['stores'],
  accountId: string,
  lease: Lease,
  { onMessage, signal, statementWindowMs }: WriterOptions,
): Writer {
  const fence = new WriteFence(stores.clickhouse, accountId, lease, statementWindowMs)
  return {
    ...{ stores, accountId, lease, fence, onMessage },
    signal: AbortSignal.any([signal, lease.lost]),
    close: () => lease.release(fence.unsettledUntilMs ?? null),
  }
}

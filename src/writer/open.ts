import { assertCurrent, migrationLease } from '../stores/migrations/migrate.ts'
import { acquireLease, type Lease, tryLease } from '../stores/postgres/lease.ts'
import { retryWhileUnavailable } from '../stores/retry.ts'
import { settle, WriteFence } from './fence.ts'
import { type Recovered, recover } from './repair/recover.ts'
import type { Writer } from './writer.ts'

/** Where waits and retries are reported, and what ends them. */
type RetryContext = Pick<Writer, 'onMessage' | 'signal'>

/**
 * Acquires the account's lease; waits while another writer holds it or a migration runs. Until it is released, there is no
 * other writer and no migration.
 * @param signal ends the wait
 * @throws Problem `unavailable` when a database stays unavailable, MigrationError when a newer version has migrated the
 *   databases since this process opened them, or the reason of `signal`
 */
async function acquireWriterLease(
  stores: Writer['stores'],
  accountId: string,
  { onMessage, signal }: RetryContext,
): Promise<Lease> {
  const onWait = (held: string) =>
    onMessage(
      held === migrationLease
        ? 'The stores are being migrated; waiting for the migration to end.'
        : `Another writer is active on account ${accountId}; waiting for it to end.`,
    )
  const lease = await acquireLease(stores.postgres, leaseOf(accountId), {
    ...{ blockedBy: migrationLease, signal, onWait },
    retry: (attempt) => retryWhileUnavailable("waiting for the account's lease", attempt, { onMessage, signal }),
  })
  await assertMayWrite(stores, lease, { onMessage, signal })
  return lease
}

/**
 * Acquires the account's lease and waits until no statement of an earlier writer is left; repairs nothing.
 * @param signal ends the wait and every step
 * @throws what `acquireWriterLease` throws
 */
export async function openIdleWriter(
  stores: Writer['stores'],
  accountId: string,
  context: RetryContext,
): Promise<Writer> {
  const writer = writerWith(stores, accountId, await acquireWriterLease(stores, accountId, context), context)
  try {
    await settle(writer)
    return writer
  } catch (error) {
    await writer.close()
    throw error
  }
}

/**
 * Acquires the account's lease, then completes the work of an interrupted writer.
 * @param signal ends the wait and every step
 * @throws what `acquireWriterLease` and `recover` throw
 */
export async function openWriter(stores: Writer['stores'], accountId: string, context: RetryContext): Promise<Writer> {
  const lease = await acquireWriterLease(stores, accountId, context)
  return (await recoverWith(stores, accountId, lease, context)).writer
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
  context: RetryContext,
): Promise<{ writer: Writer; recovered: Recovered } | undefined> {
  const lease = await tryLease(stores.postgres, leaseOf(accountId), migrationLease)
  if (!lease) return undefined
  await assertMayWrite(stores, lease, context)
  return await recoverWith(stores, accountId, lease, context)
}

const leaseOf = (accountId: string) => `writer:${accountId}`

/** Releases the lease when this version may not write. */
async function assertMayWrite(stores: Writer['stores'], lease: Lease, context: RetryContext): Promise<void> {
  try {
    await retryWhileUnavailable('reading which migrations ran', () => assertCurrent(stores), context)
  } catch (error) {
    await lease.release()
    throw error
  }
}

/** Releases the lease when the recovery fails. */
async function recoverWith(
  stores: Writer['stores'],
  accountId: string,
  lease: Lease,
  context: RetryContext,
): Promise<{ writer: Writer; recovered: Recovered }> {
  const writer = writerWith(stores, accountId, lease, context)
  try {
    return { writer, recovered: await recover(writer) }
  } catch (error) {
    await writer.close()
    throw error
  }
}

function writerWith(
  stores: Writer['stores'],
  accountId: string,
  lease: Lease,
  { onMessage, signal }: RetryContext,
): Writer {
  const fence = new WriteFence(stores.clickhouse, accountId, lease)
  return {
    ...{ stores, accountId, lease, fence, onMessage },
    signal: AbortSignal.any([signal, lease.lost]),
    close: () => lease.release(fence.unsettledUntilMs ?? null),
  }
}

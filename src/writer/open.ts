import { assertCurrent, migrationLease } from '../stores/migrations/migrate.ts'
import { acquireLease, type Lease, tryLease } from '../stores/postgres/lease.ts'
import { retryWhileUnavailable } from '../stores/retry.ts'
import { settle, WriteFence } from './fence.ts'
import { type Recovered, recover } from './repair/recover.ts'
import type { Writer } from './writer.ts'

/** Who waits for the turn of an account, and on what. */
type Waiting = Pick<Writer, 'onMessage' | 'signal'>

/**
 * Waits for the account's turn: nobody else writes it, and no migration is under way, until the lease is released.
 * @param signal ends the wait
 * @throws Problem `unavailable` when a store stays away, MigrationError when a newer version has migrated the stores
 *   since this process opened them, or the reason of `signal`
 */
async function acquireWriterLease(
  stores: Writer['stores'],
  accountId: string,
  { onMessage: say, signal }: Waiting,
): Promise<Lease> {
  const onWait = (held: string) =>
    say(
      held === migrationLease
        ? 'The stores are being migrated; waiting for it to end.'
        : `Another writer is at work on account ${accountId}; waiting for it to end.`,
    )
  const lease = await acquireLease(stores.postgres, leaseOf(accountId), {
    ...{ blockedBy: migrationLease, signal, onWait },
    retry: (attempt) => retryWhileUnavailable('waiting for its turn', attempt, { onMessage: say, signal }),
  })
  await assertMayWrite(stores, lease, { onMessage: say, signal })
  return lease
}

/**
 * Waits for the account's turn and until no statement of an earlier writer is left; repairs nothing.
 * @param signal ends the wait and every step
 * @throws what `takeTurn` throws
 */
export async function openIdleWriter(stores: Writer['stores'], accountId: string, waiting: Waiting): Promise<Writer> {
  const writer = writerWith(stores, accountId, await acquireWriterLease(stores, accountId, waiting), waiting)
  try {
    await settle(writer)
    return writer
  } catch (error) {
    await writer.close()
    throw error
  }
}

/**
 * Waits for the account's turn, then brings back in order what an earlier writer left half done.
 * @param signal ends the wait and every step
 * @throws what `takeTurn` and `recover` throw
 */
export async function openWriter(stores: Writer['stores'], accountId: string, waiting: Waiting): Promise<Writer> {
  const lease = await acquireWriterLease(stores, accountId, waiting)
  return (await recovering(stores, accountId, lease, waiting)).writer
}

/**
 * Becomes the account's writer only if it has none right now and no migration runs, and completes what an earlier one
 * left; never waits for another writer.
 * @returns the writer and what was completed; undefined while the account has another writer
 * @throws what `openWriter` throws
 */
export async function openWriterIfFree(
  stores: Writer['stores'],
  accountId: string,
  waiting: Waiting,
): Promise<{ writer: Writer; recovered: Recovered } | undefined> {
  const lease = await tryLease(stores.postgres, leaseOf(accountId), migrationLease)
  if (!lease) return undefined
  await assertMayWrite(stores, lease, waiting)
  return await recovering(stores, accountId, lease, waiting)
}

const leaseOf = (accountId: string) => `writer:${accountId}`

/** Releases the lease when this version may not write. */
async function assertMayWrite(stores: Writer['stores'], lease: Lease, waiting: Waiting): Promise<void> {
  try {
    await retryWhileUnavailable('reading which migrations ran', () => assertCurrent(stores), waiting)
  } catch (error) {
    await lease.release()
    throw error
  }
}

/** Releases the lease when the recovery fails. */
async function recovering(
  stores: Writer['stores'],
  accountId: string,
  lease: Lease,
  waiting: Waiting,
): Promise<{ writer: Writer; recovered: Recovered }> {
  const writer = writerWith(stores, accountId, lease, waiting)
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
  { onMessage: say, signal }: Waiting,
): Writer {
  const fence = new WriteFence(stores.clickhouse, accountId, lease)
  return {
    ...{ stores, accountId, lease, fence, onMessage: say },
    signal: AbortSignal.any([signal, lease.lost]),
    close: () => lease.release(fence.unsettledUntilMs ?? null),
  }
}

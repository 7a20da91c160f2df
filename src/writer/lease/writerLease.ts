import { migrationLease } from '../../stores/migrations/migrate.ts'
import { acquireLease, type Lease, tryLease } from '../../stores/postgres/lease.ts'
import { retryWhileUnavailable } from '../../stores/retry.ts'
import type { Writer } from './writer.ts'

const leaseOf = (accountId: string) => `writer:${accountId}`

/** Where waits and retries are reported, and what ends them. */
export type RetryContext = Pick<Writer, 'onMessage' | 'signal'>

/**
 * Acquires the account's lease; waits while another writer holds it or a migration runs. Until it is released, there is no
 * other writer and no migration.
 * @param signal ends the wait
 * @throws Problem `unavailable` when a database stays unavailable, or the reason of `signal`
 */
export async function acquireWriterLease(
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
  return lease
}

/** Acquires the account's lease if it is free and no migration runs. @returns undefined if another writer or a migration holds it */
export async function tryWriterLease(stores: Writer['stores'], accountId: string): Promise<Lease | undefined> {
  return await tryLease(stores.postgres, leaseOf(accountId), migrationLease)
}

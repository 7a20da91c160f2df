import { migrationLease } from '../../stores/migrations/migrate.ts'
import { acquireLease, type Lease, tryLease } from '../../stores/postgres/lease.ts'
import { retryWhileUnavailable } from '../../stores/timing/retry.ts'
import type { WriterParts } from './writer.ts'

const leaseOf = (accountId: string) => `writer:${accountId}`

/**
 * Acquires the account's lease; waits while another writer holds it or a migration runs. Until it is released, there is no
 * other writer and no migration.
 * @param signal ends the wait
 * @throws Problem `unavailable` when a database stays unavailable, or the reason of `signal`
 */
export async function acquireWriterLease(
  { postgres }: WriterParts['stores'],
  accountId: string,
  { onMessage, signal }: Pick<WriterParts, 'onMessage' | 'signal'>,
): Promise<Lease> {
  const onWait = (held: string) =>
    onMessage(
      held === migrationLease
        ? 'The stores are being migrated; waiting for the migration to end.'
        : `Another writer is active on account ${accountId}; waiting for it to end.`,
    )
  return await acquireLease(postgres, leaseOf(accountId), {
    ...{ blockedBy: migrationLease, signal, onWait },
    retry: (attempt) => retryWhileUnavailable("waiting for the account's lease", attempt, { onMessage, signal }),
  })
}

/** Acquires the account's lease if it is free and no migration runs. @returns undefined if another writer or a migration holds it */
export async function tryWriterLease(
  { postgres }: WriterParts['stores'],
  accountId: string,
): Promise<Lease | undefined> {
  return await tryLease(postgres, leaseOf(accountId), migrationLease)
}

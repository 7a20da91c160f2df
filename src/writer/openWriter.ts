import { assertWritable, migrationLease } from '../stores/migrations/migrate.ts'
import { acquireLease, type Lease, tryLease } from '../stores/postgres/lease.ts'
import { retryWhileUnavailable } from '../stores/timing/retry.ts'
import { WriteFence } from './fence/fence.ts'
import { WriteRefused, Writer } from './fence/writer.ts'
import { recoverAccount } from './repair/recoverAccount.ts'

/** Options of a writer; `signal` ends the wait for the lease and every step. */
export interface WriterOptions extends Pick<Writer, 'onMessage' | 'signal'> {
  /** The account's lease, from `tryWriterLease`; absent: waits while another writer holds it or a migration runs. */
  lease?: Lease
  /** `recover` completes interrupted work; `settle` only waits until no statement of it is left; `delete` is for a deleted account. */
  first?: 'recover' | 'settle' | 'delete'
  /** Milliseconds within which a statement must begin; 2 s unless given. After an unknown outcome the next one waits for their end. */
  statementWindowMs?: number | undefined
}

/**
 * Opens the writer of an account under its lease, which it releases if it cannot write.
 * @throws WriteRefused when the account is deleted or its deletion has begun; MigrationError when a newer version has migrated the
 *   databases in a way that this version must not write
 */
export async function openWriter(
  stores: Writer['stores'],
  accountId: string,
  { onMessage, signal, lease: given, first = 'recover', statementWindowMs }: WriterOptions,
): Promise<Writer> {
  const onWait = (held: string) =>
    onMessage(
      held === migrationLease
        ? 'The stores are being migrated; waiting for the migration to end.'
        : `Another writer is active on account ${accountId}; waiting for it to end.`,
    )
  const lease =
    given ??
    (await acquireLease(stores.postgres, leaseOf(accountId), {
      ...{ blockedBy: migrationLease, signal, onWait },
      retry: (attempt) => retryWhileUnavailable("waiting for the account's lease", attempt, { onMessage, signal }),
    }))
  const writer = new Writer({
    ...{ stores, accountId, lease, onMessage },
    fence: new WriteFence(stores.clickhouse, accountId, lease, statementWindowMs),
    signal: AbortSignal.any([signal, lease.lost]),
  })
  try {
    await writer.retry('reading which migrations ran', () => assertWritable(stores))
    if (first !== 'delete') await assertNotDeleted(writer)
    if (first === 'recover') await recoverAccount(writer)
    else await writer.settle()
    return writer
  } catch (error) {
    await writer.close()
    throw error
  }
}

/** Opens the writer of an account as `openWriter` does, for the time of some work. */
export async function withWriter<Result>(
  stores: Writer['stores'],
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

const leaseOf = (accountId: string) => `writer:${accountId}`

/** Acquires the account's lease if it is free and no migration runs. @returns undefined if another writer or a migration holds it */
export async function tryWriterLease({ postgres }: Writer['stores'], accountId: string): Promise<Lease | undefined> {
  return await tryLease(postgres, leaseOf(accountId), migrationLease)
}

/** The deletion holds the lease too, so a writer that waited for it adds no rows afterwards. @throws WriteRefused */
async function assertNotDeleted(writer: Writer): Promise<void> {
  const { accountId } = writer
  const found = await writer.sql('reading the account')`SELECT 1 FROM account_deletions WHERE account_id = ${accountId}`
  if (found.length > 0) throw new WriteRefused(`account ${accountId} has been deleted.`)
}

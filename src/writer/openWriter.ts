import { assertCurrent } from '../stores/migrations/migrate.ts'
import type { Lease } from '../stores/postgres/lease.ts'
import { assertNotDeleted } from './lease/accountDeleted.ts'
import { WriteFence } from './lease/fence.ts'
import { Writer, type WriterParts } from './lease/writer.ts'
import { acquireWriterLease } from './lease/writerLease.ts'
import { recoverAccount } from './repair/recoverAccount.ts'

/** Options of a writer; `signal` ends the wait for the lease and every step. */
export interface WriterOptions extends Pick<WriterParts, 'onMessage' | 'signal'> {
  /** The account's lease, from `tryWriterLease`; absent: waits while another writer holds it or a migration runs. */
  lease?: Lease
  /**
   * What is done first: `recover` completes the work of an interrupted writer; `settle` only waits until no statement of it is
   * left; `delete` does too, for the deletion of the account, which no other writer may write any longer.
   */
  first?: 'recover' | 'settle' | 'delete'
  /**
   * Time within which a statement must begin after it was prepared, in milliseconds; 2 s unless given. If its outcome is
   * unknown, the account's next statement waits for the end of this time.
   */
  statementWindowMs?: number | undefined
}

/**
 * Opens the writer of an account under its lease, which it releases if it cannot write.
 * @throws what `acquireWriterLease` and `recoverAccount` throw, AccountDeleted, or MigrationError when a newer version has
 *   migrated the databases since this process opened them
 */
export async function openWriter(
  stores: WriterParts['stores'],
  accountId: string,
  { onMessage, signal, lease: given, first = 'recover', statementWindowMs }: WriterOptions,
): Promise<Writer> {
  const lease = given ?? (await acquireWriterLease(stores, accountId, { onMessage, signal }))
  const writer = new Writer({
    ...{ stores, accountId, lease, onMessage },
    fence: new WriteFence(stores.clickhouse, accountId, lease, statementWindowMs),
    signal: AbortSignal.any([signal, lease.lost]),
  })
  try {
    await writer.retry('reading which migrations ran', () => assertCurrent(stores))
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
  stores: WriterParts['stores'],
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

import { askPostgres } from '../stores/postgres.ts'
import { openWriter } from './open.ts'
import type { Writer } from './writer.ts'

/**
 * Brings back in order what writers of any account left half done, so that nobody has to import before the sums are
 * right again. It waits for the turn of each account, and does nothing where another writer has been there first.
 * @throws Problem `unavailable` when a store stays away, or the reason of `signal`
 */
export async function recoverAccounts(
  stores: Writer['stores'],
  { say, signal }: Pick<Writer, 'say' | 'signal'>,
): Promise<void> {
  const accounts = await askPostgres(stores.postgres<{ account_id: string }[]>`
    SELECT DISTINCT account_id FROM import_batches`)
  await Promise.all(
    accounts.map(async ({ account_id }) => {
      const writer = await openWriter(stores, account_id, { say, signal })
      await writer.close()
    }),
  )
}

import type { Writer } from './writer.ts'

/** The account of a writer has been deleted, or its deletion has begun. Nothing is written. */
export class AccountDeleted extends Error {
  override name = 'AccountDeleted'

  constructor(accountId: string) {
    super(`account ${accountId} has been deleted.`)
  }
}

/**
 * Asserts that the deletion of the account has not begun. The deletion holds the lease too: a writer that waited for it adds no
 * rows after it.
 * @throws AccountDeleted
 */
export async function assertNotDeleted(writer: Writer): Promise<void> {
  const { accountId } = writer
  const found = await writer.sql(
    'reading the account',
    (postgres) => postgres`SELECT 1 FROM account_deletions WHERE account_id = ${accountId}`,
  )
  if (found.length > 0) throw new AccountDeleted(accountId)
}

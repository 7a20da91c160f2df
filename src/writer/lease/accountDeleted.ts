import { queryPostgres } from '../../stores/postgres/connection.ts'
import type { Writer } from './writer.ts'

/** The account of a writer has been deleted, or its deletion has begun. Nothing is written. */
export class AccountDeleted extends Error {
  override name = 'AccountDeleted'

  constructor(accountId: string) {
    super(`account ${accountId} has been deleted.`)
  }
}

/**
 * Asserts that the deletion of an account has not begun. A writer checks it under the account's lease, which the deletion
 * holds too: a writer that waited for the deletion adds no rows after it.
 * @throws AccountDeleted, or Problem `unavailable`
 */
export async function assertNotDeleted({ postgres }: Writer['stores'], accountId: string): Promise<void> {
  const found = await queryPostgres(postgres`SELECT 1 FROM account_deletions WHERE account_id = ${accountId}`)
  if (found.length > 0) throw new AccountDeleted(accountId)
}

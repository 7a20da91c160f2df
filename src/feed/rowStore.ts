import type { FeedRow, RowResult } from './rows.ts'

/** The boundary between the sources of rows and the code that stores them. One process uses it, one call at a time. */
export interface RowStore {
  /** Aborts, with LeaseLost, when another process may have taken over: nothing is acknowledged afterwards. */
  readonly lost: AbortSignal
  /**
   * Claims accounts, and reads what decides whether their rows are stored. Claiming a claimed account again changes nothing.
   * @returns the accounts that are claimed afterwards; another writer has each other one, or wants it
   * @throws Problem `unavailable`, LeaseLost
   */
  claim(accountIds: readonly string[]): Promise<ReadonlySet<string>>
  /** @returns the claimed accounts that other writers wait for: all of them while a migration waits */
  readWishes(): Promise<readonly string[]>
  /** Gives accounts to the next writer, once no statement of this process is left. */
  release(accountIds: readonly string[]): Promise<void>
  /**
   * Stores rows of claimed accounts.
   * @param rows in the order in which their sources gave them
   * @returns the result of each row; rows of accounts that are not claimed get `retry`
   * @throws Problem `unavailable` when a database stays unavailable: any of the rows may be stored; LeaseLost
   */
  flush(rows: readonly FeedRow[]): Promise<readonly RowResult[]>
  /** Releases all accounts. */
  close(): Promise<void>
}

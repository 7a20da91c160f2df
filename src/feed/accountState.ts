import { RowError } from '../import/readers/rowError.ts'
import { assertRetained } from '../import/resources.ts'
import { type RetainedRanges, readRangesByAccount } from '../stores/postgres/retainedRanges.ts'
import { ErasedIdentifiers } from '../writer/erasure/erasedIdentifiers.ts'
import type { WriteSession } from '../writer/fence/writer.ts'
import type { FeedRow } from './rows.ts'

/** What decides whether and how the rows of an account are stored. It changes only under the account's claim, except `refusal`. */
export interface AccountState {
  /** Why no row is stored; undefined: rows are. */
  readonly refusal: string | undefined
  readonly retained: RetainedRanges
  /** undefined: the account has none. */
  readonly erased: ErasedIdentifiers | undefined
}

/** Reads the states of claimed accounts, each kind in one statement. */
export async function readAccountStates(
  session: WriteSession,
  accountIds: readonly string[],
): Promise<Map<string, AccountState>> {
  const accounts = await session.sql<{ id: string; isImporting: boolean }[]>('reading the accounts')`
    SELECT id, import_of IS NOT NULL AS "isImporting"
    FROM accounts
    WHERE id = ANY(${[...accountIds]}::text[])
      AND NOT EXISTS (SELECT FROM account_deletions WHERE account_id = accounts.id)`
  const isImporting = new Map(accounts.map((account) => [account.id, account.isImporting]))
  const retained = await session.retry('reading from when rows are retained', () =>
    readRangesByAccount(session.stores.postgres, accountIds),
  )
  const erased = await ErasedIdentifiers.readAll(session, accountIds)
  const refusalOf = (id: string) => {
    if (!isImporting.has(id)) return 'accountId: the account has been deleted'
    return isImporting.get(id) ? 'accountId: the account is being imported' : undefined
  }
  const stateOf = (id: string): AccountState => ({
    refusal: refusalOf(id),
    retained: retained.get(id) ?? { clicksMs: 0, eventsMs: 0 },
    erased: erased.get(id),
  })
  return new Map(accountIds.map((id) => [id, stateOf(id)]))
}

/**
 * Checks a row, and blanks personal fields of erased visitors and clicks.
 * @returns the row to store; a copy if it may be blanked, since a row is prepared again while a database is unavailable
 * @throws RowError when the row must not be stored
 */
export function prepareRow(row: FeedRow, { refusal, retained, erased }: AccountState): FeedRow {
  if (refusal !== undefined) throw new RowError(refusal)
  if (row.resource === 'clicks') assertRetained('clickedAt', row.value.clickedAt, retained.clicksMs)
  if (row.resource === 'pixel-events') assertRetained('occurredAt', row.value.occurredAt, retained.eventsMs)
  if (!erased) return row
  const copy = { ...row, value: { ...row.value } } as FeedRow
  if (copy.resource === 'clicks') erased.blankClick(copy.value)
  if (copy.resource === 'conversions') erased.blankConversion(copy.value)
  if (copy.resource === 'pixel-events') erased.blankEvent(copy.value)
  return copy
}

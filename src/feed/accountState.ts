import type { RowRules } from '../import/rows.ts'
import { ErasedIdentifiers } from '../writer/erasure/erasedIdentifiers.ts'
import type { WriteSession } from '../writer/fence/session.ts'

/** What decides whether and how the rows of an account are stored. It changes only under the account's claim, except `refusal`. */
export interface AccountState extends Omit<RowRules, 'accountId'> {
  /** Why no row is stored; undefined: rows are. */
  readonly refusal: string | undefined
  readonly currency: string
}

/** Reads the states of claimed accounts, each kind in one statement. */
export async function readAccountStates(session: WriteSession, accountIds: readonly string[]) {
  const accounts = await session.sql<{ id: string; currency: string; isImporting: boolean }[]>('reading the accounts')`
    SELECT id, currency, import_of IS NOT NULL AS "isImporting"
    FROM accounts
    WHERE id = ANY(${[...accountIds]}::text[])
      AND NOT EXISTS (SELECT FROM account_deletions WHERE account_id = accounts.id)`
  const existing = new Map(accounts.map((account) => [account.id, account]))
  const retained = await session.readRangesByAccount(accountIds)
  const erased = await ErasedIdentifiers.read(session, accountIds)
  const refusalOf = (id: string) => {
    if (!existing.has(id)) return 'accountId: the account has been deleted'
    return existing.get(id)?.isImporting ? 'accountId: the account is being imported' : undefined
  }
  const stateOf = (id: string): AccountState => ({
    refusal: refusalOf(id),
    currency: existing.get(id)?.currency ?? '',
    retained: retained.get(id) ?? { clicksMs: 0, eventsMs: 0 },
    erased: erased.get(id),
  })
  return new Map(accountIds.map((id) => [id, stateOf(id)]))
}

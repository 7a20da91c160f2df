import type { RowRules } from '../import/rows.ts'
import { retainedRangesOf } from '../stores/postgres/retainedRanges.ts'
import { ErasedIdentifiers } from '../writer/erasure/erasedIdentifiers.ts'
import type { WriteSession } from '../writer/fence/session.ts'

/** What decides whether and how the rows of an account are stored. It changes only under the account's claim, except `refusal`. */
export interface AccountState extends Omit<RowRules, 'accountId'> {
  /** Why no row is stored; null: rows are. */
  readonly refusal: string | null
  readonly currency: string
}

/** Reads the states of claimed accounts. */
export async function readAccountStates(session: WriteSession, accountIds: readonly string[]) {
  const states = await session.sql<(AccountState & { id: string })[]>('reading the accounts')`
    SELECT
      id,
      currency,
      ${retainedRangesOf(session.stores.postgres, 'id')} AS retained,
      CASE
        WHEN deletion.account_id IS NOT NULL OR name IS NULL THEN 'accountId: the account has been deleted'
        WHEN import_of IS NOT NULL THEN 'accountId: the account is being imported'
      END AS refusal
    FROM unnest(${[...accountIds]}::text[]) AS id
    LEFT JOIN accounts USING (id)
    LEFT JOIN account_deletions AS deletion ON deletion.account_id = id`
  const erased = await ErasedIdentifiers.read(session, accountIds)
  return new Map(states.map((state) => [state.id, { ...state, erased: erased.get(state.id) }]))
}

import { ch, type Fragment, identifier, join, text } from '../../stores/clickhouse/sql.ts'
import { idList, textList } from '../../stores/clickhouse/textList.ts'

/** The key of a row: its id, unique within the account. */
export type AccountKey = { readonly accountId: string; readonly id: string }

/** @returns the key as one text; an account id has no spaces */
export function keyText({ accountId, id }: AccountKey): string {
  return `${accountId} ${id}`
}

/** The inverse of `keyText`. */
export function keyOfText(key: string): AccountKey {
  const at = key.indexOf(' ')
  return { accountId: key.slice(0, at), id: key.slice(at + 1) }
}

export function accountsOf(rows: readonly Pick<AccountKey, 'accountId'>[]): string[] {
  return [...new Set(rows.map(({ accountId }) => accountId))]
}

/** Condition: a row belongs to one of the accounts. */
export function inAccounts(accountIds: readonly string[]): Fragment {
  const [one] = accountIds
  return one !== undefined && accountIds.length === 1
    ? ch`account_id = ${text(one)}`
    : ch`account_id IN ${idList(accountIds)}`
}

/** Condition: a row has one of the keys. Account and id alone use the sort key at less cost than pairs of both. */
export function hasKey(keys: readonly AccountKey[], column = 'id'): Fragment {
  const accountIds = accountsOf(keys)
  const ids = keys.map(({ id }) => id)
  const apart = ch`${inAccounts(accountIds)}
  AND ${identifier(column)} IN ${idList([...new Set(ids)])}`
  if (accountIds.length === 1) return apart
  const pairs = ch`arrayZip(${textList(keys.map(({ accountId }) => accountId))}, ${textList(ids)})`
  return join([apart, ch`(account_id, ${identifier(column)}) IN (SELECT arrayJoin(${pairs}))`], '\n  AND ')
}

import { parseMillionths } from '../../query/money.ts'
import { selectFields } from '../../stores/clickhouse/columnKinds.ts'
import { ch, count, type Fragment, identifier } from '../../stores/clickhouse/sql.ts'
import { timeColumns } from '../../stores/clickhouse/tableColumns.ts'
import { readRemovedCosts } from '../derived/indexes.ts'
import type { WriteSession } from '../fence/session.ts'
import { type AccountKey, accountsOf, hasKey, inAccounts, keyText } from '../tables/accountKeys.ts'
import type { ChangingRow, ChangingTable, GivenRow } from './changingTables.ts'

/** Reads rows of ClickHouse as a session does. */
export type RowReading = Pick<WriteSession, 'select'>

/**
 * Reads all columns of rows in their current version, which a change writes again as deleted.
 * @param where conditions, the account first, and the clauses that follow `WHERE`
 */
export async function readCurrentRows<Row extends ChangingRow>(
  session: RowReading,
  { name, fields }: ChangingTable<Row>,
  where: Fragment,
  step: string,
  label: string,
): Promise<Row[]> {
  const { isDeleted: _isDeleted, ...selected } = fields
  const query = ch`
SELECT ${selectFields(selected)}
FROM ${identifier(name)} FINAL
WHERE ${where}`
  const amounts = Object.keys(fields).filter((field) => fields[field] === 'moneyOrNull')
  return (await session.select<Record<string, unknown>>(step, query, label)).map((row) => {
    for (const amount of amounts) row[amount] = row[amount] === null ? null : parseMillionths(row[amount] as string)
    return { ...row, isDeleted: false } as unknown as Row
  })
}

/** @returns the current versions of the rows with these keys, by `keyText` */
export async function readStoredRows<Row extends ChangingRow>(
  session: WriteSession,
  table: ChangingTable<Row>,
  keys: readonly AccountKey[],
): Promise<Map<string, Row>> {
  if (keys.length === 0) return new Map()
  const key = ch`account_id, ${timeColumns[table.name]}, id`
  const where = ch`${inAccounts(accountsOf(keys))}
  AND (${key}) IN (SELECT ${key} FROM ${identifier(table.index)} WHERE ${hasKey(keys)})`
  const { name } = table
  const rows = await readCurrentRows(session, table, where, `looking up ${name}`, `import.stored_${name}`)
  return new Map(rows.map((row) => [keyText(row), row]))
}

/** A group of more rows would fill the memory. */
export const groupRowsMax = 1_000

/**
 * Reads the groups that rows without an id name.
 * @returns the keys of their rows, also of rows that have left them; and as `keyText` the groups of more than 1,000 rows, without their rows
 */
export async function readNamedGroups<Row extends ChangingRow>(
  session: WriteSession,
  { name: table, group }: ChangingTable<Row>,
  rows: readonly GivenRow<Row>[],
): Promise<{ keys: AccountKey[]; large: ReadonlySet<string> }> {
  const groups = rows.flatMap((row) => (group && row.id === '' ? { accountId: row.accountId, id: group.of(row) } : []))
  if (!group || groups.length === 0) return { keys: [], large: new Set() }
  const query = ch`
SELECT account_id AS accountId, ${identifier(group.column)} AS name, groupUniqArray(${count(groupRowsMax + 1)})(id) AS ids
FROM ${identifier(table)}
WHERE ${hasKey(groups, group.column)}
GROUP BY account_id, ${identifier(group.column)}`
  type Found = { accountId: string; name: string; ids: string[] }
  const found = await session.select<Found>(`looking up groups of ${table}`, query, `import.groups_of_${table}`)
  const isLarge = ({ ids }: Found) => ids.length > groupRowsMax
  const keysOf = ({ accountId, ids }: Found) => ids.map((id) => ({ accountId, id }))
  return {
    keys: found.flatMap((one) => (isLarge(one) ? [] : keysOf(one))),
    large: new Set(found.filter(isLarge).map(({ accountId, name }) => keyText({ accountId, id: name }))),
  }
}

/** @returns the keys, as `keyText`, of costs that were removed by age: the sums of their months still have them */
export async function readRemovedKeys<Row extends ChangingRow>(
  session: WriteSession,
  { name, index }: ChangingTable<Row>,
  keys: readonly AccountKey[],
): Promise<ReadonlySet<string>> {
  const removed = name === 'costs' && keys.length > 0 ? await readRemovedCosts(session, accountsOf(keys)) : undefined
  if (!removed) return new Set()
  const query = ch`
SELECT account_id AS accountId, id
FROM ${identifier(index)} FINAL
WHERE ${hasKey(keys)} AND ${removed}`
  const found = await session.select<AccountKey>('looking up removed costs', query, 'import.removed_costs')
  return new Set(found.map(keyText))
}

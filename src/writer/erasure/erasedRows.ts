import { ch, identifier, instant, join } from '../../stores/clickhouse/sql.ts'
import { changeRows } from '../fence/mutations.ts'
import type { Writer } from '../fence/session.ts'
import { groupBy } from '../tables/groupBy.ts'
import { type Erasure, identifierHash, pagesOfErasures } from './erasures.ts'
import { erasedUntilMs, isToBlank } from './matching.ts'
import { type PersonalTable, personalTables } from './personalFields.ts'

const label = 'erase'

/** Reads rows of an account, with a lease or without. */
type AccountReading = Pick<Writer, 'select' | 'ofAccount'>

/** Counts rows of erased visitors and clicks that have personal fields, as after a restore of an earlier state. */
export async function findUnerasedRows(writer: Writer): Promise<{ table: string; rows: number }[]> {
  const counts = new Map<string, number>()
  for await (const page of pagesOfErasures(writer, 'all')) {
    for (const table of personalTables) {
      counts.set(table.name, (counts.get(table.name) ?? 0) + (await countRowsToBlank(writer, table, page)))
    }
  }
  return [...counts].flatMap(([table, rows]) => (rows === 0 ? [] : [{ table, rows }]))
}

/**
 * Blanks the personal fields of erased rows in a table, on every node; the mutation has rewritten the parts before it returns.
 * @returns rows that were blanked; copies of other rows are not counted
 */
export async function blankRows(writer: Writer, table: PersonalTable, page: readonly Erasure[], storedAtMs: number) {
  const rows = await countRowsToBlank(writer, table, page)
  if (rows === 0) return 0
  const name = identifier(table.name)
  const blanked = table.personal.map((column) => ch`${column} = ''`)
  const change = ch`ALTER TABLE ${name} UPDATE ${join([...blanked, ch`stored_at = ${instant(storedAtMs)}`])}`
  await changeRows(writer, name, change, ch`${writer.ofAccount}\n  AND ${isToBlank(table, page)}`, label)
  return table.name === 'converted_click_rows' ? 0 : rows
}

async function countRowsToBlank(writer: Writer, table: PersonalTable, page: readonly Erasure[]): Promise<number> {
  const query = ch`
SELECT toUInt32(uniqExact(id)) AS rows
FROM ${identifier(table.name)}
WHERE ${writer.ofAccount}
  AND ${isToBlank(table, page)}`
  const [row] = await writer.select<{ rows: number }>('looking for rows to erase', query, label)
  return row?.rows ?? 0
}

/**
 * @param page erasures of one key
 * @returns erasures of the clicks of their visitors. If a click was removed by age, its conversions have the visitor
 */
export async function clicksOfVisitors(reader: AccountReading, page: readonly Erasure[]): Promise<Erasure[]> {
  const key = page[0]?.key ?? ''
  if (page.every(({ kind }) => kind !== 'visitor')) return []
  const query = ch`
SELECT id, toInt64(max(untilMs)) - 1 AS erasedMs
FROM (
  SELECT id, least(clicked_at, stored_at) AS datedAt, ${erasedUntilMs('visitor', ch`visitor_id`, page)} AS untilMs
  FROM clicks
  WHERE ${reader.ofAccount}
  UNION ALL
  SELECT click_id, least(assumeNotNull(click_at), stored_at), ${erasedUntilMs('visitor', ch`click_visitor_id`, page)}
  FROM conversions
  WHERE ${reader.ofAccount} AND click_at IS NOT NULL
)
WHERE toUnixTimestamp64Milli(datedAt) < untilMs
GROUP BY id`
  const step = 'looking for clicks of erased visitors'
  const rows = await reader.select<{ id: string; erasedMs: number }>(step, query, label)
  return rows.map(({ id, erasedMs }) => ({ kind: 'click', key, hash: identifierHash(key, 'click', id), erasedMs }))
}

/** @returns conditions by table, without the account, of the rows that erasures would blank */
export async function conditionsOfErasures(reader: AccountReading, erasures: readonly Erasure[]) {
  const ofKeys = [...groupBy(erasures, ({ key }) => key).values()]
  const pages = await Promise.all(ofKeys.map(async (page) => [...page, ...(await clicksOfVisitors(reader, page))]))
  const conditionsOf = (table: PersonalTable) => pages.map((page) => isToBlank(table, page))
  return Object.fromEntries(personalTables.map((table) => [table.name, ch`(${join(conditionsOf(table), ' OR ')})`]))
}

import { ch, type Fragment, identifier, instant, join } from '../../stores/clickhouse/sql.ts'
import { changeRows } from '../fence/mutations.ts'
import type { Writer } from '../fence/session.ts'
import { type Erasure, pagesOfErasures } from './erasures.ts'
import { hasPersonalData, isErased } from './matching.ts'
import { type PersonalTable, personalTables } from './personalFields.ts'

const label = 'erase'

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
export async function blankRows(
  writer: Writer,
  table: PersonalTable,
  page: readonly Erasure[],
  storedAtMs: number,
): Promise<number> {
  const rows = await countRowsToBlank(writer, table, page)
  if (rows === 0) return 0
  const name = identifier(table.name)
  const blanked = table.personal.map((column) => ch`${column} = ''`)
  const change = ch`ALTER TABLE ${name} UPDATE ${join([...blanked, ch`stored_at = ${instant(storedAtMs)}`])}`
  await changeRows(writer, name, change, isToBlank(writer, table, page), label)
  return table.name === 'converted_click_rows' ? 0 : rows
}

async function countRowsToBlank(writer: Writer, table: PersonalTable, page: readonly Erasure[]): Promise<number> {
  const query = ch`
SELECT toUInt32(uniqExact(id)) AS rows
FROM ${identifier(table.name)}
WHERE ${isToBlank(writer, table, page)}`
  const [row] = await writer.select<{ rows: number }>('looking for rows to erase', query, label)
  return row?.rows ?? 0
}

function isToBlank({ ofAccount }: Writer, table: PersonalTable, page: readonly Erasure[]): Fragment {
  return ch`${ofAccount}
  AND ${hasPersonalData(table)}
  AND ${isErased(table, page)}`
}

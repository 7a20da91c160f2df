import { ch, type Fragment, identifier, instant, instants, join, texts } from '../../stores/clickhouse/sql.ts'
import type { Writer } from '../lease/writer.ts'
import { type Erasure, pagesOfErasures } from './erasures.ts'
import { inChunks, hasPersonalData, isErased } from './matching.ts'
import { type PersonalTable, personalTables } from './personalFields.ts'

const label = 'erase'
const looking = 'looking for rows to erase'

/** Positions per mutation, which rewrites all parts with such rows. Its text has at most 1 MB, which Keeper stores. */
const positionsPerMutation = { instant: 5_000, text: 2_000 }

/** Positions in one parameter, which may have 128 KiB. */
const positionsPerParameter = 800

/** Counts rows of erased visitors and clicks that have personal fields, as after a restore of an earlier state. */
export async function findErasedRows(writer: Writer): Promise<{ table: string; rows: number }[]> {
  const counts = new Map<string, number>()
  for await (const page of pagesOfErasures(writer, 'all')) {
    for (const table of personalTables) {
      const query = ch`
SELECT toUInt32(uniqExact(${table.id})) AS rows
FROM ${identifier(table.name)}
WHERE ${writer.ofAccount}
  AND ${isErased(table, page)}
  AND ${hasPersonalData(table)}`
      const [row] = await writer.select<{ rows: number }>(looking, query, label)
      counts.set(table.name, (counts.get(table.name) ?? 0) + (row?.rows ?? 0))
    }
  }
  return [...counts].flatMap(([table, rows]) => (rows === 0 ? [] : [{ table, rows }]))
}

/** Blanks the personal fields of erased rows in a table. @returns rows that were blanked */
export async function blankRows(
  writer: Writer,
  table: PersonalTable,
  page: readonly Erasure[],
  storedAtMs: number,
): Promise<number> {
  const { column, kind } = table.sortedBy
  const position = kind === 'instant' ? ch`toUnixTimestamp64Milli(${column})` : column
  const where = ch`${isErased(table, page)}
  AND ${hasPersonalData(table)}`
  const query = ch`
SELECT DISTINCT ${position} AS position, ${table.id} AS id
FROM ${identifier(table.name)}
WHERE ${writer.ofAccount}
  AND ${where}`
  const rows = await writer.select<{ position: number | string; id: string }>(looking, query, label)
  const positions = [...new Set(rows.map((row) => row.position))]
  for (const some of inChunks(positions, positionsPerMutation[kind])) {
    const among = inChunks(some, positionsPerParameter).map(
      (chunk) => ch`${column} IN ${kind === 'instant' ? instants(chunk as number[]) : texts(chunk as string[])}`,
    )
    await rewrite(writer, table, ch`(${join(among, ' OR ')})\n  AND ${where}`, storedAtMs)
  }
  return table.name === 'converted_click_rows' ? 0 : new Set(rows.map(({ id }) => id)).size
}

/** Blanks rows on every node; the mutation has rewritten the parts before it returns. */
async function rewrite(writer: Writer, table: PersonalTable, where: Fragment, storedAtMs: number): Promise<void> {
  const name = identifier(table.name)
  const columns = table.copy ? [...table.personal, table.copy] : table.personal
  const blanked = columns.map((column) => ch`${column} = ''`)
  const change = ch`ALTER TABLE ${name} UPDATE ${join([...blanked, ch`stored_at = ${instant(storedAtMs)}`], ', ')}`
  await writer.changeRows(name, change, ch`${writer.ofAccount}\n  AND ${where}`, label)
}

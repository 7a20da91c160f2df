import { hasWrongText } from '../../query/clickText.ts'
import { ch, type Fragment, identifier } from '../../stores/clickhouse/sql.ts'
import type { Writer } from '../lease/writer.ts'

const tables = ['clicks', 'converted_click_rows'] as const

/** Counts clicks whose text does not have the values of the columns. An empty text is no difference: the columns are read instead. */
export async function findWrongTexts(writer: Writer): Promise<{ table: string; rows: number }[]> {
  const found: { table: string; rows: number }[] = []
  for (const table of tables) {
    const query = ch`SELECT toUInt32(count()) AS rows FROM ${identifier(table)} WHERE ${isWrong(writer)}`
    const [row] = await writer.select<{ rows: number }>('comparing the texts of clicks', query, 'verify')
    if (row && row.rows > 0) found.push({ table, rows: row.rows })
  }
  return found
}

/** Empties these texts. Idempotent. */
export async function emptyWrongTexts(writer: Writer): Promise<void> {
  for (const name of tables) {
    const table = identifier(name)
    await writer.changeRows(table, ch`ALTER TABLE ${table} UPDATE row_text = ''`, isWrong(writer), 'repair.row_text')
  }
}

function isWrong({ ofAccount }: Writer): Fragment {
  return ch`${ofAccount} AND ${hasWrongText}`
}

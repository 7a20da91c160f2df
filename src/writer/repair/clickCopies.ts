import { hasWrongText } from '../../query/clickText.ts'
import { columnsHash } from '../../stores/clickhouse/columnKinds.ts'
import { ch, type Fragment, identifier, instant } from '../../stores/clickhouse/sql.ts'
import { clickFields } from '../../stores/clickhouse/tableColumns.ts'
import type { Writer } from '../fence/writer.ts'

/** Counts copies of clicks that do not equal a stored click. A missing copy is no difference: the click is read instead. */
export async function findWrongCopies(writer: Writer): Promise<{ table: string; rows: number }[]> {
  const query = ch`
SELECT toUInt32(uniqExact(clicked_at, id)) AS rows
FROM converted_click_rows
WHERE ${await isWrongCopy(writer)}`
  const [row] = await writer.select<{ rows: number }>('comparing copies of clicks', query, 'verify')
  return row && row.rows > 0 ? [{ table: 'converted_click_rows', rows: row.rows }] : []
}

/** Deletes these copies. Idempotent. */
export async function removeWrongCopies(writer: Writer): Promise<void> {
  await writer.deleteRows(ch`converted_click_rows`, await isWrongCopy(writer), 'repair.click_copies')
}

/** Condition on a copy. Copies of removed months are left out: they are rows that were not removed. */
async function isWrongCopy(writer: Writer): Promise<Fragment> {
  const { clicksMs } = await writer.readRetained()
  const account = clicksMs === 0 ? writer.ofAccount : ch`${writer.ofAccount} AND clicked_at >= ${instant(clicksMs)}`
  return ch`${account}
  AND (clicked_at, id, ${values}) NOT IN (
    SELECT clicked_at, id, ${values}
    FROM clicks
    WHERE ${account}
      AND (clicked_at, id) IN (SELECT clicked_at, id FROM converted_click_rows WHERE ${account}))`
}

const values = columnsHash(Object.keys(clickFields))

const tablesWithText = ['clicks', 'converted_click_rows'] as const

/** Counts clicks whose text does not have the values of the columns. An empty text is no difference: the columns are read instead. */
export async function findWrongTexts(writer: Writer): Promise<{ table: string; rows: number }[]> {
  const found: { table: string; rows: number }[] = []
  for (const table of tablesWithText) {
    const query = ch`SELECT toUInt32(count()) AS rows FROM ${identifier(table)} WHERE ${hasWrongTextIn(writer)}`
    const [row] = await writer.select<{ rows: number }>('comparing the texts of clicks', query, 'verify')
    if (row && row.rows > 0) found.push({ table, rows: row.rows })
  }
  return found
}

/** Empties these texts. Idempotent. */
export async function emptyWrongTexts(writer: Writer): Promise<void> {
  for (const name of tablesWithText) {
    const table = identifier(name)
    await writer.changeRows(
      table,
      ch`ALTER TABLE ${table} UPDATE row_text = ''`,
      hasWrongTextIn(writer),
      'repair.row_text',
    )
  }
}

function hasWrongTextIn({ ofAccount }: Writer): Fragment {
  return ch`${ofAccount} AND ${hasWrongText}`
}

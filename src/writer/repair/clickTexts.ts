import { hasWrongText } from '../../query/clickText.ts'
import { batchTimeout, selectRows } from '../../stores/clickhouse/select.ts'
import { ch, type Fragment, identifier, text } from '../../stores/clickhouse/sql.ts'
import { retryWhileUnavailable } from '../../stores/retry.ts'
import { changeRows } from '../lease/deleteRows.ts'
import type { Writer } from '../lease/writer.ts'
import type { WrongTexts } from './difference.ts'

const tables = ['clicks', 'converted_click_rows'] as const

/** Counts clicks whose text does not have the values of the columns. An empty text is no difference: the columns are read instead. */
export async function findWrongTexts(writer: Writer): Promise<WrongTexts[]> {
  const options = { label: 'verify', signal: writer.signal, ...batchTimeout }
  const found: WrongTexts[] = []
  for (const table of tables) {
    const query = ch`SELECT toUInt32(count()) AS rows FROM ${identifier(table)} WHERE ${isWrong(writer)}`
    const [row] = await retryWhileUnavailable(
      'comparing the texts of clicks',
      () => selectRows<{ rows: number }>(writer.stores.clickhouse, query, options),
      writer,
    )
    if (row && row.rows > 0) found.push({ kind: 'wrong_texts', table, rows: row.rows })
  }
  return found
}

/** Empties these texts. Idempotent. */
export async function emptyWrongTexts(writer: Writer): Promise<void> {
  for (const name of tables) {
    const table = identifier(name)
    const change = ch`ALTER TABLE ${table} UPDATE row_text = ''`
    await changeRows(writer, table, change, isWrong(writer), 'repair.row_text')
  }
}

function isWrong({ accountId }: Writer): Fragment {
  return ch`account_id = ${text(accountId)} AND ${hasWrongText}`
}

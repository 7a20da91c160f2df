import { batchTimeout, selectRows } from '../../stores/clickhouse/select.ts'
import { ch, type Fragment, identifier, instant, join, text } from '../../stores/clickhouse/sql.ts'
import { clickFields } from '../../stores/clickhouse/tableColumns.ts'
import { columnName } from '../../stores/columnName.ts'
import { retryWhileUnavailable } from '../../stores/retry.ts'
import { deleteRows } from '../lease/deleteRows.ts'
import { readRetained } from '../lease/readRetained.ts'
import type { Writer } from '../lease/writer.ts'
import type { WrongCopies } from './difference.ts'

/** Counts copies of clicks that do not equal a stored click. A missing copy is no difference: the click is read instead. */
export async function findWrongCopies(writer: Writer): Promise<WrongCopies[]> {
  const query = ch`
SELECT toUInt32(uniqExact(clicked_at, id)) AS rows
FROM converted_click_rows
WHERE ${await isWrong(writer)}`
  const options = { label: 'verify', signal: writer.signal, ...batchTimeout }
  const [row] = await retryWhileUnavailable(
    'comparing copies of clicks',
    () => selectRows<{ rows: number }>(writer.stores.clickhouse, query, options),
    writer,
  )
  return row && row.rows > 0 ? [{ kind: 'wrong_copies', table: 'converted_click_rows', rows: row.rows }] : []
}

/** Deletes these copies. Idempotent. */
export async function removeWrongCopies(writer: Writer): Promise<void> {
  await deleteRows(writer, ch`converted_click_rows`, await isWrong(writer), 'repair.converted_clicks')
}

/** Condition on a copy. Copies of removed months are left out: they are rows that were not removed. */
async function isWrong(writer: Writer): Promise<Fragment> {
  const { clicksMs } = await readRetained(writer)
  const ofAccount = ch`account_id = ${text(writer.accountId)}`
  const account = clicksMs === 0 ? ofAccount : ch`${ofAccount} AND clicked_at >= ${instant(clicksMs)}`
  return ch`${account}
  AND (clicked_at, id, ${values}) NOT IN (
    SELECT clicked_at, id, ${values}
    FROM clicks
    WHERE ${account}
      AND (clicked_at, id) IN (SELECT clicked_at, id FROM converted_click_rows WHERE ${account}))`
}

const values = ch`sipHash64(toString((${join(
  Object.keys(clickFields).map((field) => identifier(columnName(field))),
  ', ',
)})))`

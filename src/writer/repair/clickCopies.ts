import { columnsHash } from '../../stores/clickhouse/columnKinds.ts'
import { ch, type Fragment, instant } from '../../stores/clickhouse/sql.ts'
import { clickFields } from '../../stores/clickhouse/tableColumns.ts'
import { deleteFound } from '../fence/mutations.ts'
import type { Writer } from '../fence/session.ts'

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
  const key = ch`account_id, clicked_at, id, ${values}`
  await deleteFound(writer, ch`converted_click_rows`, key, await isWrongCopy(writer), 'repair.click_copies')
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

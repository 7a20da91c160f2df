import { ch, count, instant } from '../../stores/clickhouse/sql.ts'
import { isAnyOf } from '../../stores/clickhouse/textList.ts'
import { rebuildDaysAfter } from '../derived/repairBatches.ts'
import { deleteRows, keysPerMutation } from '../fence/mutations.ts'
import type { Writer } from '../fence/session.ts'
import { recordTask } from '../journal/accountTasks.ts'
import { readConfirmedRows, setConfirmedRows } from '../journal/confirmedRows.ts'
import { monthOf } from '../journal/months.ts'
import { laterCopies, rankOf } from './duplicateIds.ts'

/** A stored click with an id that was stored before; a repair deletes it. */
interface LaterCopy {
  /** Epoch milliseconds. */
  clickedAt: number
  /** clicked_at of the first copy, which remains; epoch milliseconds. */
  firstClickedAt: number
  id: string
  copy: string
}

/** Deletes the later copies, and rebuilds their days, which are in the journal meanwhile. */
export async function removeDuplicateClicks(writer: Writer): Promise<void> {
  const query = ch`
SELECT toUnixTimestamp64Milli(clicked_at) AS clickedAt, toUnixTimestamp64Milli(first.2) AS firstClickedAt, id,
  toString((rank, id)) AS copy
FROM (${laterCopies(writer, 'clicks')})
ORDER BY id, copy
LIMIT ${count(keysPerMutation)}`
  for (;;) {
    const copies = await writer.select<LaterCopy>('looking for duplicate clicks', query, 'verify')
    if (copies.length === 0) return
    const times = copies.flatMap(({ clickedAt, firstClickedAt }) => [clickedAt, firstClickedAt])
    await rebuildDaysAfter(writer, times, async () => {
      await recordTask(writer, 'attribute_conversions')
      await uncount(writer, copies)
      await deleteCopies(writer, copies)
    })
  }
}

/** Called before the copies are deleted: counts that are too high would report rows as missing. */
async function uncount(writer: Writer, copies: readonly LaterCopy[]): Promise<void> {
  // Copies with equal sort keys are counted once; a copy with the sort key of the remaining click was never counted separately.
  const other = copies.filter(({ clickedAt, firstClickedAt }) => clickedAt !== firstClickedAt)
  const keys = new Map(other.map(({ clickedAt, id }) => [`${clickedAt} ${id}`, monthOf(clickedAt)]))
  const counts = (await readConfirmedRows(writer, [writer.accountId], 'clicks')).map(({ month, rows }) => {
    const uncounted = [...keys.values()].filter((one) => one === month).length
    return { month, rows: Math.max(0, rows - uncounted), uncounted }
  })
  const changed = counts.filter(({ uncounted }) => uncounted > 0)
  await setConfirmedRows(writer, 'clicks', changed)
}

/** Idempotent; never deletes a copy that remains, even when it runs late. */
async function deleteCopies(writer: Writer, copies: readonly LaterCopy[]): Promise<void> {
  const times = copies.map(({ clickedAt }) => clickedAt)
  const ids = copies.map(({ id }) => id)
  const texts = copies.map(({ copy }) => copy)
  const condition = ch`
${writer.ofAccount}
  AND clicked_at >= ${instant(times.reduce((a, b) => Math.min(a, b)))}
  AND clicked_at <= ${instant(times.reduce((a, b) => Math.max(a, b)))}
  AND ${isAnyOf(ch`id`, ids)}
  AND ${isAnyOf(ch`toString((${rankOf('clicks')}, id))`, texts)}`
  for (const table of [ch`converted_click_rows`, ch`clicks`]) {
    await deleteRows(writer, table, condition, 'repair.clicks')
  }
}

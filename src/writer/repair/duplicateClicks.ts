import { ch, count, type Fragment, instant, texts } from '../../stores/clickhouse/sql.ts'
import { rebuildDaysAfter } from '../derived/repairBatches.ts'
import { recordTask } from '../journal/accountTasks.ts'
import { readConfirmedRows, setConfirmedRows } from '../journal/confirmedRows.ts'
import { monthOf } from '../journal/months.ts'
import type { Writer } from '../lease/writer.ts'

export interface DuplicateIds {
  table: 'clicks' | 'conversions'
  /** UTC month of the copies that a repair deletes, as its first day, `2026-11-01`. */
  month: string
  ids: number
}

/** A stored click with an id that was stored before; a repair deletes it. */
interface LaterCopy {
  /** Epoch milliseconds. */
  clickedAt: number
  /** clicked_at of the first copy, which remains; epoch milliseconds. */
  firstClickedAt: number
  id: string
  copy: string
}

const pageRows = 5_000

/** Counts ids that are stored more than once, by month of the later copies. The smallest (stored_at, clicked_at, campaign_id) stays. */
export async function findDuplicateClickIds(writer: Writer): Promise<DuplicateIds[]> {
  const rows = await select<{ month: string; ids: number }>(
    writer,
    ch`
SELECT toStartOfMonth(clicked_at) AS month, toUInt32(uniqExact(id)) AS ids
FROM (${laterCopies(writer)})
GROUP BY month
ORDER BY month`,
  )
  return rows.map((row) => ({ table: 'clicks', ...row }))
}

/** Deletes the later copies, and rebuilds their days, which are in the journal meanwhile. */
export async function removeDuplicateClicks(writer: Writer): Promise<void> {
  for (;;) {
    const copies = await select<LaterCopy>(
      writer,
      ch`
SELECT toUnixTimestamp64Milli(clicked_at) AS clickedAt, toUnixTimestamp64Milli(first.2) AS firstClickedAt, id, copy
FROM (${laterCopies(writer)})
ORDER BY id, copy
LIMIT ${count(pageRows)}`,
    )
    if (copies.length === 0) return
    await removeCopies(writer, copies)
  }
}

/** SELECT of every copy but the first of each id: id, clicked_at, `first` and `copy`. */
function laterCopies({ ofAccount }: Writer): Fragment {
  return ch`
SELECT id, clicked_at, first, copy
FROM (
  SELECT id, clicked_at, ${copyOf} AS copy, (stored_at, clicked_at, toString(campaign_id)) AS rank,
    min(rank) OVER (PARTITION BY id) AS first
  FROM clicks
  WHERE ${ofAccount}
    AND id IN (SELECT id FROM clicks WHERE ${ofAccount} GROUP BY id HAVING count() > 1))
WHERE rank != first`
}

const copyOf = ch`toString((clicked_at, stored_at, toString(campaign_id), id))`

async function removeCopies(writer: Writer, copies: readonly LaterCopy[]): Promise<void> {
  const times = copies.flatMap(({ clickedAt, firstClickedAt }) => [clickedAt, firstClickedAt])
  await rebuildDaysAfter(writer, times, async () => {
    await recordTask(writer, 'attribute_conversions')
    await uncount(writer, copies)
    await deleteCopies(writer, copies)
  })
}

/** Called before the copies are deleted: counts that are too high would report rows as missing. */
async function uncount(writer: Writer, copies: readonly LaterCopy[]): Promise<void> {
  const byKey = new Map(copies.map((copy) => [`${copy.clickedAt} ${copy.id}`, copy]))
  const counts = new Map((await readConfirmedRows(writer, 'clicks')).map(({ month, rows }) => [month, rows]))
  const changed = new Set<string>()
  for (const { clickedAt, firstClickedAt } of byKey.values()) {
    // A copy with the sort key of the remaining click was never counted separately.
    if (clickedAt === firstClickedAt) continue
    const month = monthOf(clickedAt)
    counts.set(month, Math.max(0, (counts.get(month) ?? 0) - 1))
    changed.add(month)
  }
  await setConfirmedRows(
    writer,
    'clicks',
    [...changed].map((month) => ({ month, rows: counts.get(month) ?? 0 })),
  )
}

/** Idempotent; never deletes a copy that remains, even when it runs late. */
async function deleteCopies(writer: Writer, copies: readonly LaterCopy[]): Promise<void> {
  const times = copies.map(({ clickedAt }) => clickedAt)
  const condition = ch`
${writer.ofAccount}
  AND clicked_at >= ${instant(times.reduce((a, b) => Math.min(a, b)))}
  AND clicked_at <= ${instant(times.reduce((a, b) => Math.max(a, b)))}
  AND id IN ${texts(copies.map(({ id }) => id))}
  AND ${copyOf} IN ${texts(copies.map(({ copy }) => copy))}`
  for (const table of [ch`converted_click_rows`, ch`clicks`]) {
    await writer.deleteRows(table, condition, 'repair.clicks')
  }
}

function select<Row>(writer: Writer, query: Fragment): Promise<Row[]> {
  return writer.select('looking for duplicate clicks', query, 'verify')
}

import { mustBeginBefore, runStatement } from '../../stores/clickhouse/insert.ts'
import { batchTimeout, selectRows } from '../../stores/clickhouse/select.ts'
import { ch, type Fragment, instant, join, text } from '../../stores/clickhouse/sql.ts'
import { retryWhileUnavailable } from '../../stores/retry.ts'
import type { Writer } from '../writer.ts'
import { deleteRows } from './deleteRows.ts'
import { repairSumsTable } from './sumDifferences.ts'
import { type Span, storedSums, sumsTableNames, sumsTables } from './sumsTables.ts'

const dayMs = 86_400_000

/** @returns the whole UTC days that contain the given time ranges, adjacent and overlapping ones merged, in order */
export function wholeDays(accountId: string, ranges: readonly { firstMs: number; lastMs: number }[]): Span[] {
  const spans: Span[] = []
  for (const { firstMs, lastMs } of [...ranges].sort((a, b) => a.firstMs - b.firstMs)) {
    const fromMs = Math.floor(firstMs / dayMs) * dayMs
    const untilMs = (Math.floor(lastMs / dayMs) + 1) * dayMs
    const last = spans.at(-1)
    if (last && fromMs <= last.untilMs) last.untilMs = Math.max(last.untilMs, untilMs)
    else spans.push({ accountId, fromMs, untilMs })
  }
  return spans
}

/**
 * Rebuilds the click index and all sums from the stored rows, a month at a time. Idempotent.
 * @param span whole UTC days
 */
export async function rebuildClickDays(writer: Writer, span: Span): Promise<void> {
  for (const month of await monthsWithRows(writer, span)) {
    await rebuildClickIndex(writer, month)
    await repairSumsTables(writer, month)
  }
}

/**
 * Rebuilds all sums from the stored clicks and conversions, a month at a time. Idempotent.
 * @param span whole UTC days
 */
export async function rebuildSums(writer: Writer, span: Span): Promise<void> {
  for (const month of await monthsWithRows(writer, span)) await repairSumsTables(writer, month)
}

async function repairSumsTables(writer: Writer, month: Span): Promise<void> {
  for (const name of sumsTableNames) {
    // Safe to repeat: it adds what is still missing, and the fence prevents concurrent repairs.
    const attempt = () => writer.fence.run((bounds) => repairSumsTable(writer.stores.clickhouse, name, month, bounds))
    await retryWhileUnavailable(`repairing ${name}`, attempt, writer)
  }
}

/** Splits a span into UTC months; omits months without stored or derived rows. */
export async function monthsWithRows(writer: Writer, span: Span): Promise<Span[]> {
  const days = [
    ch`SELECT toDate(clicked_at) AS day FROM clicks WHERE ${inSpan(span)}`,
    ch`SELECT toDate(clicked_at) AS day FROM click_index WHERE ${inSpan(span)}`,
    ch`SELECT toDate(converted_at) AS day FROM conversions WHERE ${inSpan(span, ch`converted_at`)}`,
    ...sumsTableNames.map((name) => ch`SELECT toDate(${sumsTables[name].at}) AS day FROM (${storedSums(name, span)})`),
  ]
  const query = ch`
SELECT DISTINCT toStartOfMonth(day) AS month
FROM (${join(days, '\nUNION ALL\n')})
ORDER BY month`
  const rows = await retryWhileUnavailable(
    'looking for days to rebuild',
    () => selectRows<{ month: string }>(writer.stores.clickhouse, query, { label: 'rebuild.months', ...batchTimeout }),
    writer,
  )
  return rows.map(({ month }) => {
    const start = new Date(`${month}T00:00:00Z`)
    const end = Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 1)
    return {
      ...span,
      fromMs: Math.max(span.fromMs, start.getTime()),
      untilMs: Math.min(span.untilMs, end),
    }
  })
}

/**
 * Rebuilds the click index. A click that is missing there would be stored twice; an indexed id without a click would never
 * be stored; an index row with a wrong campaign would attribute events to that campaign.
 */
async function rebuildClickIndex(writer: Writer, span: Span): Promise<void> {
  const label = 'rebuild.click_index'
  const wrong = ch`
${inSpan(span)}
  AND (clicked_at, id, campaign_id) NOT IN (SELECT clicked_at, id, campaign_id FROM clicks WHERE ${inSpan(span)})`
  await deleteRows(writer, ch`click_index`, wrong, label)
  const insert = () =>
    writer.fence.run(({ deadlineMs, queryId }) =>
      runStatement(
        writer.stores.clickhouse,
        ch`
INSERT INTO click_index (account_id, id, clicked_at, campaign_id)
SELECT account_id, id, clicked_at, campaign_id
FROM clicks
WHERE ${inSpan(span)}
  AND (clicked_at, id, campaign_id) NOT IN (
    SELECT clicked_at, id, campaign_id FROM click_index WHERE ${inSpan(span)})
  AND ${mustBeginBefore(deadlineMs)}`,
        label,
        queryId,
      ),
    )
  await retryWhileUnavailable('rebuilding the index of clicks', insert, writer)
}

function inSpan({ accountId, fromMs, untilMs }: Span, at: Fragment = ch`clicked_at`): Fragment {
  return ch`account_id = ${text(accountId)}
  AND ${at} >= ${instant(fromMs)}
  AND ${at} < ${instant(untilMs)}`
}

import { mustBeginBefore, runStatement } from '../../stores/clickhouse/insert.ts'
import { batchTimeout, selectRows } from '../../stores/clickhouse/select.ts'
import { ch, type Fragment, instant, join, text } from '../../stores/clickhouse/sql.ts'
import { retryWhileUnavailable } from '../../stores/retry.ts'
import type { Writer } from '../writer.ts'
import { deleteRows } from './deleteRows.ts'
import { repair } from './rollupDifferences.ts'
import { rollupNames, rollups, type Span, storedSums } from './rollups.ts'

const dayMs = 86_400_000

/** @returns the whole UTC days of some stretches of time, those that touch joined, in order */
export function wholeDays(accountId: string, stretches: readonly { firstMs: number; lastMs: number }[]): Span[] {
  const spans: Span[] = []
  for (const { firstMs, lastMs } of [...stretches].sort((a, b) => a.firstMs - b.firstMs)) {
    const fromMs = Math.floor(firstMs / dayMs) * dayMs
    const untilMs = (Math.floor(lastMs / dayMs) + 1) * dayMs
    const last = spans.at(-1)
    if (last && fromMs <= last.untilMs) last.untilMs = Math.max(last.untilMs, untilMs)
    else spans.push({ accountId, fromMs, untilMs })
  }
  return spans
}

/**
 * Makes the index of clicks what they say, and every sum, a month at a time; running it again changes nothing.
 * @param span whole UTC days
 */
export async function rebuildClickDays(writer: Writer, span: Span): Promise<void> {
  for (const month of await monthsWithRows(writer, span)) {
    await rebuildClickIndex(writer, month)
    await repairRollups(writer, month)
  }
}

/**
 * Makes every sum what clicks and conversions say, a month at a time; running it again changes nothing.
 * @param span whole UTC days
 */
export async function rebuildSums(writer: Writer, span: Span): Promise<void> {
  for (const month of await monthsWithRows(writer, span)) await repairRollups(writer, month)
}

async function repairRollups(writer: Writer, month: Span): Promise<void> {
  for (const name of rollupNames) {
    // Repeated, it adds what is still missing: the fence lets no two repairs run at once.
    const attempt = () => writer.fence.run((bounds) => repair(writer.stores.clickhouse, name, month, bounds))
    await retryWhileUnavailable(`repairing ${name}`, attempt, writer)
  }
}

/** Cuts a span where months end, and leaves out months in which there is no row, nor anything made of one. */
export async function monthsWithRows(writer: Writer, span: Span): Promise<Span[]> {
  const days = [
    ch`SELECT toDate(clicked_at) AS day FROM clicks WHERE ${inSpan(span)}`,
    ch`SELECT toDate(clicked_at) AS day FROM click_index WHERE ${inSpan(span)}`,
    ch`SELECT toDate(converted_at) AS day FROM conversions WHERE ${inSpan(span, ch`converted_at`)}`,
    ...rollupNames.map((name) => ch`SELECT toDate(${rollups[name].at}) AS day FROM (${storedSums(name, span)})`),
  ]
  const question = ch`
SELECT DISTINCT toStartOfMonth(day) AS month
FROM (${join(days, '\nUNION ALL\n')})
ORDER BY month`
  const rows = await retryWhileUnavailable(
    'looking for days to rebuild',
    () =>
      selectRows<{ month: string }>(writer.stores.clickhouse, question, { label: 'rebuild.months', ...batchTimeout }),
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
 * A click that is not in the index would be stored twice; an id that is there without its click would never be stored; one
 * with another campaign would lead events there.
 */
async function rebuildClickIndex(writer: Writer, span: Span): Promise<void> {
  const label = 'rebuild.click_index'
  const strays = ch`
${inSpan(span)}
  AND (clicked_at, id, campaign_id) NOT IN (SELECT clicked_at, id, campaign_id FROM clicks WHERE ${inSpan(span)})`
  await deleteRows(writer, ch`click_index`, strays, label)
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

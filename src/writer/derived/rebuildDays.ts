import { ch, join } from '../../stores/clickhouse/sql.ts'
import type { Writer } from '../fence/writer.ts'
import { monthsWithoutClicks } from '../journal/confirmedRows.ts'
import type { JournalEntry } from '../journal/journal.ts'
import { type MonthlyRows, startOfNextMonth } from '../journal/months.ts'
import { sumCorrection } from './sumDifferences.ts'
import { inSpan, type Span, storedSums, sumsTableNames, sumsTables } from './sumsTables.ts'

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
 * Rebuilds all sums of whole UTC days, and the click index if clicks changed. For months whose clicks were removed, or whose
 * confirmed clicks are all missing, only the sums of conversions: Postgres may be older than the removal. Idempotent.
 */
export async function rebuildDays(writer: Writer, span: Span, changed: JournalEntry['resource']): Promise<void> {
  const missing = await monthsWithoutClicks(writer, span)
  for (const part of await spansWithRows(writer, span, missing)) await rebuildSpan(writer, part, changed)
}

/** Rebuilds a span within one year as `rebuildDays` does. Idempotent. */
export async function rebuildSpan(writer: Writer, span: Span, changed: JournalEntry['resource']): Promise<void> {
  if (changed === 'clicks' && !span.lacksClicks) await rebuildClickIndex(writer, span)
  for (const name of sumsTableNames) {
    // Safe to repeat: it adds what is still missing, and the fence prevents concurrent repairs.
    await writer.insert(`repairing ${name}`, `repair.${name}`, (inTime) => sumCorrection(name, span, inTime))
  }
}

/**
 * Splits a span into whole UTC months, joined within one year while memory allows; omits months without stored or derived rows.
 * @param missing months whose parts lack their clicks, as removed months do
 */
export async function spansWithRows(
  writer: Writer,
  span: Span,
  missing: ReadonlySet<string> = new Set(),
): Promise<Span[]> {
  const days = [
    ch`SELECT toDate(clicked_at) AS day FROM clicks WHERE ${inSpan(span)}`,
    ch`SELECT toDate(clicked_at) AS day FROM click_index WHERE ${inSpan(span)}`,
    ch`SELECT toDate(converted_at) AS day FROM conversions WHERE ${inSpan(span, ch`converted_at`)}`,
    ...sumsTableNames.map((name) => ch`SELECT toDate(${sumsTables[name].at}) AS day FROM (${storedSums(name, span)})`),
  ]
  const query = ch`
SELECT toStartOfMonth(day) AS month, toFloat64(count()) AS rows
FROM (${join(days, '\nUNION ALL\n')})
GROUP BY month
ORDER BY month`
  const months = await writer.select<MonthlyRows>('looking for days to rebuild', query, 'rebuild.months')
  const { clicksMs } = await writer.readRetained()
  const lacksClicks = (month: string) =>
    Date.parse(month) < clicksMs ? 'removed' : missing.has(month) ? 'missing' : undefined
  return joinMonths(months.map((month) => ({ ...month, lacksClicks: lacksClicks(month.month) }))).map(
    ({ first, last, lacksClicks }) => ({
      ...span,
      fromMs: Math.max(span.fromMs, Date.parse(first)),
      untilMs: Math.min(span.untilMs, startOfNextMonth(last)),
      ...(lacksClicks && { lacksClicks }),
    }),
  )
}

/** Months that have fewer rows together are compared and rebuilt together: a statement for few rows takes as long to plan as to run. */
const rowsTogetherMax = 100_000

type JoinedMonths = Pick<Span, 'lacksClicks'> & { first: string; last: string; rows: number }

/** Joins consecutive months of one year that all have or all lack their clicks, while they have at most `rowsTogetherMax` rows. */
function joinMonths(months: readonly (MonthlyRows & Pick<Span, 'lacksClicks'>)[]): JoinedMonths[] {
  const joined: JoinedMonths[] = []
  for (const { month, rows, lacksClicks } of months) {
    const last = joined.at(-1)
    const isAlike = last?.first.slice(0, 4) === month.slice(0, 4) && last.lacksClicks === lacksClicks
    if (last && isAlike && last.rows + rows <= rowsTogetherMax)
      Object.assign(last, { last: month, rows: last.rows + rows })
    else joined.push({ first: month, last: month, rows, lacksClicks })
  }
  return joined
}

/** A click missing in the index would be stored twice, an indexed id without a click never; a wrong campaign would get its events. */
async function rebuildClickIndex(writer: Writer, span: Span): Promise<void> {
  const label = 'rebuild.click_index'
  const key = ch`clicked_at, id, campaign_id`
  const wrong = ch`
${inSpan(span)}
  AND (${key}) NOT IN (SELECT ${key} FROM clicks WHERE ${inSpan(span)})`
  await writer.deleteRows(ch`click_index`, wrong, label)
  await writer.insert(
    'rebuilding the index of clicks',
    label,
    (inTime) => ch`
INSERT INTO click_index (account_id, id, clicked_at, campaign_id)
SELECT account_id, id, clicked_at, campaign_id
FROM clicks
WHERE ${inSpan(span)}
  AND (${key}) NOT IN (SELECT ${key} FROM click_index WHERE ${inSpan(span)})
  AND ${inTime}`,
  )
}

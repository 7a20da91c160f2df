import { rowTables } from '../../query/attributes.ts'
import { ch, identifier, join } from '../../stores/clickhouse/sql.ts'
import { timeColumns } from '../../stores/clickhouse/tableColumns.ts'
import { dayMs } from '../../stores/timing/units.ts'
import type { WriteSession } from '../fence/session.ts'
import { monthsWithoutClicks } from '../journal/confirmedRows.ts'
import type { JournalEntry } from '../journal/journal.ts'
import { type MonthlyRows, startOfNextMonth } from '../journal/months.ts'
import { accountsOf } from '../tables/accountKeys.ts'
import { groupBy } from '../tables/groupBy.ts'
import { clickIndexOf, rebuild } from './indexes.ts'
import { sumCorrection } from './sumDifferences.ts'
import { inSpan, type Span, storedSums, sumsTableNames, sumsTables } from './sumsTables.ts'

/** @returns the whole UTC days that contain the given time ranges, adjacent and overlapping ones merged, in order */
export function wholeDays(
  accountIds: readonly string[],
  ranges: readonly { firstMs: number; lastMs: number }[],
): Span[] {
  const spans: Span[] = []
  for (const { firstMs, lastMs } of [...ranges].sort((a, b) => a.firstMs - b.firstMs)) {
    const fromMs = Math.floor(firstMs / dayMs) * dayMs
    const untilMs = (Math.floor(lastMs / dayMs) + 1) * dayMs
    const last = spans.at(-1)
    if (last && fromMs <= last.untilMs) last.untilMs = Math.max(last.untilMs, untilMs)
    else spans.push({ accountIds, fromMs, untilMs })
  }
  return spans
}

/**
 * Rebuilds all sums of the UTC days of batches of one resource, and the click index if clicks changed; accounts that retain the same
 * months with one statement per table. For months whose clicks were removed, or whose confirmed clicks are all missing, only the sums
 * of conversions: Postgres may be older than the removal. Idempotent.
 */
export async function rebuildDays(session: WriteSession, entries: readonly JournalEntry[]): Promise<void> {
  const [first] = entries
  if (!first) return
  const accountIds = accountsOf(entries)
  const missing = await monthsWithoutClicks(session, entries)
  const retained = await session.readRangesByAccount(accountIds)
  const clicksMsOf = (accountId: string) => retained.get(accountId)?.clicksMs ?? 0
  const isMissing = (id: string) => [...(missing.get(id) ?? [])].some((month) => Date.parse(month) >= clicksMsOf(id))
  for (const group of groupBy(accountIds, (id) => (isMissing(id) ? id : clicksMsOf(id))).values()) {
    const [accountId = ''] = group
    const lacking = { clicksMs: clicksMsOf(accountId), missing: missing.get(accountId) }
    const ofGroup = new Set(group)
    const changed = entries.filter((entry) => ofGroup.has(entry.accountId))
    for (const span of wholeDays(group, changed)) {
      for (const part of await spansWithRows(session, span, lacking)) await rebuildSpan(session, part, first.resource)
    }
  }
}

/** Rebuilds a span within one year as `rebuildDays` does. Idempotent. */
export async function rebuildSpan(session: WriteSession, span: Span, changed: JournalEntry['resource']): Promise<void> {
  if (changed === 'clicks' && !span.lacksClicks) await rebuild(session, clickIndexOf(span))
  for (const name of sumsTableNames) {
    // Safe to repeat: it adds what is still missing, and the fence prevents concurrent repairs.
    await session.insert(`repairing ${name}`, `repair.${name}`, (inTime) => sumCorrection(name, span, inTime))
  }
}

/**
 * Splits a span into whole UTC months; omits months without stored or derived rows. Consecutive months of one year that all have or all
 * lack their clicks are joined while they have at most `rowsTogetherMax` rows.
 * @param lacking from when the accounts retain clicks, and other months whose parts lack their clicks
 */
export async function spansWithRows(
  session: WriteSession,
  span: Span,
  { clicksMs, missing }: { clicksMs: number; missing?: ReadonlySet<string> | undefined },
): Promise<Span[]> {
  const days = [
    ...rowTables.map((table) => {
      const at = timeColumns[table]
      return ch`SELECT toDate(${at}) AS day FROM ${identifier(table)} WHERE ${inSpan(span, at)}`
    }),
    ch`SELECT toDate(clicked_at) AS day FROM click_index WHERE ${inSpan(span)}`,
    ...sumsTableNames.map((name) => ch`SELECT toDate(${sumsTables[name].at}) AS day FROM (${storedSums(name, span)})`),
  ]
  const query = ch`
SELECT toStartOfMonth(day) AS month, toFloat64(count()) AS rows
FROM (${join(days, '\nUNION ALL\n')})
GROUP BY month
ORDER BY month`
  const months = await session.select<MonthlyRows>('comparing days', query, 'rebuild.months')
  const parts: (Span & { rows: number })[] = []
  for (const { month, rows } of months) {
    const lacksClicks = Date.parse(month) < clicksMs || (missing?.has(month) ?? false)
    const fromMs = Math.max(span.fromMs, Date.parse(month))
    const untilMs = Math.min(span.untilMs, startOfNextMonth(month))
    const last = parts.at(-1)
    const isAlike = last && isSameYear(last.fromMs, fromMs) && last.lacksClicks === lacksClicks
    if (isAlike && last.rows + rows <= rowsTogetherMax) Object.assign(last, { untilMs, rows: last.rows + rows })
    else parts.push({ ...span, fromMs, untilMs, lacksClicks, rows })
  }
  return parts
}

/** Months that have fewer rows together are compared and rebuilt together: a statement for few rows takes as long to plan as to run. */
const rowsTogetherMax = 100_000

const isSameYear = (a: number, b: number) => new Date(a).getUTCFullYear() === new Date(b).getUTCFullYear()

import { isDeepStrictEqual } from 'node:util'
import { mustBeginBefore, runStatement } from '../../stores/clickhouse/insert.ts'
import { batchTimeout, selectRows } from '../../stores/clickhouse/select.ts'
import { ch, type Fragment, instant, join, text } from '../../stores/clickhouse/sql.ts'
import { retryWhileUnavailable } from '../../stores/retry.ts'
import { monthsWithoutClicks } from '../journal/confirmedRows.ts'
import { deleteRows } from '../lease/deleteRows.ts'
import { readRetained } from '../lease/readRetained.ts'
import type { Writer } from '../lease/writer.ts'
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
 * Rebuilds the click index and all sums from the stored rows, one or a few months at a time. If the clicks of a month were
 * removed, or all its confirmed clicks are missing, it rebuilds only the sums of conversions of that month: retention may have
 * removed the clicks after the state to which Postgres was restored. Idempotent.
 * @param span whole UTC days
 */
export async function rebuildClickDays(writer: Writer, span: Span): Promise<void> {
  for (const part of await spansToRebuild(writer, span)) await rebuildSpan(writer, part)
}

/** Rebuilds all sums of a span within one year, and the click index unless its clicks are removed or missing. Idempotent. */
export async function rebuildSpan(writer: Writer, span: Span): Promise<void> {
  if (!span.areClicksRemoved && !span.areClicksMissing) await rebuildClickIndex(writer, span)
  await repairSumsTables(writer, span)
}

/**
 * Rebuilds all sums from the stored clicks and conversions, one or a few months at a time. If the clicks of a month were
 * removed, or are all missing, it rebuilds only the sums of conversions of that month. Idempotent.
 * @param span whole UTC days
 */
export async function rebuildSums(writer: Writer, span: Span): Promise<void> {
  for (const part of await spansToRebuild(writer, span)) await repairSumsTables(writer, part)
}

async function repairSumsTables(writer: Writer, span: Span): Promise<void> {
  for (const name of sumsTableNames) {
    // Safe to repeat: it adds what is still missing, and the fence prevents concurrent repairs.
    const attempt = () => writer.fence.run((bounds) => repairSumsTable(writer.stores.clickhouse, name, span, bounds))
    await retryWhileUnavailable(`repairing ${name}`, attempt, writer)
  }
}

/** Months that have fewer rows together are compared and rebuilt together: a statement for few rows takes as long to plan as to run. */
const rowsTogetherMax = 100_000

/**
 * Splits a span into parts of whole UTC months, each within one year and of limited memory, with or without their clicks;
 * omits months without stored or derived rows.
 */
export async function spansWithRows(writer: Writer, span: Span): Promise<Span[]> {
  return await splitSpan(writer, span, new Set())
}

/** The same; each month of which all confirmed clicks are missing is a part of its own. */
async function spansToRebuild(writer: Writer, span: Span): Promise<Span[]> {
  return await splitSpan(writer, span, await monthsWithoutClicks(writer, span))
}

async function splitSpan(writer: Writer, span: Span, missing: ReadonlySet<string>): Promise<Span[]> {
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
  const months = await retryWhileUnavailable(
    'looking for days to rebuild',
    () => selectRows<MonthlyRows>(writer.stores.clickhouse, query, { label: 'rebuild.months', ...batchTimeout }),
    writer,
  )
  const { clicksMs } = await readRetained(writer)
  const kindOf = (month: string): Partial<Span> => {
    if (startOfMonth(month) < clicksMs) return { areClicksRemoved: true }
    return missing.has(month) ? { areClicksMissing: true } : {}
  }
  return runsOf(months, (one, other) => isDeepStrictEqual(kindOf(one.month), kindOf(other.month)))
    .flatMap(joinMonths)
    .map(({ first, last }) => ({
      ...span,
      fromMs: Math.max(span.fromMs, startOfMonth(first)),
      untilMs: Math.min(span.untilMs, startOfMonth(last, 1)),
      ...kindOf(first),
    }))
}

/** Splits a list wherever two neighbours are not alike. */
function runsOf<Item>(items: readonly Item[], areAlike: (one: Item, next: Item) => boolean): Item[][] {
  const runs: Item[][] = []
  for (const item of items) {
    const run = runs.at(-1)
    const previous = run?.at(-1)
    if (run && previous !== undefined && areAlike(previous, item)) run.push(item)
    else runs.push([item])
  }
  return runs
}

/** A month as its first day, `2026-01-01`, with a number of rows. */
interface MonthlyRows {
  month: string
  rows: number
}

/** Joins months of one year, in order, while they have at most `rowsTogetherMax` rows together. */
export function joinMonths(months: readonly MonthlyRows[]): { first: string; last: string }[] {
  const joined: { first: string; last: string; rows: number }[] = []
  for (const { month, rows } of months) {
    const previous = joined.at(-1)
    if (previous && previous.first.slice(0, 4) === month.slice(0, 4) && previous.rows + rows <= rowsTogetherMax) {
      previous.last = month
      previous.rows += rows
    } else joined.push({ first: month, last: month, rows })
  }
  return joined.map(({ first, last }) => ({ first, last }))
}

/** @returns the start of a month, or of one that many months later, epoch milliseconds */
function startOfMonth(month: string, later = 0): number {
  const start = new Date(`${month}T00:00:00Z`)
  return Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + later, 1)
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

import type { Metric } from '../../../schema/metrics.ts'
import { ch, join, storableTimes } from '../../stores/clickhouse/sql.ts'
import { clickIndexOf, derivations, mismatches, readRemovedCosts, rebuildIndexes } from '../derived/indexes.ts'
import { spansWithRows } from '../derived/rebuildDays.ts'
import { rebuildDaysAfter } from '../derived/repairBatches.ts'
import { differingSums, sumDifferences } from '../derived/sumDifferences.ts'
import { type Span, type SumsTableName, sumsTableNames, sumsTables } from '../derived/sumsTables.ts'
import type { Writer } from '../fence/session.ts'

export interface WrongDerivedRows {
  table: string
  /** The UTC day, `2026-11-20`; null for indexes of rows that change, which are compared as a whole. */
  day: string | null
  /** Keys of missing, wrong and superfluous rows. */
  keys: number
  /** Stored and correct sums of those keys; undefined for a table without sums. */
  sums: { stored: Sums; actual: Sums } | undefined
}

export type Sums = Partial<Record<Metric, number>>

/** Compares all derived tables of the account with its facts. */
export async function findWrongDerivedRows(writer: Writer): Promise<WrongDerivedRows[]> {
  const found: WrongDerivedRows[] = []
  const accountIds = [writer.accountId]
  for (const span of await spansWithRows(writer, { accountIds, ...storableTimes }, await writer.readRetained()))
    found.push(...(await compareSpan(writer, span)))
  for (const derivation of derivations(accountIds, await readRemovedCosts(writer, accountIds))) {
    const query = ch`SELECT toUInt32(count()) AS keys FROM (${mismatches(derivation)})`
    const [row] = await writer.select<{ keys: number }>(comparing, query, 'verify')
    if (row && row.keys > 0) found.push({ table: derivation.name, day: null, keys: row.keys, sums: undefined })
  }
  return found
}

const comparing = 'comparing derived tables'

/** Rebuilds the days and tables that differ. Idempotent. */
export async function rebuildDerivedRows(writer: Writer, found: readonly WrongDerivedRows[]): Promise<void> {
  const days = new Set(found.flatMap(({ day }) => (day === null ? [] : [Date.parse(day)])))
  await rebuildDaysAfter(writer, [...days], async () => {
    if (found.some(({ day }) => day === null)) await rebuildIndexes(writer, [writer.accountId])
  })
}

/** Compares the click index and all sums of a span with the rows, as far as these are retained. */
export async function compareSpan(writer: Writer, span: Span): Promise<WrongDerivedRows[]> {
  const found = span.lacksClicks ? [] : await compareClickIndex(writer, span)
  for (const name of sumsTableNames) found.push(...(await compareSumsTable(writer, name, span)))
  return found
}

async function compareSumsTable(writer: Writer, table: SumsTableName, span: Span): Promise<WrongDerivedRows[]> {
  const sums = differingSums(span)
  const added = sums.flatMap(({ actual, stored }) => [actual, stored]).map((column) => ch`sum(${column}) AS ${column}`)
  const query = ch`
SELECT toDate(facts.${sumsTables[table].at}) AS utcDay, toUInt32(count()) AS keys,
  ${join(added)}
FROM (${sumDifferences(table, span)}) AS facts
GROUP BY utcDay
ORDER BY utcDay`
  type Row = { utcDay: string; keys: number } & Record<string, string | number>
  const read = (row: Row, prefix: string): Sums =>
    Object.fromEntries(sums.map(({ metric, name }) => [metric, Number(row[`${prefix}_${name}`])]))
  return (await writer.select<Row>(comparing, query, 'verify')).map((row) => ({
    table,
    day: row.utcDay,
    keys: row.keys,
    sums: { stored: read(row, 'stored'), actual: read(row, 'actual') },
  }))
}

async function compareClickIndex(writer: Writer, span: Span): Promise<WrongDerivedRows[]> {
  const wrong = mismatches(clickIndexOf(span))
  const query = ch`SELECT toDate(clicked_at) AS day, toUInt32(count()) AS keys FROM (${wrong}) GROUP BY day ORDER BY day`
  const rows = await writer.select<{ day: string; keys: number }>(comparing, query, 'verify')
  return rows.map((row) => ({ table: 'click_index', ...row, sums: undefined }))
}

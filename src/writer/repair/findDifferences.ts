import { ch, type Fragment, instant, join, storableTimes, text } from '../../stores/clickhouse/sql.ts'
import { spansWithRows } from '../derived/clickDays.ts'
import { derivations, mismatches } from '../derived/conversionTables.ts'
import { differenceColumns, sumDifferences } from '../derived/sumDifferences.ts'
import { comparedSums, type Span, type SumsTableName, sumsTableNames, sumsTables } from '../derived/sumsTables.ts'
import { findErasedRows } from '../erasure/eraseRows.ts'
import { findMissingRows } from '../journal/confirmedRows.ts'
import type { Writer } from '../lease/writer.ts'
import { findChangedMonths } from '../retention/removedMonths.ts'
import { findRemovedRows } from '../retention/removedRows.ts'
import { countUnattributed } from '../store/lateClicks.ts'
import { findRowsAheadOfWatermark, findWatermarksInFuture } from './aheadOfWatermark.ts'
import { findWrongCopies } from './clickCopies.ts'
import { findWrongTexts } from './clickTexts.ts'
import type { Difference, Sums } from './difference.ts'
import { findDuplicateClickIds } from './duplicateClicks.ts'
import { findDuplicateConversionIds } from './duplicateConversions.ts'

/**
 * Compares an account's clicks and conversions with the confirmed counts, looks for duplicate ids, and compares all derived
 * tables with the rows, one or a few months at a time. The writer holds the account's lease, so no row is written meanwhile; reads are
 * not affected.
 * @returns all differences; empty when there are none
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function findDifferences(writer: Writer): Promise<Difference[]> {
  const { accountId } = writer
  const missing = await findMissingRows(writer)
  const found: Difference[] = [
    ...missing.map(({ resource: table, ...counts }) => ({
      kind: 'missing_rows' as const,
      accountId,
      table,
      ...counts,
    })),
    ...[
      ...(await findDuplicateClickIds(writer)),
      ...(await findDuplicateConversionIds(writer)),
      ...(await findRowsAheadOfWatermark(writer)),
      ...(await findWatermarksInFuture(writer)),
      ...(await findWrongCopies(writer)),
      ...(await findWrongTexts(writer)),
    ].map((difference) => ({ accountId, ...difference })),
  ]
  for (const span of await spansWithRows(writer, { accountId, ...storableTimes })) {
    found.push(...(await compareSpan(writer, span)))
  }
  for (const change of await findChangedMonths(writer)) found.push({ kind: 'removed_month', accountId, ...change })
  for (const rows of await findRemovedRows(writer)) found.push({ kind: 'not_removed', accountId, ...rows })
  for (const derivation of derivations(writer)) {
    const counting = ch`SELECT toUInt32(count()) AS keys FROM (${mismatches(derivation)})`
    const [row] = await select<{ keys: number }>(writer, counting)
    if (row && row.keys > 0)
      found.push({
        kind: 'derived',
        accountId,
        table: derivation.name,
        day: null,
        keys: row.keys,
        sums: undefined,
      })
  }
  const conversions = await countUnattributed(writer)
  if (conversions > 0) found.push({ kind: 'unattributed', accountId, table: 'conversions', conversions })
  for (const row of await findErasedRows(writer)) found.push({ kind: 'not_erased', accountId, ...row })
  return found
}

/** Compares the click index and all sums of a span with the rows, as far as these are retained. */
export async function compareSpan(writer: Writer, span: Span): Promise<Difference[]> {
  const found: Difference[] = span.lacksClicks ? [] : await compareClickIndex(writer, span)
  for (const name of sumsTableNames) found.push(...(await compareSumsTable(writer, name, span)))
  return found
}

async function compareSumsTable(writer: Writer, table: SumsTableName, span: Span): Promise<Difference[]> {
  const sums = comparedSums(span)
  const added = sums.flatMap(({ name }) =>
    Object.values(differenceColumns(name)).map((column) => ch`sum(${column}) AS ${column}`),
  )
  const rows = await select<{ utcDay: string; keys: number } & Record<string, string | number>>(
    writer,
    ch`
SELECT toDate(facts.${sumsTables[table].at}) AS utcDay, toUInt32(count()) AS keys,
  ${join(added, ', ')}
FROM (${sumDifferences(table, span)}) AS facts
GROUP BY utcDay
ORDER BY utcDay`,
  )
  const read = (row: (typeof rows)[number], prefix: string): Sums =>
    Object.fromEntries(sums.map(({ metric, name }) => [metric, Number(row[`${prefix}_${name}`])]))
  return rows.map((row) => ({
    kind: 'derived',
    accountId: writer.accountId,
    table,
    day: row.utcDay,
    keys: row.keys,
    sums: { stored: read(row, 'stored'), actual: read(row, 'actual') },
  }))
}

async function compareClickIndex(writer: Writer, span: Span): Promise<Difference[]> {
  const rows = await select<{ utcDay: string; keys: number }>(
    writer,
    ch`
SELECT toDate(clicked_at) AS utcDay, toUInt32(count()) AS keys
FROM (
  SELECT clicked_at, id, campaign_id
  FROM (
    SELECT clicked_at, id, campaign_id, true AS is_click FROM clicks WHERE ${inSpan(span)}
    UNION ALL
    SELECT clicked_at, id, campaign_id, false AS is_click FROM click_index WHERE ${inSpan(span)})
  GROUP BY clicked_at, id, campaign_id
  HAVING min(is_click) = max(is_click))
GROUP BY utcDay
ORDER BY utcDay`,
  )
  return rows.map(({ utcDay, keys }) => ({
    kind: 'derived',
    accountId: writer.accountId,
    table: 'click_index',
    day: utcDay,
    keys,
    sums: undefined,
  }))
}

function inSpan({ accountId, fromMs, untilMs }: Span): Fragment {
  return ch`account_id = ${text(accountId)} AND clicked_at >= ${instant(fromMs)} AND clicked_at < ${instant(untilMs)}`
}

function select<Row>(writer: Writer, query: Fragment): Promise<Row[]> {
  return writer.select('comparing derived tables', query, 'verify')
}

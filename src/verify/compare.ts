import type { Metric } from '../../schema/metrics.ts'
import { sums } from '../metrics.ts'
import { untilAnswered } from '../patience.ts'
import { type RollupName, rollupNames, rollups, type Span } from '../rollups/catalogue.ts'
import { differences, differing } from '../rollups/differences.ts'
import { ch, type Fragment, instant, join, text } from '../sql/fragment.ts'
import { selectRows, unhurried } from '../sql/rows.ts'
import { derivations, mismatches } from '../writing/conversionTables.ts'
import { monthsWithRows } from '../writing/days.ts'
import type { Writer } from '../writing/writer.ts'

/** A table that is not what the rows it was made of say. */
export interface Difference {
  accountId: string
  table: string
  /** The UTC day, `2026-11-20`; null for what is made of conversions, which is compared as a whole. */
  day: string | null
  /** Keys whose row is missing, wrong or too much. */
  keys: number
  /** What those keys hold and what they should, in a rollup. */
  sums: { stored: Sums; actual: Sums } | undefined
}

type Sums = Partial<Record<Metric, number>>

/** Any click lies between these: see the importer's limits. */
const allDays = { fromMs: 0, untilMs: Date.UTC(2106, 0, 1) }

/**
 * Compares everything that is derived from an account's clicks and conversions with those rows, a month at a time.
 * Nobody may write the account meanwhile, so the writer holds its lease; readers notice nothing.
 * @returns every difference, by table and day; none: all is right
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function compareAccount(writer: Writer): Promise<Difference[]> {
  const { accountId } = writer
  const found: Difference[] = []
  for (const month of await monthsWithRows(writer, { accountId, ...allDays })) {
    found.push(...(await compareClickIndex(writer, month)))
    for (const name of rollupNames) found.push(...(await compareRollup(writer, name, month)))
  }
  for (const derivation of derivations(accountId)) {
    const question = ch`SELECT toUInt32(count()) AS keys FROM (${mismatches(derivation)})`
    const [row] = await ask<{ keys: number }>(writer, question)
    if (row && row.keys > 0)
      found.push({ accountId, table: derivation.name, day: null, keys: row.keys, sums: undefined })
  }
  return found
}

async function compareRollup(writer: Writer, table: RollupName, month: Span): Promise<Difference[]> {
  const added = sums.flatMap(({ name }) =>
    Object.values(differing(name)).map((column) => ch`sum(${column}) AS ${column}`),
  )
  const rows = await ask<{ utcDay: string; keys: number } & Record<string, string | number>>(
    writer,
    ch`
SELECT toDate(facts.${rollups[table].at}) AS utcDay, toUInt32(count()) AS keys,
  ${join(added, ', ')}
FROM (${differences(table, month)}) AS facts
GROUP BY utcDay
ORDER BY utcDay`,
  )
  const read = (row: (typeof rows)[number], prefix: string): Sums =>
    Object.fromEntries(sums.map(({ metric, name }) => [metric, Number(row[`${prefix}_${name}`])]))
  return rows.map((row) => ({
    accountId: writer.accountId,
    table,
    day: row.utcDay,
    keys: row.keys,
    sums: { stored: read(row, 'stored'), actual: read(row, 'actual') },
  }))
}

async function compareClickIndex(writer: Writer, month: Span): Promise<Difference[]> {
  const rows = await ask<{ utcDay: string; keys: number }>(
    writer,
    ch`
SELECT toDate(clicked_at) AS utcDay, toUInt32(count()) AS keys
FROM (
  SELECT clicked_at, id, campaign_id
  FROM (
    SELECT clicked_at, id, campaign_id, true AS is_click FROM clicks WHERE ${inMonth(month)}
    UNION ALL
    SELECT clicked_at, id, campaign_id, false AS is_click FROM click_index WHERE ${inMonth(month)})
  GROUP BY clicked_at, id, campaign_id
  HAVING min(is_click) = max(is_click))
GROUP BY utcDay
ORDER BY utcDay`,
  )
  return rows.map(({ utcDay, keys }) => ({
    accountId: writer.accountId,
    table: 'click_index',
    day: utcDay,
    keys,
    sums: undefined,
  }))
}

function inMonth({ accountId, fromMs, untilMs }: Span): Fragment {
  return ch`account_id = ${text(accountId)} AND clicked_at >= ${instant(fromMs)} AND clicked_at < ${instant(untilMs)}`
}

function ask<Row>(writer: Writer, question: Fragment): Promise<Row[]> {
  const asking = { label: 'verify', signal: writer.signal, ...unhurried }
  return untilAnswered('comparing', () => selectRows<Row>(writer.stores.clickhouse, question, asking), writer)
}

import { Readable } from 'node:stream'
import { failAfter, runStatement } from '../../stores/clickhouse/insert.ts'
import { streamBytes } from '../../stores/clickhouse/select.ts'
import { ch, type Fragment, identifier, instant, join, storableTimes, text } from '../../stores/clickhouse/sql.ts'
import type { RetainedRanges } from '../../stores/postgres/retainedRanges.ts'
import { storedSums, sumsTables } from '../derived/sumsTables.ts'
import { deleteRows } from '../fence/mutations.ts'
import { WriteRefused, type Writer } from '../fence/session.ts'
import { monthOf } from '../journal/months.ts'
import { monthChecksums, recordChecksums } from './removedMonths.ts'

const sumTypes = { clicks: 'Int64', cost: 'Decimal(38, 6)' }

/** The tables that still have what was derived from removed clicks and costs, and the types of their columns in a file. */
const columnTypes = {
  sums_by_day: { dimension: 'String', day: 'Date', value: 'String', ...sumTypes },
  sums_by_day_and_campaign: { dimension: 'String', campaign_id: 'String', day: 'Date', value: 'String', ...sumTypes },
  sums_by_quarter_hour: { bucket: "DateTime('UTC')", campaign_id: 'String', ...sumTypes },
  click_index: { id: 'String', clicked_at: "DateTime64(3, 'UTC')", campaign_id: 'String' },
  cost_index: { id: 'String', spent_at: "DateTime64(3, 'UTC')" },
} as const satisfies Record<string, Record<string, string>>
export type KeptTable = keyof typeof columnTypes
export const keptTables = Object.keys(columnTypes) as KeptTable[]

const columnsIn = (table: KeptTable): [string, string][] => Object.entries(columnTypes[table])
const columnNamesIn = (table: KeptTable) => columnsIn(table).map(([name]) => identifier(name))

/** The file of an account may not fit in memory. Several blocks are safe, because a retry deletes earlier rows first. */
const inBlocks = ch`max_insert_block_size = 262144, min_insert_block_size_rows = 262144, min_insert_block_size_bytes = 0`

/** Values as ClickHouse writes them as JSON, by the type of their column. Day and time are a group. */
const jsonValues: Readonly<Record<string, string>> = {
  String: String.raw`"(?:[^"\\]|\\.)*"`,
  Date: String.raw`"(\d{4}-\d\d-\d\d)"`,
  "DateTime('UTC')": String.raw`"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)"`,
  "DateTime64(3, 'UTC')": String.raw`"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3})"`,
  Int64: String.raw`-?\d{1,18}`,
  'Decimal(38, 6)': String.raw`"-?\d{1,31}(?:\.\d{1,6})?"`,
}

/**
 * A check of the lines of a table's file. @param clicksMs from when clicks are retained
 * @param mayHaveMore whether sums of a later version may follow, which are left out
 * @returns why a line of valid JSON is not a row of removed clicks; undefined if it is
 */
export function removedSumsCheck(table: KeptTable, clicksMs: number, mayHaveMore: boolean) {
  const pairs = columnsIn(table).map(([name, type]) => `"${name}":${jsonValues[type]}`)
  const known = columnsIn(table).map(([name]) => name)
  const more = mayHaveMore ? `(?:,"(?!(?:${known.join('|')})")\\w+":(?:${jsonValues.String}|${jsonValues.Int64}))*` : ''
  const pattern = new RegExp(`^\\{${pairs.join(',')}${more}\\}$`)
  return (line: string) => {
    const [, time] = pattern.exec(line) ?? []
    if (time === undefined) return `is not a row of ${table}`
    const [day, clock = '00:00:00'] = time.split(' ')
    const timeMs = Date.parse(`${day}T${clock}Z`)
    return timeMs >= storableTimes.fromMs && timeMs < clicksMs ? undefined : `${time} is not in a removed month`
  }
}

/** Reads what a table has of removed clicks, as NDJSON in a fixed order. @param clicksMs from when clicks are retained */
export function readRemovedSums(writer: Writer, table: KeptTable, clicksMs: number): AsyncIterable<Buffer> {
  const query = ch`
SELECT *
FROM (${removedRowsSql(writer, table, clicksMs)})
ORDER BY ALL
FORMAT JSONEachRow`
  return streamBytes(writer.stores.clickhouse, query, { label: 'export.removed_sums', signal: writer.signal })
}

function removedRowsSql(writer: Writer, table: KeptTable, clicksMs: number): Fragment {
  const names = columnNamesIn(table)
  if (table === 'click_index' || table === 'cost_index') {
    return ch`SELECT ${join(names)} FROM ${identifier(table)} FINAL WHERE ${isRemoved(writer, table, clicksMs)}`
  }
  const keys = join(names.slice(0, -2))
  return ch`
SELECT ${keys}, of_clicks AS clicks, of_cost AS cost
FROM (
  SELECT ${keys}, sum(clicks) AS of_clicks, sum(cost) AS of_cost
  FROM (${storedSums(table, { accountIds: [writer.accountId], fromMs: storableTimes.fromMs, untilMs: clicksMs })})
  GROUP BY ${keys})
WHERE of_clicks != 0 OR of_cost != 0`
}

/**
 * TRAP: no lower limit. ClickHouse writes the constants of a mutation as text, and the year 1970 as `0`, which it cannot read as
 * a DateTime.
 */
function isRemoved({ ofAccount }: Writer, table: KeptTable, clicksMs: number): Fragment {
  return ch`${ofAccount} AND ${timeOf(table)} < ${instant(clicksMs)}`
}

function timeOf(table: KeptTable): Fragment {
  if (table === 'click_index') return ch`clicked_at`
  return table === 'cost_index' ? ch`spent_at` : sumsTables[table].at
}

/**
 * Stores what another installation had of removed clicks, and records what is retained. The account has no clicks and
 * conversions yet. Repeat it after an interruption; once it is complete it changes nothing.
 * @param open content of the file of a table, from its beginning; undefined: an earlier version wrote none
 * @throws WriteRefused when the account has removed other months: its sums and the rows of the file would not belong together
 */
export async function storeRemovedSums(
  writer: Writer,
  { clicksMs, eventsMs }: RetainedRanges,
  open: (table: KeptTable) => AsyncIterable<Buffer> | undefined,
): Promise<void> {
  const recorded = await writer.readRetained()
  if (recorded.clicksMs > 0 || recorded.eventsMs > 0) {
    if (recorded.clicksMs === clicksMs && recorded.eventsMs === eventsMs) return
    throw new WriteRefused(
      `account ${writer.accountId} has removed other months than the exported account, so the sums and rows of both do not belong together; the import cannot be completed.`,
    )
  }
  for (const table of clicksMs > 0 ? keptTables : []) {
    let content = open(table)
    if (!content) continue
    const label = 'import.removed_sums'
    await deleteRows(writer, identifier(table), isRemoved(writer, table, clicksMs), label, 'rewrite')
    const names = join(columnNamesIn(table))
    const types = columnsIn(table).map((column) => column.join(' '))
    await writer.fence.run(async ({ deadlineMs, queryId }) => {
      // A statement that has not begun is sent again, with the file from its beginning.
      const values = Readable.from(content ?? open(table) ?? [], { objectMode: false })
      content = undefined
      const statement = ch`
INSERT INTO ${identifier(table)} (account_id, ${names})
SETTINGS ${inBlocks}, input_format_skip_unknown_fields = 1
SELECT ${text(writer.accountId)}, ${names}
FROM input(${text(types.join(', '))})
WHERE ${failAfter(deadlineMs)}
FORMAT JSONEachRow`
      await runStatement(writer.stores.clickhouse.client, statement, label, { queryId, values })
    })
  }
  const span = { accountIds: [writer.accountId], fromMs: storableTimes.fromMs, untilMs: clicksMs }
  const checksums = clicksMs > 0 ? await monthChecksums(writer, span) : []
  const { postgres } = writer.stores
  await writer.change('recording which months were removed')`
    recorded AS (
      INSERT INTO retained_ranges (account_id, resource, retained_from, is_complete)
      SELECT ${writer.accountId}::text, resource, month, true
      FROM held,
        unnest(ARRAY['clicks', 'events'], ${[monthOf(clicksMs), monthOf(eventsMs)]}::date[]) AS removed (resource, month)
      WHERE month > '1970-01-01'
      ON CONFLICT DO NOTHING),
    ${recordChecksums(writer, postgres, checksums, postgres`held`)}`
}

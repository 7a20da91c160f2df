import type { RowFormat } from '../../schema/rowFormat.ts'
import type { ResourceName } from '../import/resourceNames.ts'
import { inRange } from '../query/conditions.ts'
import type { Range } from '../query/timeRange.ts'
import { formatClauses, selectList } from '../rows/clickhouseOutputFormat.ts'
import { exportField, exportFields } from '../rows/exportFields.ts'
import type { Fields } from '../stores/clickhouse/columnKinds.ts'
import { ch, type Fragment, identifier, join, text } from '../stores/clickhouse/sql.ts'
import {
  clickFields,
  conversionFields,
  costFields,
  pixelEventFields,
  timeColumns,
} from '../stores/clickhouse/tableColumns.ts'
import { importedFields } from '../writer/tables/changingFields.ts'
import { internalConversionFields } from '../writer/tables/conversion.ts'

export interface RowQuery {
  resource: ResourceName
  accountId: string
  /** The account's currency, which rows give beside every converted amount. */
  currency: string
  range: Partial<Range>
  format: Exclude<RowFormat, 'parquet'>
  /** Adds the fields that no response has, for `account import`. */
  withInternal?: true
}

/** Clicks, oldest first, which is the order of their table, so that they are streamed without sorting. */
function exportedClicksSql(query: RowQuery): Fragment {
  return ch`
SELECT ${selectList(exportFields(clickFields, query.currency), query)}
FROM clicks
WHERE ${conditions(query, ch`clicked_at`)}
ORDER BY clicked_at, id
LIMIT 1 BY clicked_at, id
${formatClauses[query.format]}`
}

/** Rows in their latest version, by time and id. @param internal fields that no response has */
function changingSql(table: 'conversions' | 'costs', fields: Fields, internal: Fields) {
  const internalFields = Object.entries(internal).map(([name, kind]) => exportField(name, kind))
  const at = timeColumns[table]
  return (query: RowQuery): Fragment => {
    const exported = [...exportFields(fields, query.currency), ...(query.withInternal ? internalFields : [])]
    return ch`
SELECT ${selectList(exported, query)}
FROM ${identifier(table)} FINAL
WHERE ${conditions(query, at)}
ORDER BY ${at}, id
${formatClauses[query.format]}`
  }
}

/** `properties` is JSON text, which is written apart from the other fields. */
const { properties, ...plainFields } = pixelEventFields
const eventFields = Object.entries({ ...plainFields, properties }).map(([name, kind]) => exportField(name, kind))

/**
 * Pixel events by origin and id, which is the order of their table. Their properties are stored as JSON text, so a line of
 * NDJSON is concatenated from the other fields and that text.
 * TRAP: the nodes of a cluster would write the expressions of a distributed table instead of the names of its fields.
 */
function exportedEventsSql(query: RowQuery): Fragment {
  const rows = ch`
SELECT ${selectList(eventFields, query)}
FROM pixel_events FINAL
WHERE ${conditions(query, ch`received_at`)}
ORDER BY origin, id, generation`
  if (query.format === 'csv') return ch`${rows}\n${formatClauses.csv}`
  return ch`
SELECT concat(
  substring(formatRowNoNewline('JSONEachRow', * EXCEPT properties) AS line, 1, length(line) - 1),
  ',"properties":', ifNull(properties, 'null'), '}')
FROM (${rows}
)
FORMAT TSVRaw`
}

function conditions({ accountId, range }: RowQuery, at: Fragment): Fragment {
  return join([ch`account_id = ${text(accountId)}`, ...inRange(at, range)], '\n  AND ')
}

/** The statement that reads the rows of a table. */
export const exportStatements = {
  clicks: exportedClicksSql,
  conversions: changingSql('conversions', conversionFields, internalConversionFields),
  costs: changingSql('costs', costFields, importedFields),
  pixel_events: exportedEventsSql,
}

import type { RowFormat } from '../../schema/rowFormat.ts'
import type { Range } from '../query/timeRange.ts'
import { clickFields, conversionFields, type RowField, texts } from '../rows/exportFields.ts'
import { formatClause, selectList } from '../rows/exportFormat.ts'
import { ch, type Fragment, identifier, instant, join, text } from '../stores/clickhouse/sql.ts'

/** The rows to export and their format. */
export interface RowQuery {
  accountId: string
  /** The account's currency, which rows give beside every converted amount. */
  currency: string
  range: Partial<Range>
  format: Exclude<RowFormat, 'parquet'>
}

/** Clicks, oldest first, which is the order of their table, so that they are streamed without sorting. */
export function clicksSql(query: RowQuery): Fragment {
  return ch`
SELECT ${selectList(clickFields(query.currency), query.format)}
FROM clicks
WHERE ${conditions(query, ch`clicked_at`)}
ORDER BY clicked_at, id
LIMIT 1 BY clicked_at, id
${formatClause(query.format)}`
}

/** Conversions in their latest state, oldest first. */
export function conversionsSql(query: RowQuery): Fragment {
  return ch`
SELECT ${selectList(conversionFields(query.currency), query.format)}
FROM conversions FINAL
WHERE ${conditions(query, ch`converted_at`)}
ORDER BY converted_at, id
${formatClause(query.format)}`
}

/**
 * Pixel events by origin and id, which is the order of their table. Their properties are stored as JSON text, so a line of
 * NDJSON is concatenated from the other fields and that text.
 */
export function pixelEventsSql(query: RowQuery): Fragment {
  const from = ch`
FROM pixel_events FINAL
WHERE ${conditions(query, ch`received_at`)}
ORDER BY origin, id, generation`
  if (query.format === 'csv') {
    const fields = [
      ...pixelEventFields.map(({ name, value }) => ({ name, value })),
      ...texts({ properties: 'properties' }),
    ]
    return ch`
SELECT ${selectList(fields, 'csv')}${from}
${formatClause('csv')}`
  }
  const values = join(
    pixelEventFields.map(({ value }) => value),
    ', ',
  )
  const types = join(
    pixelEventFields.map(({ name, type }) => ch`${identifier(name)} ${type}`),
    ', ',
  )
  return ch`
SELECT concat(
  substring(toJSONString(CAST((${values}), 'Tuple(${types})')) AS line, 1, length(line) - 1),
  ',"properties":', if(properties = '', 'null', properties), '}')${from}
FORMAT TSVRaw`
}

const pixelEventFields: (RowField & { type: Fragment })[] = [
  { name: 'id', value: ch`id`, type: ch`String` },
  { name: 'origin', value: ch`origin`, type: ch`String` },
  { name: 'generation', value: ch`generation`, type: ch`UInt32` },
  { name: 'eventName', value: ch`event_name`, type: ch`String` },
  ...texts({ clickId: 'click_id', visitorId: 'visitor_id', campaignId: 'campaign_id', userId: 'user_id' }).map(
    (field) => ({ ...field, type: ch`Nullable(String)` }),
  ),
  { name: 'value', value: ch`value`, type: ch`Nullable(Float64)` },
  ...texts({ currency: 'currency' }).map((field) => ({ ...field, type: ch`Nullable(String)` })),
  { name: 'occurredAt', value: ch`occurred_at`, type: ch`DateTime64(3, \\'UTC\\')` },
  { name: 'receivedAt', value: ch`received_at`, type: ch`DateTime64(3, \\'UTC\\')` },
]

function conditions({ accountId, range }: RowQuery, at: Fragment): Fragment {
  return join(
    [
      ch`account_id = ${text(accountId)}`,
      ...(range.fromMs === undefined ? [] : [ch`${at} >= ${instant(range.fromMs)}`]),
      ...(range.untilMs === undefined ? [] : [ch`${at} < ${instant(range.untilMs)}`]),
    ],
    '\n  AND ',
  )
}

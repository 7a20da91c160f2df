import type { ClickHouseSettings } from '@clickhouse/client'
import { type Dimension, notSet } from '../../../schema/dimensions.ts'
import type { FilterAttribute } from '../../../schema/filters.ts'
import { metricNames, type ReportMetric } from '../../../schema/metrics.ts'
import { longRead, smallFinal, smallRead } from '../../stores/clickhouse/select.ts'
import { ch, day, type Fragment, identifier, instant, join, nothing, text } from '../../stores/clickhouse/sql.ts'
import { timeColumns } from '../../stores/clickhouse/tableColumns.ts'
import { dayMs } from '../../stores/timing/units.ts'
import { attributeKey, attributeOf, type RowTable, rowTables } from '../attributes.ts'
import { inRange, prewhere } from '../conditions.ts'
import { filterCondition, filterConditions } from '../filters.ts'
import { idsIndexHints } from '../idsIndex.ts'
import { type View, visible } from '../keyView.ts'
import {
  addedSumColumns,
  countedClicks,
  countedRows,
  operandsOf,
  sumColumnsOf,
  sumMetrics,
} from '../metricDefinitions.ts'
import type { Range } from '../timeRange.ts'
import { addedEvents, eventReportSettings, eventSumsSql, noEvents, noUnits } from './events.ts'
import { type FactsPart, type FactsPlan, isTime } from './plan.ts'
import { timeId, timeKey, timeKeySettings } from './timeKeys.ts'

/**
 * Partial sums: a key can occur in several rows, so the caller must GROUP BY the keys and sum again. Bots and tests are
 * excluded; a conversion belongs to the time when it converted, or to the time of its click, a cost to the time when it was spent. A
 * single sums table is read without a subquery, which would cost a millisecond.
 * @returns a FROM clause, in which the table alias `facts` has a column for each sum, and an expression of the key of each dimension
 */
function fromFacts(plan: FactsPlan) {
  const [part] = plan.parts
  const { events } = plan
  if (part && plan.parts.length === 1 && part.table !== 'rows' && !plan.countsAtClick && !events)
    return fromPart(plan, part)
  const columns = plan.dimensions.map((_, index) => identifier(`key${index + 1}`))
  const ofBots: readonly RowTable[] = plan.bots === 'only' ? ['clicks'] : rowTables
  const tables = ofBots.filter((table) => table !== 'conversions' || !plan.countsAtClick)
  const selects = (events?.isOnly ? [] : plan.parts).flatMap((part) => {
    if (part.table === 'rows') return tables.map((table) => rowSumsSql(plan, part.range, table, columns))
    const { from, keys } = fromPart(plan, part)
    // Without its own GROUP BY a part could not be read from the projection of its table.
    return ch`
SELECT ${namedKeys(plan, keys, columns)}${addedSumColumns(!plan.countsAtClick)}${lateColumn(plan)}${noEventsOf(plan)}
FROM ${from}${groupedBy(keys)}`
  })
  if (plan.countsAtClick && plan.bots !== 'only' && !events?.isOnly)
    selects.push(rowSumsSql(plan, plan.counted, 'conversions', columns))
  if (events) selects.push(eventSumsSql(plan, events, columns, rowColumns(plan, 'pixel_events')))
  return {
    from: ch`(${join(selects, '\nUNION ALL\n')}
) AS facts`,
    keys: columns.map((column) => ch`facts.${column}`),
  }
}

/**
 * The statement of sums by the dimensions of a plan. Clauses for its end, such as an order, can name the ids.
 * @param more columns of its rows, first
 * @returns rows `id1`, …, one per dimension, as responses have it, and the sums that the metrics are computed from, unordered; one
 *   row without a dimension, which has `late` too if conversions count at their click
 */
export function groupedSums(plan: FactsPlan, metrics?: readonly ReportMetric[], more: readonly Fragment[] = []) {
  const { from, keys } = fromFacts(plan)
  const ids = keys.map((_, index) => identifier(`id${index + 1}`))
  const others = [
    ...(countsLate(plan) ? [ch`sum(facts.late) AS late`] : []),
    ...(plan.events ? [addedEvents(plan.events)] : []),
  ]
  const selectedIds = plan.dimensions.map(
    (_, index) => ch`${idOf(plan, keys[index] as Fragment, index)} AS ${ids[index] as Fragment}`,
  )
  const groups = keys.map((key, index) => (plan.values[index] ? (ids[index] as Fragment) : key))
  return {
    ids,
    statement: ch`
SELECT
  ${join([...more, ...selectedIds, ...resultColumns(metrics), ...others], ',\n  ')}
FROM ${from}${groupedBy(groups)}`,
  }
}

/**
 * The select list of a result, from sums with the alias `facts`: every sum under its metric's name, or only those that some
 * metrics are computed from.
 */
function resultColumns(metrics: readonly ReportMetric[] = metricNames): Fragment[] {
  const wanted = new Set(metrics.flatMap(operandsOf))
  const selected = sumMetrics
    .filter(({ metric }) => wanted.has(metric))
    // TRAP: without the table name, ClickHouse resolves `clicks` to the alias of the sum.
    .map(({ metric, column }) => ch`sum(facts.${column}) AS ${identifier(metric)}`)
  const merged = ch`uniqExactMerge(facts.visitors) + sum(facts.unknown_visitors) AS visitors`
  return metrics.includes('visitors') ? [...selected, merged] : selected
}

/**
 * A group is a bucket if one of these metrics is not zero: it counts a row, or it has a cost, unless costs are hidden. Changes and repairs
 * leave groups of zeros, which are not buckets. Revenue has a conversion that is counted; a cost may be of no click.
 */
export function bucketMetrics({ events }: FactsPlan, view: View | null): readonly ReportMetric[] {
  const ofFacts = sumMetrics.flatMap(({ metric, unit }) => (unit === 'count' || metric === 'cost' ? [metric] : []))
  return [...visible(ofFacts, view), ...(events?.metrics ?? [])]
}

const groupedBy = (keys: readonly Fragment[]) => (keys.length === 0 ? nothing : ch`\nGROUP BY ${join(keys)}`)

function idOf({ dimensions, values, offsets }: FactsPlan, key: Fragment, index: number): Fragment {
  const dimension = dimensions[index] as Dimension
  const ofEntities = values[index]
  if (ofEntities) return ch`transform(${key}, ${ofEntities.ids}, ${ofEntities.shown}, ${text(notSet)})`
  return isTime(dimension) ? timeId(dimension, key, offsets) : ch`if(${key} = '', ${text(notSet)}, ${key})`
}

/** Keys under their names, each of the same type from every table: rows have LowCardinality texts, sums plain ones. */
function namedKeys({ dimensions }: FactsPlan, keys: readonly Fragment[], columns: readonly Fragment[]): Fragment {
  if (keys.length === 0) return nothing
  const named = keys.map((key, index) => {
    return ch`${isTime(dimensions[index] as Dimension) ? key : ch`toString(${key})`} AS ${columns[index] as Fragment}`
  })
  return ch`${join(named)}, `
}

/** FROM a sums table, of whole periods. */
function fromPart(plan: FactsPlan, part: Exclude<FactsPart, { table: 'rows' }>) {
  const { table, range } = part
  const value = (attribute: FilterAttribute) =>
    attribute === 'campaign' && table !== 'sums_by_day' ? ch`facts.campaign_id` : ch`facts.value`
  const period = table === 'sums_by_quarter_hour' ? ch`facts.bucket` : ch`facts.day`
  const keyColumn = (dimension: Dimension) =>
    isTime(dimension)
      ? timeKey(dimension, ch`toDateTime64(${period}, 0, 'UTC')`, plan.offsets)
      : attributeKey(dimension, value(dimension))
  const isOfRange =
    part.table === 'sums_by_quarter_hour'
      ? inRange(ch`bucket`, range)
      : [ch`dimension = ${text(part.summed)}`, ch`day >= ${day(range.fromMs)}`, ch`day < ${day(range.untilMs)}`]
  const conditions = [
    ch`account_id = ${text(plan.accountId)}`,
    ...isOfRange,
    ...plan.filters.map((filter) => filterCondition(filter, value)),
  ]
  return {
    from: ch`${identifier(table)} AS facts
WHERE ${join(conditions, '\n  AND ')}`,
    keys: plan.dimensions.map(keyColumn),
  }
}

const noEventsOf = ({ events }: FactsPlan) => (events ? ch`, ${noEvents(events)}` : nothing)

/**
 * The parts of a count of visitors: the state of a count of distinct visitors, by 64-bit hashes, and the number of clicks
 * without a visitor. Such a click counts as a visitor. Conversions and costs add none.
 */
const visitors = ch`uniqExactStateIf(xxh3(visitor_id), visitor_id != '') AS visitors, countIf(visitor_id = '') AS unknown_visitors`
const noVisitors = ch`${noUnits} AS visitors, 0 AS unknown_visitors`

/** The sums over the rows of a table, beside metrics of events. */
function rowColumns(plan: FactsPlan, table: RowTable | 'pixel_events'): Fragment {
  const counted = table === 'clicks' ? visitors : noVisitors
  const columns = plan.countsVisitors ? ch`${sumColumnsOf(table)}, ${counted}` : sumColumnsOf(table)
  return ch`${columns}${lateColumn(plan, table)}`
}

const countsLate = ({ countsAtClick, dimensions }: FactsPlan) => countsAtClick === true && dimensions.length === 0

/** The number of conversions that converted after the range of their clicks; totals by click time have it. */
function lateColumn(plan: FactsPlan, table?: RowTable | 'pixel_events'): Fragment {
  if (!countsLate(plan)) return nothing
  const isLate = ch`status = 'approved' AND converted_at >= ${instant(plan.range.untilMs)}`
  return table === 'conversions' ? ch`, toInt64(countIf(${isLate})) AS late` : ch`, toInt64(0) AS late`
}

/**
 * SELECT of the sums over the rows of a table. Clicks never change, so their filters may apply before FINAL. The filters of other rows
 * apply after it, since a later version may have other values.
 */
function rowSumsSql(plan: FactsPlan, range: Range, table: RowTable, columns: readonly Fragment[]): Fragment {
  const isAtClick = table === 'conversions' && plan.countsAtClick
  const at = isAtClick ? ch`ifNull(clicked_at, converted_at)` : timeColumns[table]
  const keys = plan.dimensions.map((dimension) =>
    isTime(dimension) ? timeKey(dimension, at, plan.offsets) : attributeKey(dimension, attributeOf(dimension, table)),
  )
  const isOfRange = [ch`account_id = ${text(plan.accountId)}`, ...inRange(at, range)]
  const isCounted = [
    ...(table === 'clicks' ? countedClicks[plan.bots ?? 'exclude'] : countedRows[table]),
    ...filterConditions(plan.filters, table),
    ...(table === 'clicks' ? idsIndexHints(plan.filters) : []),
  ]
  const [before, after] = table === 'clicks' ? [isCounted, isOfRange] : [[], [...isOfRange, ...isCounted]]
  return ch`
SELECT ${namedKeys(plan, keys, columns)}${rowColumns(plan, table)}${noEventsOf(plan)}
FROM ${identifier(table)} FINAL${prewhere(before)}
WHERE ${join(after, '\n  AND ')}${groupedBy(keys)}`
}

/** Longest range of rows, in milliseconds, that is a short read; FINAL is faster on one thread there. */
const shortReadMs = 2 * dayMs

/**
 * For a single sums table: its key is its only index, so planning beyond that takes longer than it saves, a tenth of the time.
 * TRAP: not for tables that are read through a projection.
 */
const sumsRead: ClickHouseSettings = {
  ...timeKeySettings,
  optimize_use_projections: 0,
  query_plan_enable_optimizations: 0,
}

/** Longest range of sums by day that is a short read, in milliseconds. */
const shortSumsMs = 100 * dayMs

/** @returns the settings of a query that uses `groupedSums`; `parts` are of all its ranges */
export function factsSettings({ parts, countsAtClick, events }: FactsPlan): ClickHouseSettings {
  const isOnly = (table: FactsPart['table']) => !countsAtClick && !events && parts.every((part) => part.table === table)
  const sumMs = (of: readonly FactsPart[]) => of.reduce((sum, { range }) => sum + range.untilMs - range.fromMs, 0)
  if (isOnly('sums_by_day_and_campaign')) return sumsRead
  if (isOnly('sums_by_day')) return sumMs(parts) <= shortSumsMs ? { ...sumsRead, ...smallRead } : sumsRead
  const rowsMs = sumMs(parts.filter(({ table }) => table === 'rows'))
  return {
    ...timeKeySettings,
    // Copies of a click have one time, so they are in one partition.
    do_not_merge_across_partitions_select_final: 1,
    // The conversions of clicks of a range can be of any time.
    ...(rowsMs <= shortReadMs && !countsAtClick && !events ? smallFinal : longRead),
    ...(events && eventReportSettings),
  }
}

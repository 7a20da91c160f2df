import { isProperty } from '../../../schema/dimensions.ts'
import type { ReportMetric } from '../../../schema/metrics.ts'
import { ch, type Fragment, instant, join, nothing, text, texts } from '../../stores/clickhouse/sql.ts'
import { dayMs } from '../../stores/timing/units.ts'
import { attributeKey } from '../attributes.ts'
import { inRange } from '../conditions.ts'
import { eventRows, eventsByTime, hasVisitor, isOfClick } from '../eventRows.ts'
import { attributesOf, filterCondition } from '../filters.ts'
import { aliasOf, definitionOf } from '../metricDefinitions.ts'
import { onlyRetained } from '../retained.ts'
import { type CountedEvents, type FactsPlan, isTime } from './plan.ts'
import { timeKey } from './timeKeys.ts'

/** TRAP: pushed down into both parts of `countedOnce`, the condition on clicks of bots would read these clicks twice. */
export const eventReportSettings = { ...eventsByTime, query_plan_filter_push_down: 0 } as const

/** A select list of metrics of events. */
const listOf = ({ metrics }: CountedEvents, column: (metric: ReportMetric) => Fragment): Fragment =>
  join(metrics.map((metric) => ch`${column(metric)} AS ${aliasOf(metric)}`))

const isDistinct = (metric: ReportMetric) => definitionOf(metric).kind === 'distinctOfEvents'

/** The state of a count of distinct hashes, without rows. */
export const noUnits = ch`arrayReduce('uniqExactState', emptyArrayUInt64())`

/** The metrics of events in rows of other facts. */
export const noEvents = (events: CountedEvents): Fragment =>
  listOf(events, (metric) => (isDistinct(metric) ? noUnits : ch`toInt64(0)`))

/** The metrics of events, from partial values with the alias `facts`. */
export const addedEvents = (events: CountedEvents): Fragment =>
  listOf(events, (metric) => ch`${isDistinct(metric) ? ch`uniqExactMerge` : ch`sum`}(facts.${aliasOf(metric)})`)

const nameOf = (metric: ReportMetric) => metric.split(':')[1]

/**
 * SELECT of the metrics of events, by keys. An event has its own name, origin and properties, and the campaign that it names; it has
 * the other attributes of its click. Metrics of named events alone count no others.
 * @param columns names of the keys
 * @param others the columns of sums of other facts, which are zero
 */
export function eventSumsSql(plan: FactsPlan, events: CountedEvents, columns: readonly Fragment[], others: Fragment) {
  const { accountId, range, dimensions, filters, retained, bots } = plan
  const wanted = [...new Set([...attributesOf(filters), ...dimensions.filter((name) => !isTime(name))])]
  const attributes = wanted.filter(isOfClick)
  const names = events.metrics.map(nameOf)
  const conditions = [
    ch`account_id = ${text(accountId)}`,
    ...inRange(ch`occurred_at`, onlyRetained(range, retained.eventsMs)),
    ...(names.includes(undefined) ? [] : [ch`event_name IN ${texts(names as string[])}`]),
  ]
  const properties = wanted.some(isProperty) ? ch`, properties` : nothing
  const read = ch`occurred_at, origin, event_name, click_hash, visitor_hash, campaign_id${properties}`
  const isNeeded = attributes.length > 0 ? ch`1` : ch`NOT (${hasVisitor})`
  const needsClicks = attributes.length > 0 || events.metrics.some(isDistinct)
  const { from, isCounted, unit, attribute } = eventRows({
    accountId,
    events: countedOnce(read, conditions, plan),
    clicksNeeded: needsClicks ? selectEvents(ch`click_hash`, [...conditions, isNeeded]) : undefined,
    by: 'visitor',
    attributes,
    clicksFromMs: retained.clicksMs,
    bots,
  })
  const keys = dimensions.map((dimension) =>
    isTime(dimension)
      ? timeKey(dimension, ch`e.occurred_at`, plan.offsets)
      : ch`toString(${attributeKey(dimension, attribute(dimension))})`,
  )
  const sums = listOf(events, (metric) => {
    const name = nameOf(metric)
    const isNamed = name === undefined ? ch`1` : ch`e.event_name = ${text(name)}`
    return isDistinct(metric) ? ch`uniqExactStateIf(${unit}, ${isNamed})` : ch`toInt64(countIf(${isNamed}))`
  })
  return ch`
SELECT ${join([...keys.map((key, index) => ch`${key} AS ${columns[index] as Fragment}`), others, sums])}
FROM ${from}
WHERE ${join([isCounted, ...filters.map((filter) => filterCondition(filter, attribute))], '\n  AND ')}${
    columns.length === 0 ? nothing : ch`\nGROUP BY ${join(columns)}`
  }`
}

const selectEvents = (columns: Fragment, conditions: readonly Fragment[], final = nothing) => ch`
  SELECT ${columns}
  FROM pixel_events${final}
  WHERE ${join(conditions, '\n  AND ')}`

/**
 * SELECT of events without copies of an event that are not merged yet. FINAL would read the keys of all events of the account, so it
 * reads only ids that occur twice, within a day more: calls with one id that race may have different times. An id can also occur twice
 * with another origin or generation.
 */
function countedOnce(columns: Fragment, conditions: readonly Fragment[], { accountId, range }: FactsPlan): Fragment {
  const around = { fromMs: range.fromMs - dayMs, untilMs: range.untilMs + dayMs }
  const isAround = [ch`account_id = ${text(accountId)}`, ...inRange(ch`occurred_at`, around)]
  // Equal scalar subqueries of a statement run once.
  const repeated = ch`(
    SELECT groupArray(id_hash) FROM (${selectEvents(ch`id_hash`, isAround)} GROUP BY id_hash HAVING count() > 1)
  )`
  const isRepeated = ch`id_hash IN (SELECT arrayJoin(${repeated}))`
  const ids = selectEvents(ch`id`, [...isAround, isRepeated])
  return join(
    [
      selectEvents(columns, [...conditions, ch`NOT ${isRepeated}`]),
      selectEvents(columns, [...conditions, ch`notEmpty(${repeated})`, ch`id IN (${ids})`], ch` FINAL`),
    ],
    '\nUNION ALL\n',
  )
}

/** The latest time of an event that is not in the future. */
export const latestEventSql = (accountId: string, nowMs: number): Fragment => ch`
${selectEvents(ch`toUnixTimestamp64Milli(occurred_at) AS atMs`, [ch`account_id = ${text(accountId)}`, ch`occurred_at <= ${instant(nowMs)}`])}
ORDER BY occurred_at DESC
LIMIT 1`

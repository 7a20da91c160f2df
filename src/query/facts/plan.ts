import type { Static, TObject } from '@sinclair/typebox'
import type { Bots, countParameters } from '../../../schema/countAt.ts'
import {
  type Dimension,
  entityDimensions,
  isOfEntity,
  type SummedDimension,
  type TimeDimension,
  timeDimensions,
} from '../../../schema/dimensions.ts'
import { type FilterAttribute, namesInTree } from '../../../schema/filters.ts'
import { isNamedMetric, metricNames, namedMetricsMax, type ReportMetric } from '../../../schema/metrics.ts'
import { daysDefault } from '../../../schema/range.ts'
import type { Scope } from '../../../schema/scopes.ts'
import { invalidParameter, lacksScope } from '../../problem.ts'
import type { FreshnessOfAccount } from '../../stores/postgres/freshness.ts'
import type { RetainedRanges } from '../../stores/postgres/retainedRanges.ts'
import { dayMs, minuteMs } from '../../stores/timing/units.ts'
import { isSummed, type RowTable, rowTables } from '../attributes.ts'
import { type ComparedRange, comparedByPosition, previousRange, previousUnit } from '../comparison.ts'
import type { ValuesByDimension } from '../entityValues.ts'
import { attributesOf, type FilterQuery, readAllFilters } from '../filters.ts'
import type { Filter } from '../filterTree.ts'
import { visible } from '../keyView.ts'
import { isOfEvents } from '../metricDefinitions.ts'
import type { PlanCaller } from '../readContext.ts'
import { onlyRetained } from '../retained.ts'
import {
  type ComparisonQuery,
  hoursDaysMax,
  type LocalRangeQuery,
  localRange,
  parseComparedRange,
  parseInstant,
  type Range,
  rangeDaysMax,
  toInstantText,
} from '../timeRange.ts'
import { type OffsetChange, offsetsOf } from '../timeZone.ts'
import { isOfWholeDays } from './timeKeys.ts'

export type ComparedPlan = Readonly<ReturnType<typeof planMetrics>>
export type ComparedFacts = NonNullable<ComparedPlan['compared']>

/** Up to when the account has rows, whatever the query selects: times as in responses, null without rows. */
export type DataThrough = Record<RowTable, string | null> & { events?: string | null }

/** Parameters that say what counts, and when. */
export type CountQuery = Static<TObject<typeof countParameters>>

export interface FactsCaller extends PlanCaller {
  scopes: ReadonlySet<Scope>
  freshness: FreshnessOfAccount
}

/**
 * Reads range, filters and comparison, and selects the tables; no I/O.
 * @param dimensions what the sums are grouped by
 * @param kind what error messages call the request, metrics that it reads beside those of sums tables, and whether metrics of its buckets can be filtered
 * @throws Problem `insufficient_scope`, `invalid_metrics`, `invalid_range`, `invalid_from`, `invalid_to`, `invalid_date_range`, `invalid_tz`, `invalid_compare`, `invalid_compare_from`,
 *   `invalid_compare_to`, `invalid_previous_until`, `invalid_filters`, or `invalid_<filter>`
 */
export function planMetrics(
  query: LocalRangeQuery & FilterQuery & ComparisonQuery & CountQuery,
  dimensions: readonly Dimension[],
  kind: { name: string; metrics?: readonly ReportMetric[]; hasBuckets?: true },
  caller: FactsCaller,
  nowMs: number,
) {
  const isByHour = dimensions.includes('hour')
  const daysMax = isByHour ? hoursDaysMax : rangeDaysMax
  const name = isByHour ? `${kind.name} by hour` : kind.name
  const { range, zone } = localRange(query, daysDefault, daysMax, name, nowMs)
  const { accountId, currency, retained, view, entityValues } = caller
  const { filters, metrics: metricConditions } = readAllFilters(query, namesInTree.facts, caller, kind.hasBuckets)
  const read = [...(kind.metrics ?? []), ...metricConditions.map(({ metric }) => metric)]
  const counted = {
    countsVisitors: read.includes('visitors'),
    countsAtClick: query.count_at === 'click',
    bots: query.bots,
    events: countedEvents(read, caller),
  }
  const factsQuery = { accountId, range, zone, dimensions, filters, ...counted, retained, entityValues }
  const facts = planFacts(factsQuery)
  const namedRange = parseComparedRange(query, zone, daysMax)
  const earlierRange = () =>
    query.range !== undefined && query.compare === 'previous_period'
      ? previousUnit(query.range, range, zone, nowMs)
      : query.compare && previousRange(query.compare, range, zone, nowMs)
  const matched = endingAt(
    query.previous_until,
    namedRange ? comparedByPosition(namedRange, range, zone) : earlierRange(),
  )
  const compared = matched && { ...matched, facts: planFacts({ ...factsQuery, range: matched.range }) }
  return {
    accountId,
    currency,
    range,
    /** IANA name of the time zone; UTC if the request has none. */
    tz: zone,
    facts,
    /** The compared range, with `compare` or `compare_from`; it need not be earlier. */
    compared,
    /** The part of the account that the caller sees. */
    view,
    /** Metrics of the response, in the order of the schema: all that the caller sees, unless the request names them. */
    metrics: visible<ReportMetric>(metricNames, view),
    /** Conditions on the metrics of buckets, combined with AND. */
    metricConditions,
    nowMs,
    /** From when rows are retained, if facts of a range are counted only from then on. */
    retained: { retainedFrom: [facts, compared?.facts].some(lacksRows) ? toInstantText(retainedMsOf(facts)) : null },
    /** Undefined for a key that sees a part of the account: it would say when other rows came. */
    dataThrough: view ? undefined : dataThroughOf(caller.freshness),
  }
}

/**
 * @param read metrics that the response has, or is selected or ordered by
 * @returns undefined if none is of events
 */
function countedEvents(read: readonly ReportMetric[], { scopes }: FactsCaller): CountedEvents | undefined {
  const metrics = [...new Set(read.filter(isOfEvents))]
  if (metrics.length === 0) return undefined
  if (!scopes.has('read:events')) throw lacksScope('read:events')
  if (metrics.filter(isNamedMetric).length > namedMetricsMax)
    throw invalidParameter('metrics', `and sort and filters name more than ${namedMetricsMax} metrics of named events.`)
  return { metrics, isOnly: read.every(isOfEvents) }
}

/** @param text `previous_until` of the request: the end of the compared range of an earlier response */
function endingAt(text: string | undefined, compared: ComparedRange | undefined): ComparedRange | undefined {
  if (text === undefined) return compared
  if (!compared) throw invalidParameter('previous_until', 'needs compare, or compare_from and compare_to.')
  const untilMs = parseInstant('previous_until', text)
  const { fromMs, untilMs: lastMs } = compared.whole
  if (untilMs >= fromMs && untilMs <= lastMs) return { ...compared, range: { fromMs, untilMs } }
  throw invalidParameter('previous_until', 'is not within the compared range.')
}

function dataThroughOf(freshness: FreshnessOfAccount): DataThrough {
  const textOf = (ms: number | null = null) => (ms === null ? null : toInstantText(ms))
  return Object.fromEntries(rowTables.map((table) => [table, textOf(freshness[table]?.throughMs)])) as DataThrough
}

/** A query for sums of facts. Facts are clicks, conversions and costs: the rows that metrics count and add up, by dimension. */
export interface FactsQuery {
  accountId: string
  range: Range
  /** IANA name of the time zone of the time dimensions. */
  zone: string
  /** What the sums are grouped by, in order; empty for one total. */
  dimensions: readonly Dimension[]
  filters: readonly Filter[]
  /** Whether distinct visitors are counted, which only rows have. */
  countsVisitors?: boolean
  /** Whether conversions count at the time of their click. They are then read from rows, clicks and costs from the parts. */
  countsAtClick?: boolean
  /** By default `exclude`. */
  bots?: Bots | undefined
  /** The metrics of events that are counted; `isOnly`: nothing else is, so that only events are read. */
  events?: CountedEvents | undefined
  /** From when clicks and events are retained. */
  retained?: RetainedRanges
  entityValues?: ValuesByDimension | undefined
}

export type CountedEvents = { metrics: readonly ReportMetric[]; isOnly: boolean }

/** Where the sums of a query are read from: a sums table, or the rows themselves. */
type FactsTable =
  | { table: 'sums_by_day'; summed: SummedDimension }
  | { table: 'sums_by_day_and_campaign'; summed: Exclude<SummedDimension, 'campaign'> }
  | { table: 'sums_by_quarter_hour' }
  | { table: 'rows' }

export type FactsPart = FactsTable & { range: Range }

export type FactsPlan = Readonly<ReturnType<typeof planFacts>>

/** Period of one row of a table, milliseconds; periods start at multiples of it. */
const periodMs: Record<FactsTable['table'], number> = {
  sums_by_day: dayMs,
  sums_by_day_and_campaign: dayMs,
  sums_by_quarter_hour: 15 * minuteMs,
  rows: 1,
}

/**
 * Selects the tables that a query is read from; no I/O. The whole periods of the range are read from the smallest table
 * that has all attributes of the query, the rest of the range at its ends from the next table. Sums of removed clicks remain, so only
 * parts that are read from rows begin where rows are retained, which is the start of a day.
 */
export function planFacts({ dimensions, ...rest }: FactsQuery) {
  /** By dimension: the values by which ids are grouped, if not by themselves. */
  const values = dimensions.map((name) => (isOfEntity(name) ? rest.entityValues?.[name] : undefined))
  const query = { ...rest, dimensions: dimensions.map((name) => (isOfEntity(name) ? entityDimensions[name].by : name)) }
  const { range, events, retained = { clicksMs: 0, eventsMs: 0 } } = query
  const retainedMs = events?.isOnly ? retained.eventsMs : retained.clicksMs
  /** UTC offsets of the time zone in the range; none without a time dimension. */
  const offsets = query.dimensions.some(isTime) ? offsetsOf(query.zone, range) : []
  const found = split(range, tablesOf(query, offsets))
    .map((part) => (part.table === 'rows' ? { ...part, range: onlyRetained(part.range, retainedMs) } : part))
    .filter((part) => !isEmpty(part.range))
  const none: FactsPart = { table: 'rows', range: { fromMs: range.untilMs, untilMs: range.untilMs } }
  /** They cover `counted` exactly once; at most two of each table, at least one. */
  const parts: readonly FactsPart[] = found.length === 0 ? [none] : found
  /** The range without its parts whose clicks are only in removed rows; conversions and costs there do not count either. */
  const counted = {
    fromMs: Math.min(...parts.map((part) => part.range.fromMs)),
    untilMs: Math.max(...parts.map((part) => part.range.untilMs)),
  }
  return { ...query, values, retained, offsets, parts, counted }
}

const isEmpty = ({ fromMs, untilMs }: Range) => fromMs >= untilMs

/** From when rows are retained. Events take attributes from clicks of any time. */
function retainedMsOf({ events, retained: { clicksMs, eventsMs } }: FactsPlan): number {
  return events ? Math.max(clicksMs, eventsMs) : clicksMs
}

/** Whether rows of a part of the range are removed. */
function lacksRows(plan: FactsPlan | undefined): boolean {
  if (plan?.events) return plan.range.fromMs < retainedMsOf(plan)
  return plan !== undefined && (plan.counted.fromMs > plan.range.fromMs || plan.counted.untilMs < plan.range.untilMs)
}

/** Whether rows of the whole range are removed. */
export function lacksAllRows(plan: FactsPlan): boolean {
  const hasEvents = plan.events !== undefined && plan.range.untilMs > plan.retained.eventsMs
  return lacksRows(plan) && isEmpty(plan.counted) && !hasEvents
}

export function isTime(dimension: Dimension): dimension is TimeDimension {
  return (timeDimensions as readonly Dimension[]).includes(dimension)
}

/** @returns the tables with all attributes of a query, longer periods first; rows are last */
function tablesOf(query: FactsQuery, offsets: readonly OffsetChange[]): FactsTable[] {
  const { dimensions, filters, countsVisitors, bots = 'exclude', events } = query
  if (countsVisitors || bots !== 'exclude' || events?.isOnly) return [{ table: 'rows' }]
  const attributes = new Set<FilterAttribute>([
    ...dimensions.filter((dimension) => !isTime(dimension)),
    ...attributesOf(filters),
  ])
  const others = [...attributes].filter((name): name is Exclude<FilterAttribute, 'campaign'> => name !== 'campaign')
  const [other] = others
  const tables: FactsTable[] = []
  const times = dimensions.filter(isTime)
  const isByDay = times.every(isOfWholeDays) && offsets.every(({ offsetS }) => offsetS === 0)
  if (isByDay && others.length === 0) {
    // All dimensions have the same totals; devices have the fewest values.
    tables.push({ table: 'sums_by_day', summed: attributes.has('campaign') ? 'campaign' : 'device' })
  } else if (isByDay && others.length === 1 && other && isSummed(other)) {
    tables.push({ table: attributes.has('campaign') ? 'sums_by_day_and_campaign' : 'sums_by_day', summed: other })
  }
  const isOnQuarters = offsets.every(
    ({ fromMs, offsetS }, index) =>
      (offsetS * 1000) % periodMs.sums_by_quarter_hour === 0 &&
      (index === 0 || fromMs % periodMs.sums_by_quarter_hour === 0),
  )
  if (others.length === 0 && (times.length === 0 || isOnQuarters)) {
    tables.push({ table: 'sums_by_quarter_hour' })
  }
  return [...tables, { table: 'rows' }]
}

/** Splits a range among tables: its whole periods are read from the first one, its ends from the others. */
function split({ fromMs, untilMs }: Range, [first, ...rest]: readonly FactsTable[]): FactsPart[] {
  if (!first || isEmpty({ fromMs, untilMs })) return []
  const stepMs = periodMs[first.table]
  const firstMs = Math.ceil(fromMs / stepMs) * stepMs
  const lastMs = Math.floor(untilMs / stepMs) * stepMs
  if (firstMs >= lastMs) return split({ fromMs, untilMs }, rest)
  return [
    { ...first, range: { fromMs: firstMs, untilMs: lastMs } },
    ...split({ fromMs, untilMs: firstMs }, rest),
    ...split({ fromMs: lastMs, untilMs }, rest),
  ]
}

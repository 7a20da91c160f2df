import {
  type AttributeName,
  attributeNames,
  type Dimension,
  type SummedDimension,
  type TimeDimension,
} from '../../../schema/dimensions.ts'
import type { FilterAttribute } from '../../../schema/filters.ts'
import { dayMs, minuteMs } from '../../stores/timing/units.ts'
import { isSummed } from '../attributes.ts'
import { attributesOf } from '../filters.ts'
import type { Filter } from '../filterTree.ts'
import type { Range } from '../timeRange.ts'
import { type OffsetChange, offsetsOf } from '../timeZone.ts'
import { isOfWholeDays } from './timeKeys.ts'

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
  /** Whether conversions count at the time of their click. They are then read from rows of the whole range, clicks and costs from the parts. */
  countsAtClick?: boolean
}

/** Where the sums of a query are read from: a sums table, or the rows themselves. */
type FactsTable =
  | { table: 'sums_by_day'; summed: SummedDimension }
  | { table: 'sums_by_day_and_campaign'; summed: Exclude<SummedDimension, 'campaign'> }
  | { table: 'sums_by_quarter_hour' }
  | { table: 'rows' }

export type FactsPart = FactsTable & { range: Range }

export interface FactsPlan extends FactsQuery {
  /** UTC offsets of the time zone in the range; none without a time dimension. */
  offsets: readonly OffsetChange[]
  /** They cover the range exactly once; at most two of each table, at least one. */
  parts: readonly FactsPart[]
}

/** Period of one row of a table, milliseconds; periods start at multiples of it. */
const periodMs: Record<FactsTable['table'], number> = {
  sums_by_day: dayMs,
  sums_by_day_and_campaign: dayMs,
  sums_by_quarter_hour: 15 * minuteMs,
  rows: 1,
}

/**
 * Selects the tables that a query is read from; no I/O. The whole periods of the range are read from the smallest table
 * that has all attributes of the query, the rest of the range at its ends from the next table.
 */
export function planFacts(query: FactsQuery): FactsPlan {
  const offsets = query.dimensions.some(isTime) ? offsetsOf(query.zone, query.range) : []
  const parts = split(query.range, tablesOf(query, offsets))
  // An earlier range can be empty.
  return { ...query, offsets, parts: parts.length === 0 ? [{ table: 'rows', range: query.range }] : parts }
}

export function isTime(dimension: Dimension): dimension is TimeDimension {
  return !(attributeNames as readonly Dimension[]).includes(dimension)
}

/** @returns the tables with all attributes of a query, longer periods first; rows are last */
function tablesOf({ dimensions, filters, countsVisitors }: FactsQuery, offsets: readonly OffsetChange[]): FactsTable[] {
  if (countsVisitors) return [{ table: 'rows' }]
  const attributes = new Set<FilterAttribute>([
    ...dimensions.filter((dimension): dimension is AttributeName => !isTime(dimension)),
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
    const isOfCampaigns = attributes.has('campaign')
    tables.push(
      isOfCampaigns ? { table: 'sums_by_day_and_campaign', summed: other } : { table: 'sums_by_day', summed: other },
    )
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
  if (!first || fromMs >= untilMs) return []
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

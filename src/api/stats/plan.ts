import { type DailyQuery, type StatsQuery, statsDaysDefault } from '../../../schema/stats.ts'
import { type CalendarBucket, calendarOf, type Interval } from '../../query/calendarIntervals.ts'
import { type ComparedPlan, planCompared } from '../../query/facts/comparedPlan.ts'
import { readFilters } from '../../query/filters.ts'
import { assertDaysAtMost, hoursDaysMax, type Range, rangeDaysMax, reportRange } from '../../query/timeRange.ts'
import { readTimeZone } from '../../query/timeZone.ts'
import type { RetainedRanges } from '../../stores/postgres/retainedRanges.ts'

/** Query plan of an overview. */
export interface StatsPlan extends ComparedPlan {
  accountId: string
  currency: string
  /** Name of the zone in IANA's spelling. */
  tz: string
  range: Range
  nowMs: number
}

/** The account of the request. */
interface StatsCaller {
  accountId: string
  currency: string
  retained: RetainedRanges
}

/** Query plan of a series. */
export interface DailyPlan extends StatsPlan {
  interval: Interval
  /** One per row, oldest first. */
  buckets: readonly CalendarBucket[]
}

/**
 * Builds the query plan of an overview; no I/O.
 * @param dimensions what the sums are grouped by; none for an overview
 * @throws Problem `invalid_from`, `invalid_to`, `invalid_date_range`, `invalid_tz`, `invalid_compare`, or `invalid_<filter>`
 */
export function planOverview(
  query: StatsQuery,
  { accountId, currency, retained }: StatsCaller,
  nowMs: number,
  dimensions: readonly Interval[] = [],
): StatsPlan {
  const tz = readTimeZone(query.tz ?? 'UTC')
  const range = reportRange(query, statsDaysDefault, tz, nowMs)
  assertDaysAtMost(rangeDaysMax, range, tz, 'A range')
  const facts = { accountId, range, zone: tz, dimensions, filters: readFilters(query) }
  return { accountId, currency, tz, range, ...planCompared(facts, query.compare, retained.clicksMs, nowMs), nowMs }
}

/**
 * Builds the query plan of a series; no I/O.
 * @throws Problem like `planOverview`
 */
export function planDaily(query: DailyQuery, caller: StatsCaller, nowMs: number): DailyPlan {
  const interval = query.interval ?? 'day'
  const plan = planOverview(query, caller, nowMs, [interval])
  if (interval === 'hour') assertDaysAtMost(hoursDaysMax, plan.range, plan.tz, 'A series by hour')
  return { ...plan, interval, buckets: calendarOf(interval, plan.range, plan.tz) }
}

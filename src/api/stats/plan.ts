import { daysDefault } from '../../../schema/range.ts'
import type { DailyQuery, StatsQuery } from '../../../schema/stats.ts'
import { type CalendarBucket, calendarOf, type Interval } from '../../query/calendarIntervals.ts'
import { type ComparedPlan, type FactsCaller, planCompared } from '../../query/facts/plan.ts'

export interface DailyPlan extends ComparedPlan {
  interval: Interval
  /** One per row, oldest first. */
  buckets: readonly CalendarBucket[]
}

/**
 * Builds the query plan of an overview; no I/O.
 * @throws Problem as `planCompared`
 */
export function planOverview(query: StatsQuery, caller: FactsCaller, nowMs: number): ComparedPlan {
  return planCompared(query, [], { name: 'A range', daysDefault }, caller, nowMs)
}

/**
 * Builds the query plan of a series; no I/O.
 * @throws Problem as `planCompared`
 */
export function planDaily(query: DailyQuery, caller: FactsCaller, nowMs: number): DailyPlan {
  const interval = query.interval ?? 'day'
  const plan = planCompared(query, [interval], { name: 'A series', daysDefault }, caller, nowMs)
  return { ...plan, interval, buckets: calendarOf(interval, plan.range, plan.tz) }
}

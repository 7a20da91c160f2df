import { setImmediate as nextTurn } from 'node:timers/promises'
import type { DailyQuery, StatsDaily, StatsOverview, StatsQuery } from '../../../schema/stats.ts'
import { type CalendarBucket, calendarOf, type Interval } from '../../query/calendarIntervals.ts'
import { noSums, readSums, type SumTexts, toMetrics } from '../../query/evaluateMetrics.ts'
import { type ComparedPlan, type FactsCaller, type FactsPlan, planMetrics } from '../../query/facts/plan.ts'
import { comparedRangeFields, comparedTotals, countAtFields } from '../../query/facts/responseFields.ts'
import { factsSettings, groupedSums } from '../../query/facts/sql.ts'
import { type ReadContext, readRows } from '../../query/readContext.ts'
import { rangeTexts, toInstantText } from '../../query/timeRange.ts'
import { type Postgres, queryPostgres } from '../../stores/postgres/connection.ts'

export interface DailyPlan extends ComparedPlan {
  interval: Interval
  /** One per row, oldest first. */
  buckets: readonly CalendarBucket[]
}

/**
 * Builds the query plan of an overview; no I/O.
 * @throws Problem as `planMetrics`
 */
export function planOverview(query: StatsQuery, caller: FactsCaller, nowMs: number): ComparedPlan {
  return planMetrics(query, [], { name: 'A range' }, caller, nowMs)
}

/**
 * Builds the query plan of a series; no I/O.
 * @throws Problem as `planMetrics`
 */
export function planDaily(query: DailyQuery, caller: FactsCaller, nowMs: number): DailyPlan {
  const interval = query.interval ?? 'day'
  const plan = planMetrics(query, [interval], { name: 'A series' }, caller, nowMs)
  return { ...plan, interval, buckets: calendarOf(interval, plan.range, plan.tz) }
}

/**
 * Executes a series.
 * @returns one row per unit of time, oldest first
 */
export async function runDaily(context: ReadContext, plan: DailyPlan): Promise<StatsDaily> {
  const { interval, buckets, facts, compared, nowMs, metrics } = plan
  const [sums, comparedSums] = await Promise.all([
    readSeries(context, facts),
    compared && readSeries(context, compared.facts),
  ])
  // Reading, computing and writing 744 hours have a turn of the event loop each, so that other requests do not wait for all three.
  await nextTurn()
  const series: StatsDaily = {
    ...rangeFields(plan),
    data: buckets.map(({ id, date, fromMs, untilMs }) => {
      const counterpart = compared?.counterpartOf(interval, id) ?? null
      return {
        id: interval === 'month' ? date : id,
        date,
        complete: fromMs >= facts.counted.fromMs && untilMs <= facts.counted.untilMs && untilMs <= nowMs,
        ...toMetrics(sums.get(id) ?? noSums, metrics),
        ...(comparedSums && {
          previous: {
            id: counterpart !== null && interval === 'month' ? `${counterpart}-01` : counterpart,
            ...toMetrics(comparedSums.get(counterpart ?? '') ?? noSums, metrics),
          },
        }),
      }
    }),
    ...(compared && { previous: comparedRangeFields(compared, nowMs) }),
    ...plan.retained,
    ...(plan.dataThrough && { dataThrough: plan.dataThrough }),
    asOf: toInstantText(nowMs),
  }
  await nextTurn()
  return series
}

/** Executes an overview: totals of a time range, and the current number of resources of the account. */
export async function runOverview(context: ReadContext, plan: ComparedPlan): Promise<StatsOverview> {
  const { facts, compared, nowMs, metrics, view } = plan
  const [{ totals, late }, previous, resources] = await Promise.all([
    readTotals(context, facts),
    compared && readTotals(context, compared.facts),
    view ? undefined : countResources(context.stores.postgres, plan.accountId),
  ])
  return {
    ...rangeFields(plan),
    totals: toMetrics(totals, metrics),
    ...(late !== undefined && { lateConversions: Number(late) }),
    ...(compared && previous && { previous: comparedTotals(compared, plan, previous.totals) }),
    ...(resources && { resources }),
    ...plan.retained,
    ...(plan.dataThrough && { dataThrough: plan.dataThrough }),
    asOf: toInstantText(nowMs),
  }
}

/** @returns sums by bucket id */
async function readSeries(context: ReadContext, plan: FactsPlan) {
  type Row = SumTexts & { id1: string }
  const rows = await readRows<Row>(context, groupedSums(plan).statement, 'stats.daily', factsSettings(plan))
  return new Map(rows.map((row) => [row.id1, readSums(row)]))
}

async function readTotals(context: ReadContext, plan: FactsPlan) {
  type Row = SumTexts & { late?: string }
  // Sums without GROUP BY are one row.
  const [row] = await readRows<Row>(context, groupedSums(plan).statement, 'stats.overview', factsSettings(plan))
  const { late, ...totals } = row as Row
  return { totals: readSums(totals), late }
}

function rangeFields(plan: ComparedPlan) {
  return { ...rangeTexts(plan.range), tz: plan.tz, currency: plan.currency, ...countAtFields(plan) }
}

/** Counts the resources that are not archived. */
async function countResources(postgres: Postgres, accountId: string) {
  // A SELECT without FROM returns one row.
  const [counts] = await queryPostgres(postgres<[NonNullable<StatsOverview['resources']>]>`
    SELECT
      (SELECT count(*)::int FROM campaigns WHERE account_id = ${accountId} AND status <> 'archived') AS campaigns,
      (SELECT count(*)::int FROM offers WHERE account_id = ${accountId} AND status <> 'archived') AS offers,
      (SELECT count(*)::int FROM landing_pages WHERE account_id = ${accountId} AND status <> 'archived') AS "landingPages",
      (SELECT count(*)::int FROM traffic_sources WHERE account_id = ${accountId} AND status <> 'archived') AS "trafficSources"`)
  return counts
}

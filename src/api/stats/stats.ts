import { setImmediate as nextTurn } from 'node:timers/promises'
import { daysDefault } from '../../../schema/range.ts'
import type { DailyQuery, StatsDaily, StatsOverview, StatsQuery } from '../../../schema/stats.ts'
import type { RouteContext } from '../../http/context.ts'
import { type CalendarBucket, calendarOf, type Interval } from '../../query/calendarIntervals.ts'
import { type ExactSums, noSums, readSums, type SumTexts, toMetrics } from '../../query/evaluateMetrics.ts'
import {
  type ComparedPlan,
  comparedRangeFields,
  countAtFields,
  type FactsCaller,
  type FactsPlan,
  lacksAllRows,
  planCompared,
} from '../../query/facts/plan.ts'
import { factsSettings, groupedSums } from '../../query/facts/sql.ts'
import { rangeTexts, toInstantText } from '../../query/timeRange.ts'
import { selectRows } from '../../stores/clickhouse/select.ts'
import type { ClickHouse } from '../../stores/cluster/connection.ts'
import { type Postgres, queryPostgres } from '../../stores/postgres/connection.ts'

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

/**
 * Executes a series.
 * @returns one row per unit of time, oldest first
 */
export async function runDaily({ stores }: RouteContext, plan: DailyPlan, signal: AbortSignal): Promise<StatsDaily> {
  const { interval, buckets, facts, compared, nowMs } = plan
  const [sums, comparedSums] = await Promise.all([
    readSeries(stores.clickhouse, facts, signal),
    compared && readSeries(stores.clickhouse, compared.facts, signal),
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
        ...toMetrics(sums.get(id) ?? noSums),
        ...(comparedSums && {
          previous: {
            id: counterpart !== null && interval === 'month' ? `${counterpart}-01` : counterpart,
            ...toMetrics(comparedSums.get(counterpart ?? '') ?? noSums),
          },
        }),
      }
    }),
    ...(compared && { previous: comparedRangeFields(compared, nowMs) }),
    ...plan.retained,
    dataThrough: plan.dataThrough,
    asOf: toInstantText(nowMs),
  }
  await nextTurn()
  return series
}

/** Executes an overview: totals of a time range, and the current number of resources of the account. */
export async function runOverview(
  { stores }: RouteContext,
  plan: ComparedPlan,
  signal: AbortSignal,
): Promise<StatsOverview> {
  const [totals, comparedTotals, resources] = await Promise.all([
    readTotals(stores.clickhouse, plan.facts, signal),
    plan.compared && readTotals(stores.clickhouse, plan.compared.facts, signal),
    countResources(stores.postgres, plan.accountId),
  ])
  return {
    ...rangeFields(plan),
    totals: toMetrics(totals),
    ...(plan.compared &&
      comparedTotals && {
        previous: {
          ...comparedRangeFields(plan.compared, plan.nowMs),
          totals: lacksAllRows(plan.compared.facts) ? null : toMetrics(comparedTotals),
        },
      }),
    resources,
    ...plan.retained,
    dataThrough: plan.dataThrough,
    asOf: toInstantText(plan.nowMs),
  }
}

/** @returns sums by bucket id */
async function readSeries(clickhouse: ClickHouse, plan: FactsPlan, signal: AbortSignal) {
  const options = { label: 'stats.daily', signal, settings: factsSettings(plan) }
  const rows = await selectRows<SumTexts & { id1: string }>(clickhouse, groupedSums(plan).statement, options)
  return new Map(rows.map((row) => [row.id1, readSums(row)]))
}

async function readTotals(clickhouse: ClickHouse, plan: FactsPlan, signal: AbortSignal): Promise<ExactSums> {
  const options = { label: 'stats.overview', signal, settings: factsSettings(plan) }
  // Sums without GROUP BY are one row.
  const [totals] = await selectRows<SumTexts>(clickhouse, groupedSums(plan).statement, options)
  return readSums(totals as SumTexts)
}

function rangeFields(plan: ComparedPlan) {
  return { ...rangeTexts(plan.range), tz: plan.tz, currency: plan.currency, ...countAtFields(plan) }
}

/** Counts the resources that are not archived. */
async function countResources(postgres: Postgres, accountId: string): Promise<StatsOverview['resources']> {
  // A SELECT without FROM returns one row.
  const [counts] = await queryPostgres(postgres<[StatsOverview['resources']]>`
    SELECT
      (SELECT count(*)::int FROM campaigns WHERE account_id = ${accountId} AND status <> 'archived') AS campaigns,
      (SELECT count(*)::int FROM offers WHERE account_id = ${accountId} AND status <> 'archived') AS offers,
      (SELECT count(*)::int FROM landing_pages WHERE account_id = ${accountId} AND status <> 'archived') AS "landingPages",
      (SELECT count(*)::int FROM traffic_sources WHERE account_id = ${accountId} AND status <> 'archived') AS "trafficSources"`)
  return counts
}

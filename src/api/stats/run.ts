import { type StatsDaily, StatsDay, type StatsOverview } from '../../../schema/stats.ts'
import type { RouteContext } from '../../http/context.ts'
import { type SumTexts, toMetrics } from '../../query/metrics.ts'
import { toInstantText } from '../../query/timeRange.ts'
import { toCsv } from '../../rows/csv.ts'
import type { CsvEscape } from '../../rows/csvEscape.ts'
import { selectRows, smallFinal } from '../../stores/clickhouse/select.ts'
import { type Postgres, queryPostgres } from '../../stores/postgres/connection.ts'
import type { StatsPlan } from './plan.ts'
import { dailySql, totalsSql } from './sql.ts'

/**
 * Asks for every day of a window.
 * @returns one row a local day, oldest first
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function runDaily({ stores }: RouteContext, plan: StatsPlan, signal: AbortSignal): Promise<StatsDaily> {
  const rows = await selectRows<{ startS: number } & SumTexts>(stores.clickhouse, dailySql(plan), {
    label: 'stats.daily',
    signal,
    settings: smallFinal,
  })
  const byStart = new Map(rows.map((row) => [row.startS * 1000, row]))
  return {
    ...windowOf(plan),
    data: plan.days.map(({ date, fromMs, untilMs }) => ({
      id: date,
      date,
      complete: untilMs <= plan.nowMs,
      ...toMetrics(byStart.get(fromMs) ?? {}),
    })),
    asOf: toInstantText(plan.nowMs),
  }
}

/**
 * Asks for the totals of a window, and for how much the account has set up, whatever the window.
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function runOverview(
  { stores }: RouteContext,
  plan: StatsPlan,
  signal: AbortSignal,
): Promise<StatsOverview> {
  const [rows, resources] = await Promise.all([
    selectRows<SumTexts>(stores.clickhouse, totalsSql(plan), {
      label: 'stats.overview',
      signal,
      settings: smallFinal,
    }),
    countResources(stores.postgres, plan.accountId),
  ])
  const [totals] = rows
  if (!totals) throw new Error('Sums without GROUP BY are always one row.')
  return { ...windowOf(plan), totals: toMetrics(totals), resources, asOf: toInstantText(plan.nowMs) }
}

function windowOf({ range, tz, currency }: StatsPlan) {
  return { from: toInstantText(range.fromMs), to: toInstantText(range.untilMs), tz, currency }
}

/** Counts what is not archived now. */
async function countResources(postgres: Postgres, accountId: string): Promise<StatsOverview['resources']> {
  const rows = await queryPostgres(
    postgres<StatsOverview['resources'][]>`
      SELECT
        (SELECT count(*)::int FROM campaigns WHERE account_id = ${accountId} AND status <> 'archived') AS campaigns,
        (SELECT count(*)::int FROM offers WHERE account_id = ${accountId} AND status <> 'archived') AS offers,
        (SELECT count(*)::int FROM landing_pages WHERE account_id = ${accountId} AND status <> 'archived') AS "landingPages",
        (SELECT count(*)::int FROM traffic_sources WHERE account_id = ${accountId} AND status <> 'archived') AS "trafficSources"`,
  )
  const [counts] = rows
  if (!counts) throw new Error('Counts without FROM are always one row.')
  return counts
}

/** Formats the rows of the response as CSV. */
export function dailyCsv({ data }: StatsDaily, csvEscape: CsvEscape): string {
  return toCsv(Object.keys(StatsDay.properties) as (keyof StatsDaily['data'][number])[], data, csvEscape)
}

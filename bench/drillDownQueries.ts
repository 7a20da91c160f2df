import { ch, type Fragment, identifier, instant, join, nothing, text } from '../src/stores/clickhouse/sql.ts'
import { benchAccount, benchNowMs } from './data.ts'
import type { ReadQuery } from './readQueries.ts'

const dayMs = 86_400_000
const untilMs = Math.floor(benchNowMs / dayMs) * dayMs + dayMs
const account = text(benchAccount)

/** Reports with several dimensions, filters and local time, one for each table that the planner selects. */
export function drillDownQueries(): ReadQuery[] {
  return [
    {
      ...query('country × day, 90 days', 'group_by=country,day&days=90'),
      bare: sums('sums_by_day', ['value', 'day'], 90),
      inPostgres: inPostgres(['country', "date_trunc('day', clicked_at AT TIME ZONE 'UTC')"], 90),
    },
    {
      ...query('campaign × country, 30 days', 'group_by=campaign,country&days=30'),
      bare: sums('sums_by_day_and_campaign', ['campaign_id', 'value'], 30),
      inPostgres: inPostgres(['campaign_id', 'country'], 30),
    },
    query(
      'campaign × country, 30 days, with the 30 days before',
      'group_by=campaign,country&days=30&compare=previous_period',
    ),
    ...[30, 365].flatMap((days) => [
      {
        ...query(`country × device, ${days} days`, `group_by=country,device&days=${days}`),
        bare: rows(['country', 'device'], days),
        inPostgres: inPostgres(['country', 'device'], days),
        isCounted: true,
      },
      {
        ...query(`country × device, ${days} days, one country`, `group_by=country,device&days=${days}&country=DE`),
        bare: rows(['country', 'device'], days, ch`country = 'DE'`),
        isCounted: true,
      },
    ]),
    {
      ...query('sub1 × campaign, 30 days', 'group_by=sub1,campaign&days=30'),
      bare: rows(['sub1', 'campaign_id'], 30),
      inPostgres: inPostgres(['sub1', 'campaign_id'], 30),
    },
    query('sub1 × campaign, 30 days, by EPC', 'group_by=sub1,campaign&days=30&sort=-epc'),
    query('referrer domain, 30 days', 'group_by=referrer_domain&days=30'),
    {
      ...query('hour, 7 days in Asia/Kathmandu', 'group_by=hour&days=7&tz=Asia/Kathmandu'),
      bare: ch`
SELECT toStartOfHour(addMinutes(bucket, 345)) AS hour, sum(clicks) AS clicks, sum(cost) AS cost
FROM sums_by_quarter_hour
WHERE account_id = ${account}
  AND bucket >= ${instant(untilMs - 7 * dayMs - 345 * 60_000)} AND bucket < ${instant(untilMs - 345 * 60_000)}
GROUP BY hour`,
      isCounted: true,
    },
    query('weekday × hour, 90 days in America/New_York', 'group_by=weekday,hour_of_day&days=90&tz=America/New_York'),
  ]
}

function query(name: string, parameters: string): ReadQuery {
  return { name, account: benchAccount, path: `/reports?${parameters}` }
}

/** Clicks and cost alone, from a sums table. */
function sums(table: string, groups: readonly string[], days: number): Fragment {
  const columns = join(groups.map(identifier), ', ')
  return ch`
SELECT ${columns}, sum(clicks) AS clicks, sum(cost) AS cost
FROM ${identifier(table)}
WHERE account_id = ${account}
  AND dimension = 'country'
  AND day >= toDate(${instant(untilMs - days * dayMs)}) AND day < toDate(${instant(untilMs)})
GROUP BY ${columns}
ORDER BY clicks DESC, ${columns}
LIMIT 1000`
}

/** Clicks and cost alone, from the rows. */
function rows(groups: readonly string[], days: number, filter?: Fragment): Fragment {
  const columns = join(groups.map(identifier), ', ')
  return ch`
SELECT ${columns}, count() AS clicks, sum(cost_base) AS cost
FROM clicks
WHERE account_id = ${account}
  AND clicked_at >= ${instant(untilMs - days * dayMs)} AND clicked_at < ${instant(untilMs)}
  AND NOT is_bot AND NOT is_test${filter ? ch` AND ${filter}` : nothing}
GROUP BY ${columns}
ORDER BY clicks DESC, ${columns}
LIMIT 1000`
}

function inPostgres(groups: readonly string[], days: number): NonNullable<ReadQuery['inPostgres']> {
  return {
    text: `
      SELECT ${groups.join(', ')}, count(*)::float8 AS clicks, sum(cost_base)::float8 AS cost
      FROM clicks
      WHERE account_id = $1 AND clicked_at >= $2 AND clicked_at < $3 AND NOT is_bot AND NOT is_test
      GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 1000`,
    values: [benchAccount, new Date(untilMs - days * dayMs), new Date(untilMs)],
  }
}

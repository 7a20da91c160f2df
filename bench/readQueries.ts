import { planClicks } from '../src/api/clicks/routes.ts'
import { writeCursor } from '../src/query/pagination.ts'
import { ch, type Fragment, identifier, instant, join, text } from '../src/stores/clickhouse/sql.ts'
import { benchAccount, benchNowMs, searchedAccount } from './data.ts'
import type { PostgresQuery } from './postgres.ts'

/** A request to the API, and the same query without the API. */
export interface ReadQuery {
  name: string
  account: string
  /** Below /api/v1. */
  path: string
  bare?: Fragment
  raw?: Fragment
  inPostgres?: PostgresQuery
  /** Whether the baselines must count the same `clicks` as the response. */
  isCounted?: boolean
}

const account = text(benchAccount)
const dayMs = 86_400_000
const untilMs = Math.floor(benchNowMs / dayMs) * dayMs + dayMs
const sinceMs = (days: number) => untilMs - days * dayMs

/** The queries that documents show. */
export function readQueries(): ReadQuery[] {
  return [
    ...[30, 365].flatMap((days) => ['country', 'offer', 'campaign'].map((dimension) => report(dimension, days))),
    daily('Asia/Kathmandu', 90),
    {
      ...drillDown('campaign × country, 30 days', ['campaign_id', 'country'], 'campaign,country', 30),
      bare: sums('sums_by_day_and_campaign', ch`campaign_id, value`, 'country', 30),
    },
    ...[30, 365].map((days) => ({
      ...drillDown(`country × device, ${days} days`, ['country', 'device'], 'country,device', days),
      bare: rows(['country', 'device'], days),
      isCounted: true,
    })),
    reportOf('event × campaign, 30 days', 'event_name,campaign', 30),
    reportOf('campaign at the click, 30 days', 'campaign', 30, '&count_at=click'),
    ...[30, 365].map((days) =>
      reportOf(`visitors by country, ${days} days`, 'country', days, '&metrics=clicks,visitors'),
    ),
    ...[0, 100_000].map((offset) => reportOf(`sub1 × sub2, rows from ${offset}`, 'sub1,sub2', 30, `&offset=${offset}`)),
    page('unfiltered, first page', {}),
    page('unfiltered, last page', {}, benchNowMs - 364 * dayMs),
    page('converted, first page', { converted: 'true' }),
    // The largest of 60 campaigns has a quarter of the clicks, this one 1 in 170.
    page('rare campaign, first page', { campaign_id: 'cmp-50' }),
    search('nowhere', 'no such text'),
    search('everywhere', 'cnv_clk_'),
    search('one in 3,000', 'placement-1234'),
    search('one id', 'txn-80'),
  ]
}

function report(dimension: string, days: number): ReadQuery {
  return {
    ...reportOf(`report by ${dimension}, ${days} days`, dimension, days),
    bare: sums('sums_by_day', ch`value`, dimension, days),
    ...(dimension === 'country' && { raw: rows([dimension], days), inPostgres: inPostgres([dimension], days) }),
    isCounted: true,
  }
}

function reportOf(name: string, dimensions: string, days: number, more = ''): ReadQuery {
  return { name, account: benchAccount, path: `/reports?group_by=${dimensions}&days=${days}${more}` }
}

function drillDown(name: string, columns: readonly string[], dimensions: string, days: number): ReadQuery {
  return { ...reportOf(name, dimensions, days), inPostgres: inPostgres(columns, days) }
}

/** Only clicks and cost, from a sums table: the minimum that a report has to read. */
function sums(table: string, columns: Fragment, dimension: string, days: number): Fragment {
  return ch`
SELECT ${columns}, sum(clicks) AS clicks, sum(cost) AS cost
FROM ${identifier(table)}
WHERE account_id = ${account}
  AND dimension = ${text(dimension)}
  AND day >= toDate(${instant(sinceMs(days))}) AND day < toDate(${instant(untilMs)})
GROUP BY ${columns}
ORDER BY clicks DESC, ${columns}
LIMIT 1000`
}

/** The same from the rows. */
function rows(groups: readonly string[], days: number): Fragment {
  const columns = join(groups.map(identifier), ', ')
  return ch`
SELECT ${columns}, count() AS clicks, sum(cost_base) AS cost
FROM clicks
WHERE account_id = ${account}
  AND clicked_at >= ${instant(sinceMs(days))} AND clicked_at < ${instant(untilMs)}
  AND NOT is_bot AND NOT is_test
GROUP BY ${columns}
ORDER BY clicks DESC, ${columns}
LIMIT 1000`
}

function inPostgres(groups: readonly string[], days: number): PostgresQuery {
  return {
    text: `
      SELECT ${groups.join(', ')}, count(*)::float8 AS clicks, sum(cost_base)::float8 AS cost
      FROM clicks
      WHERE account_id = $1 AND clicked_at >= $2 AND clicked_at < $3 AND NOT is_bot AND NOT is_test
      GROUP BY ${groups.join(', ')} ORDER BY clicks DESC, ${groups.join(', ')} LIMIT 1000`,
    values: [benchAccount, new Date(sinceMs(days)), new Date(untilMs)],
  }
}

function daily(tz: string, days: number): ReadQuery {
  return {
    name: `daily, ${days} days in ${tz}`,
    account: benchAccount,
    path: `/stats/daily?days=${days}&tz=${tz}`,
    bare: ch`
SELECT toDate(bucket, ${text(tz)}) AS date, sum(clicks) AS clicks, sum(cost) AS cost
FROM sums_by_quarter_hour
WHERE account_id = ${account}
  AND bucket >= toStartOfDay(${instant(benchNowMs - (days - 1) * dayMs)}, ${text(tz)})
  AND bucket < toStartOfDay(${instant(benchNowMs + dayMs)}, ${text(tz)})
GROUP BY date
ORDER BY date`,
    inPostgres: {
      text: `
        SELECT date_trunc('day', clicked_at AT TIME ZONE $2) AS date, count(*)::float8 AS clicks, sum(cost_base)::float8 AS cost
        FROM clicks
        WHERE account_id = $1
          AND clicked_at >= (date_trunc('day', $3::timestamptz AT TIME ZONE $2) - interval '${days - 1} days') AT TIME ZONE $2
          AND clicked_at < (date_trunc('day', $3::timestamptz AT TIME ZONE $2) + interval '1 day') AT TIME ZONE $2
          AND NOT is_bot AND NOT is_test
        GROUP BY 1 ORDER BY 1`,
      values: [benchAccount, tz, new Date(benchNowMs)],
    },
    isCounted: true,
  }
}

/** @param atMs time at which the page ends; by default the page is the first one */
function page(name: string, filter: Record<string, string>, atMs?: number): ReadQuery {
  const parameters = { limit: '200', ...filter, ...(atMs !== undefined && { cursor: cursorAt(atMs) }) }
  const isConverted = filter.converted === 'true'
  const { campaign_id: campaign } = filter
  return {
    name: `clicks, 200, ${name}`,
    account: benchAccount,
    path: `/clicks?${new URLSearchParams(parameters)}`,
    ...(Object.keys(filter).length === 0 && {
      bare: ch`
SELECT *
FROM clicks
WHERE account_id = ${account} AND clicked_at <= ${instant(atMs ?? untilMs)}
ORDER BY clicked_at DESC, id DESC
LIMIT 201`,
    }),
    inPostgres: {
      text: `
        SELECT * FROM clicks
        WHERE account_id = $1 AND clicked_at <= $2${campaign ? ' AND campaign_id = $3' : ''}${isConverted ? convertedInPostgres : ''}
        ORDER BY clicked_at DESC, id DESC LIMIT 201`,
      values: [benchAccount, new Date(atMs ?? untilMs), ...(campaign ? [campaign] : [])],
    },
  }
}

const convertedInPostgres = `
  AND EXISTS (SELECT FROM conversions AS c WHERE c.account_id = $1 AND c.click_id = clicks.id AND NOT c.is_test)`

const caller = { accountId: benchAccount, currency: 'USD', view: null, retained: { clicksMs: 0, eventsMs: 0 } }

/** The cursor of an unfiltered page that ends at that time. */
function cursorAt(atMs: number): string {
  return writeCursor({ atMs, id: 'zzzz' }, planClicks({}, caller, benchNowMs).boundTo)
}

function search(name: string, q: string): ReadQuery {
  const pattern = `%${q.replaceAll('_', '\\_')}%`
  return {
    name: `search, 50, ${name}`,
    account: searchedAccount,
    path: `/conversions/search?q=${encodeURIComponent(q)}`,
    bare: ch`
SELECT *
FROM conversions
WHERE account_id = ${text(searchedAccount)} AND search_text LIKE ${text(pattern)}
ORDER BY converted_at DESC, id DESC
LIMIT 51`,
    inPostgres: {
      text: `
        SELECT * FROM conversions
        WHERE account_id = $1 AND search_text LIKE $2 AND NOT is_test
        ORDER BY converted_at DESC, id DESC LIMIT 51`,
      values: [searchedAccount, pattern],
    },
  }
}

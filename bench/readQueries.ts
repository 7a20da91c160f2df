import { planClicks } from '../src/api/clicks/plan.ts'
import { writeCursor } from '../src/query/pagination.ts'
import { ch, type Fragment, identifier, instant, nothing, text } from '../src/stores/clickhouse/sql.ts'
import { benchAccount, benchNowMs, searchedAccount } from './data.ts'
import { drillDownQueries } from './drillDownQueries.ts'
import type { PostgresQuery } from './postgres.ts'

export const stages = ['reports', 'drill-down', 'stats', 'lists', 'search', 'cached', 'isolation'] as const
export type Stage = (typeof stages)[number]

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
/** The largest of 60 campaigns has a quarter of the clicks, this one 1 in 170. */
const rareCampaign = 'cmp-50'

export function readQueries(stage: Stage): ReadQuery[] {
  if (stage === 'reports') return reports()
  if (stage === 'drill-down') return drillDownQueries()
  if (stage === 'stats') return stats()
  if (stage === 'lists') return lists()
  return stage === 'search' ? searches() : []
}

/** Columns of dimensions in the rows; sums tables use the names of the API. */
const columnOf: Record<string, string> = {
  campaign: 'campaign_id',
  country: 'country',
  device: 'device',
  os: 'os',
  browser: 'browser',
  offer: 'offer_id',
  landing: 'landing_page_id',
  traffic_source: 'traffic_source_id',
  day: 'clicked_at',
}

const dimensions = Object.keys(columnOf)

function reports(): ReadQuery[] {
  return [7, 30, 365].flatMap((days) =>
    dimensions.flatMap((dimension) =>
      [undefined, rareCampaign].map((campaign) => ({
        name: `report by ${dimension}, ${days} days${campaign ? ', one campaign' : ''}`,
        account: benchAccount,
        path: `/reports?group_by=${dimension}&days=${days}${campaign ? `&campaign_id=${campaign}` : ''}`,
        bare: bareReport(dimension, days, campaign),
        ...(dimension === 'country' && {
          raw: rawReport(dimension, days, campaign),
          inPostgres: postgresReport(dimension, days, campaign),
        }),
        isCounted: true,
      })),
    ),
  )
}

/** Only clicks and cost, from the sums table: the minimum that a report has to read. */
function bareReport(dimension: string, days: number, campaign: string | undefined): Fragment {
  const isByDay = dimension === 'day'
  const isFromCampaigns = campaign !== undefined && !isByDay && dimension !== 'campaign'
  const inSumsTable = isByDay ? (campaign === undefined ? 'device' : 'campaign') : dimension
  const ofCampaign = ch`
  AND ${identifier(isFromCampaigns ? 'campaign_id' : 'value')} = ${text(campaign ?? '')}`
  return ch`
SELECT ${isByDay ? ch`toString(day)` : ch`value`} AS id, sum(clicks) AS clicks, sum(cost) AS cost
FROM ${identifier(isFromCampaigns ? 'sums_by_day_and_campaign' : 'sums_by_day')}
WHERE account_id = ${account}
  AND dimension = ${text(inSumsTable)}
  AND day >= toDate(${instant(sinceMs(days))}) AND day < toDate(${instant(untilMs)})${campaign ? ofCampaign : nothing}
GROUP BY id
ORDER BY clicks DESC, id
LIMIT 1000`
}

function rawReport(dimension: string, days: number, campaign: string | undefined): Fragment {
  const ofCampaign = ch` AND campaign_id = ${text(campaign ?? '')}`
  return ch`
SELECT ${identifier(columnOf[dimension] ?? '')} AS id, count() AS clicks, sum(cost_base) AS cost
FROM clicks
WHERE account_id = ${account}
  AND clicked_at >= ${instant(sinceMs(days))} AND clicked_at < ${instant(untilMs)}
  AND NOT is_bot AND NOT is_test${campaign ? ofCampaign : nothing}
GROUP BY id
ORDER BY clicks DESC, id
LIMIT 1000`
}

function postgresReport(dimension: string, days: number, campaign: string | undefined): PostgresQuery {
  return {
    text: `
      SELECT ${columnOf[dimension]} AS id, count(*)::float8 AS clicks, sum(cost_base)::float8 AS cost
      FROM clicks
      WHERE account_id = $1 AND clicked_at >= $2 AND clicked_at < $3
        AND NOT is_bot AND NOT is_test${campaign ? ' AND campaign_id = $4' : ''}
      GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 1000`,
    values: [benchAccount, new Date(sinceMs(days)), new Date(untilMs), ...(campaign ? [campaign] : [])],
  }
}

function stats(): ReadQuery[] {
  return ['UTC', 'Asia/Kathmandu', 'America/New_York'].flatMap((tz) =>
    [7, 30, 90].flatMap((days) => [
      {
        name: `daily, ${days} days in ${tz}`,
        account: benchAccount,
        path: `/stats/daily?days=${days}&tz=${tz}`,
        bare: ch`
SELECT toDate(bucket, ${text(tz)}) AS date, sum(clicks) AS clicks, sum(cost) AS cost
FROM sums_by_quarter_hour
WHERE account_id = ${account}
  AND bucket >= toStartOfDay(${instant(benchNowMs)}, ${text(tz)}) - toIntervalDay(${literalOf(days - 1)})
  AND bucket < toStartOfDay(${instant(benchNowMs)}, ${text(tz)}) + toIntervalDay(1)
GROUP BY date
ORDER BY date`,
        ...(days === 90 && {
          inPostgres: {
            text: `
              SELECT date_trunc('day', clicked_at AT TIME ZONE $2) AS date, count(*)::float8 AS clicks,
                sum(cost_base)::float8 AS cost
              FROM clicks
              WHERE account_id = $1
                AND clicked_at >= (date_trunc('day', $3::timestamptz AT TIME ZONE $2) - interval '89 days') AT TIME ZONE $2
                AND clicked_at < (date_trunc('day', $3::timestamptz AT TIME ZONE $2) + interval '1 day') AT TIME ZONE $2
                AND NOT is_bot AND NOT is_test
              GROUP BY 1 ORDER BY 1`,
            values: [benchAccount, tz, new Date(benchNowMs)],
          },
        }),
        isCounted: true,
      },
      {
        name: `overview, ${days} days in ${tz}`,
        account: benchAccount,
        path: `/stats/overview?days=${days}&tz=${tz}`,
      },
    ]),
  )
}

/** A whole number as a literal. */
function literalOf(days: number): Fragment {
  return { parts: [`${days}`], holes: [] }
}

const depths = [
  ['first', undefined],
  ['middle', benchNowMs - 182 * dayMs],
  ['last', benchNowMs - 364 * dayMs],
] as const

function lists(): ReadQuery[] {
  const filters: Record<string, Record<string, string>> = {
    unfiltered: {},
    'one campaign': { campaign_id: 'cmp-5' },
    'rare campaign': { campaign_id: rareCampaign },
    'one country': { country: 'DE' },
    'a sub id of one click in 100,000': { sub3: 'rare' },
    converted: { converted: 'true' },
    'not converted': { converted: 'false' },
    'not converted, rare campaign': { converted: 'false', campaign_id: rareCampaign },
    'converted, rare campaign': { converted: 'true', campaign_id: rareCampaign },
  }
  const pages = Object.entries(filters).flatMap(([name, filter]) =>
    depths.map(([depth, atMs]) => ({
      name: `clicks, 200, ${name}, ${depth} page`,
      account: benchAccount,
      path: `/clicks?${new URLSearchParams({ limit: '200', ...filter, ...(atMs && { cursor: cursorAt(atMs, filter) }) })}`,
      ...(name === 'unfiltered' && {
        bare: ch`
SELECT *
FROM clicks
WHERE account_id = ${account} AND clicked_at <= ${instant(atMs ?? untilMs)}
ORDER BY clicked_at DESC, id DESC
LIMIT 201`,
      }),
      inPostgres: postgresPage(atMs ?? untilMs, filter),
    })),
  )
  return [
    ...pages,
    { name: 'conversions, 200, first page', account: benchAccount, path: '/conversions?limit=200' },
    {
      name: 'conversions, 200, pending, first page',
      account: benchAccount,
      path: '/conversions?limit=200&status=pending',
    },
    { name: 'one campaign', account: benchAccount, path: '/campaigns/cmp-5' },
  ]
}

const caller = { accountId: benchAccount, currency: 'USD', retained: { clicksMs: 0, eventsMs: 0 } }

/** The cursor of a page that ends at that time. */
function cursorAt(atMs: number, filter: Record<string, string>): string {
  const query = { ...filter, ...(filter.converted && { converted: filter.converted === 'true' }) } as Parameters<
    typeof planClicks
  >[0]
  const { fingerprint: boundTo } = planClicks(query, caller, benchNowMs)
  return writeCursor({ atMs, id: 'zzzz' }, boundTo)
}

function postgresPage(atMs: number, filter: Record<string, string>): PostgresQuery {
  const columns = Object.keys(filter).filter((name) => name !== 'converted')
  return {
    text: `
      SELECT * FROM clicks
      WHERE account_id = $1 AND clicked_at <= $2${columns.map((column, index) => ` AND ${column} = $${index + 3}`).join('')}${
        filter.converted
          ? ` AND ${filter.converted === 'true' ? '' : 'NOT '}EXISTS (SELECT 1 FROM conversions c WHERE c.account_id = $1 AND c.click_id = clicks.id AND NOT c.is_test)`
          : ''
      }
      ORDER BY clicked_at DESC, id DESC LIMIT 201`,
    values: [benchAccount, new Date(atMs), ...columns.map((column) => filter[column] ?? '')],
  }
}

function searches(): ReadQuery[] {
  const texts: Record<string, string> = {
    'two characters, nowhere': 'qz',
    nowhere: 'no such text',
    'two characters, in one of 140': 'np',
    'two characters, everywhere': 'cm',
    everywhere: 'cnv_clk_',
    'one in 500': 'save17',
    'one in 3,000': 'placement-1234',
    'one in 20,000': 'a7f3e',
    'a campaign by its name': 'cmp number 50',
    'one id': 'txn-80',
  }
  return Object.entries(texts).map(([name, q]) => ({
    name: `search, 50, ${name}`,
    account: searchedAccount,
    path: `/conversions/search?q=${encodeURIComponent(q)}`,
    bare: ch`
SELECT *
FROM conversions
WHERE account_id = ${text(searchedAccount)} AND search_text LIKE ${text(`%${q.replaceAll('_', '\\_')}%`)}
ORDER BY converted_at DESC, id DESC
LIMIT 51`,
    inPostgres: {
      text: `
        SELECT * FROM conversions
        WHERE account_id = $1 AND search_text LIKE $2 AND NOT is_test
        ORDER BY converted_at DESC, id DESC LIMIT 51`,
      values: [searchedAccount, `%${q.replaceAll('_', '\\_')}%`],
    },
  }))
}

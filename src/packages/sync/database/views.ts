import { subIdNames } from '../source/resources.ts'
import type { Dialect, TableFunction } from './database.ts'

const named = (...names: string[]) => Object.fromEntries(names.map((name) => [name, name]))

/** Dimensions of `report` by the rows that have a value, and the column of each. */
const ofCosts: Readonly<Record<string, string>> = {
  campaign: 'campaign_id',
  offer: 'offer_id',
  landing: 'landing_page_id',
  traffic_source: 'traffic_source_id',
  ...named('country', 'device', 'os', 'browser', ...subIdNames),
}
const ofClicks = {
  ...ofCosts,
  language: 'language_tag',
  ...named('region', 'city', 'os_version', 'browser_version', 'referrer_domain'),
  ...named('utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'),
}
const ofConversions = { ...ofClicks, ...named('status', 'source', 'event_name', 'coupon_code') }
/** An event `e` has the others of its click `c`. */
const ofEvents = {
  ...Object.fromEntries(Object.entries(ofClicks).map(([name, column]) => [name, `c.${column}`])),
  campaign: 'coalesce(e.campaign_id, c.campaign_id)',
  event_name: 'e.event_name',
  event_origin: 'e.origin',
}

/** Dimensions with the present value of the entity of a row. */
const ofEntities = (schema: string): Readonly<Record<string, string>> => ({
  traffic_source_category: `(SELECT t.category FROM ${schema}.traffic_sources AS t WHERE t.id = traffic_source_id)`,
  affiliate_network: `(SELECT o.affiliate_network FROM ${schema}.offers AS o WHERE o.id = offer_id)`,
})

/** Tables with the names of values. */
const nameTables = {
  campaign: 'campaigns',
  offer: 'offers',
  landing: 'landing_pages',
  traffic_source: 'traffic_sources',
  country: 'countries',
}

/** Dimensions of time in UTC. @param at a timestamp without time zone */
function timeBuckets({ dayText, timeText }: Dialect, at: string): Readonly<Record<string, string>> {
  return {
    day: dayText(at),
    hour: `left(${timeText(at)}, 13) || ':00+00:00'`,
    week: dayText(`date_trunc('week', ${at})`),
    month: `left(${dayText(at)}, 7)`,
    hour_of_day: `substr(${timeText(at)}, 12, 2)`,
    weekday: `extract(isodow FROM ${at})::int::text`,
  }
}

const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

const metricColumns = `clicks bigint, conversions bigint, revenue numeric, pending_conversions bigint, hold_conversions bigint,
  declined_conversions bigint, refunded_conversions bigint, pending_revenue numeric, refunded_revenue numeric, cost numeric,
  profit numeric, roi numeric, cr numeric, epc numeric, cpa numeric, cpc numeric, aov numeric`

/** Sums over rows of a bucket; rows of other kinds have a weight of zero. */
const sums = `coalesce(sum(f.clicks), 0)::bigint AS clicks, coalesce(sum(f.cost), 0)::numeric(38, 6) AS cost,
    count(*) FILTER (WHERE f.status = 'approved') AS conversions,
    coalesce(sum(f.revenue) FILTER (WHERE f.status = 'approved'), 0)::numeric(38, 6) AS revenue,
    count(*) FILTER (WHERE f.status = 'pending') AS pending_conversions,
    count(*) FILTER (WHERE f.status = 'hold') AS hold_conversions,
    count(*) FILTER (WHERE f.status = 'declined') AS declined_conversions,
    count(*) FILTER (WHERE f.status IN ('refunded', 'chargeback')) AS refunded_conversions,
    coalesce(sum(f.revenue) FILTER (WHERE f.status IN ('pending', 'hold')), 0)::numeric(38, 6) AS pending_revenue,
    coalesce(sum(f.revenue) FILTER (WHERE f.status IN ('refunded', 'chargeback')), 0)::numeric(38, 6) AS refunded_revenue`

/** Condition on a group: it counts a row, or has a cost. */
const isBucket = 'sum(f.clicks) > 0 OR count(f.status) > 0 OR sum(f.cost) <> 0 OR count(f.unit) > 0'

/** The metrics of a row of sums, in the order of `metricColumns`. */
function metricsIn(schema: string): string {
  return `s.clicks, s.conversions, s.revenue, s.pending_conversions, s.hold_conversions, s.declined_conversions,
    s.refunded_conversions, s.pending_revenue, s.refunded_revenue, s.cost, s.revenue - s.cost AS profit,
    ${schema}.ratio((s.revenue - s.cost) * 100, s.cost) AS roi, ${schema}.ratio(s.conversions * 100, s.clicks) AS cr,
    ${schema}.ratio(s.revenue, s.clicks) AS epc, ${schema}.ratio(s.cost, s.conversions) AS cpa,
    ${schema}.ratio(s.cost, s.clicks) AS cpc, ${schema}.ratio(s.revenue, s.conversions) AS aov`
}

export const viewNames = ['click_details', 'conversion_details', 'cost_details', 'event_details'] as const

/** Statements that create the views and functions; each may run again. */
export function viewStatements(dialect: Dialect, schema: string): string[] {
  return [
    `CREATE OR REPLACE VIEW ${schema}.click_details AS
    SELECT c.*, ca.name AS campaign_name, o.name AS offer_name, l.name AS landing_page_name, t.name AS traffic_source_name,
      v.conversion_count > 0 AS converted, v.conversion_count
    FROM ${schema}.clicks AS c
    ${entityJoins(schema)}
    CROSS JOIN LATERAL (
      SELECT count(*) AS conversion_count FROM ${schema}.conversions AS v WHERE v.click_id = c.id AND NOT v.is_test
    ) AS v`,
    ...['conversion', 'cost'].map(
      (name) => `CREATE OR REPLACE VIEW ${schema}.${name}_details AS
    SELECT c.*, ca.name AS campaign_name, o.name AS offer_name, l.name AS landing_page_name, t.name AS traffic_source_name
    FROM ${schema}.${name}s AS c
    ${entityJoins(schema)}`,
    ),
    `CREATE OR REPLACE VIEW ${schema}.event_details AS
    SELECT e.*, ca.name AS campaign_name
    FROM ${schema}.events AS e
    LEFT JOIN ${schema}.campaigns AS ca ON ca.id = e.campaign_id`,
    dialect.ratioStatement(schema),
    ...dialect.tableFunctionStatements(schema, 'report', [
      report(dialect, schema),
      atClick(report(dialect, schema, true)),
      atClick(report(dialect, schema, true, true), [{ name: 'event', type: 'text' }]),
    ]),
    ...dialect.tableFunctionStatements(schema, 'daily', [daily(schema), atClick(daily(schema, true))]),
  ]
}

/** @returns the variant with the parameter `count_at`; all of its parameters are required, so that calls of the other one mean that one */
function atClick(
  { parameters, refused, ...rest }: TableFunction,
  more: TableFunction['parameters'] = [],
): TableFunction {
  const isUnknown = "count_at IS NULL OR count_at NOT IN ('conversion', 'click')"
  const message = `'Unknown count_at ' || coalesce(count_at, 'NULL') || '; use conversion or click.'`
  return {
    ...rest,
    parameters: [...parameters.map(({ name, type }) => ({ name, type })), { name: 'count_at', type: 'text' }, ...more],
    refused: refused
      ? {
          condition: `${refused.condition} OR ${isUnknown}`,
          message: `CASE WHEN ${refused.condition} THEN ${refused.message} ELSE ${message} END`,
        }
      : { condition: isUnknown, message },
  }
}

/**
 * @param hasCountAt whether the parameter `count_at` says when conversions count
 * @param hasEvents whether it counts the events that the parameter `event` names; NULL: all
 */
function report(dialect: Dialect, schema: string, hasCountAt = false, hasEvents = false): TableFunction {
  const names = [
    ...Object.keys({ ...ofConversions, ...ofEvents, ...ofEntities(schema) }),
    ...Object.keys(timeBuckets(dialect, '')),
  ]
  const withEvents = (list: string) => (hasEvents ? list : '')
  const when = (values: Readonly<Record<string, string>>) =>
    Object.entries(values)
      .map(([name, value]) => `WHEN '${name}' THEN ${value}`)
      .join(' ')
  const nameOf = Object.entries(nameTables).map(
    ([name, table]) =>
      [name, `(SELECT ${dialect.shownText('t.name')} FROM ${schema}.${table} AS t WHERE t.id = s.bucket)`] as const,
  )
  const weekdayOf = Object.fromEntries(weekdays.map((name, index) => [index + 1, `'${name}'`]))
  const nameCases = when({ ...Object.fromEntries(nameOf), weekday: `CASE s.bucket ${when(weekdayOf)} END` })
  // A stored text `(not set)` is an absent value, as in the API.
  const bucket: BucketOf = (time, columns, other = 'NULL') =>
    `nullif(CASE dimension ${when({ ...columns, ...ofEntities(schema), ...timeBuckets(dialect, `(${time} AT TIME ZONE 'UTC')`) })} ELSE ${other} END, '(not set)')`
  return {
    parameters: [
      { name: 'dimension', type: 'text' },
      { name: 'from_time', type: 'timestamptz' },
      { name: 'until_time', type: 'timestamptz' },
    ],
    columns: `id text, name text, ${metricColumns}${withEvents(', events bigint, event_visitors bigint')}`,
    refused: {
      condition: `dimension IS NULL OR NOT (dimension IN (${names.map((name) => `'${name}'`).join(', ')}) OR ${isProperty})`,
      message: `'Unknown dimension ' || coalesce(dimension, 'NULL') || '; use one of ${names.join(', ')}, property:NAME.'`,
    },
    select: `SELECT coalesce(s.bucket, '(not set)') AS id,
        CASE WHEN s.bucket IS NULL THEN '(not set)' ELSE CASE dimension ${nameCases} ELSE s.bucket END END AS name,
        ${metricsIn(schema)}${withEvents(', s.events, s.event_visitors')}
      FROM (
        SELECT ${dialect.shownText('f.bucket')} AS bucket, ${sums}${withEvents(', count(f.unit) AS events, count(DISTINCT f.unit) AS event_visitors')}
        FROM (${facts(schema, 'from_time::timestamptz', 'until_time::timestamptz', bucket, hasCountAt, hasEvents)}) AS f
        GROUP BY 1
        HAVING ${isBucket}
      ) AS s
      ORDER BY s.clicks DESC, coalesce(s.bucket, '(not set)') COLLATE "C"`,
  }
}

/** By default the last 30 days, including today, as in the API. */
function daily(schema: string, hasCountAt = false): TableFunction {
  const lastDay = 'coalesce(last_day::date, (now() AT TIME ZONE tz)::date)'
  const firstDay = `coalesce(first_day::date, ${lastDay} - 29)`
  // A day more on both sides: PostgreSQL and DuckDB take the later of two midnights of a day, the API the earlier.
  const [from, until] = [`(${firstDay} - 1)::timestamp AT TIME ZONE tz`, `(${lastDay} + 2)::timestamp AT TIME ZONE tz`]
  return {
    parameters: [
      { name: 'tz', type: 'text' },
      { name: 'first_day', type: 'date', default: 'NULL' },
      { name: 'last_day', type: 'date', default: 'NULL' },
    ],
    columns: `day date, ${metricColumns}`,
    select: `SELECT s.day, ${metricsIn(schema)}
      FROM (
        SELECT g.day, ${sums}
        FROM (SELECT d.day::date AS day FROM generate_series(${firstDay}::timestamp, ${lastDay}::timestamp, INTERVAL '1 day') AS d(day)) AS g
        LEFT JOIN (${facts(schema, from, until, (time) => `(${time} AT TIME ZONE tz)::date`, hasCountAt)}) AS f ON f.bucket = g.day
        GROUP BY g.day
      ) AS s
      ORDER BY s.day`,
  }
}

/** Returns the bucket of a row by its time and the columns of its dimensions, else another value. */
type BucketOf = (time: string, columns: Readonly<Record<string, string>>, other?: string) => string

const isProperty = "dimension ~ '^property:[A-Za-z0-9_.-]{1,64}$'"

/** The facts of a range that reports count. */
function facts(
  schema: string,
  from: string,
  until: string,
  bucketOf: BucketOf,
  hasCountAt: boolean,
  hasEvents = false,
) {
  const countedAt = hasCountAt
    ? "CASE WHEN count_at = 'click' THEN coalesce(clicked_at, converted_at) ELSE converted_at END"
    : 'converted_at'
  const property = `CASE WHEN ${isProperty} THEN nullif((e.properties ->> substr(dimension, 10)), '') END`
  const events = `
      UNION ALL
      SELECT ${bucketOf('e.occurred_at', ofEvents, property)}, 0, 0, NULL, 0,
        coalesce('visitor ' || coalesce(e.visitor_id, c.visitor_id), 'click ' || coalesce(e.click_id, ''))
      FROM ${schema}.events AS e LEFT JOIN ${schema}.clicks AS c ON c.id = e.click_id
      WHERE e.occurred_at >= ${from} AND e.occurred_at < ${until} AND (event IS NULL OR e.event_name = event)
        AND NOT coalesce(c.is_bot OR c.is_test, false)`
  return `
      SELECT ${bucketOf('clicked_at', ofClicks)} AS bucket, 1 AS clicks, coalesce(cost_base, 0) AS cost, NULL AS status, 0 AS revenue, NULL AS unit
      FROM ${schema}.clicks
      WHERE clicked_at >= ${from} AND clicked_at < ${until} AND NOT is_bot AND NOT is_test
      UNION ALL
      SELECT ${bucketOf(countedAt, ofConversions)}, 0, 0, status, coalesce(revenue_base, 0), NULL
      FROM ${schema}.conversions
      WHERE ${countedAt} >= ${from} AND ${countedAt} < ${until} AND NOT is_test
      UNION ALL
      SELECT ${bucketOf('spent_at', ofCosts)}, 0, coalesce(cost_base, 0), NULL, 0, NULL
      FROM ${schema}.costs
      WHERE spent_at >= ${from} AND spent_at < ${until}${hasEvents ? events : ''}`
}

function entityJoins(schema: string): string {
  return `LEFT JOIN ${schema}.campaigns AS ca ON ca.id = c.campaign_id
    LEFT JOIN ${schema}.offers AS o ON o.id = c.offer_id
    LEFT JOIN ${schema}.landing_pages AS l ON l.id = c.landing_page_id
    LEFT JOIN ${schema}.traffic_sources AS t ON t.id = c.traffic_source_id`
}

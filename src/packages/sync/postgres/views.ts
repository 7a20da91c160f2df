/** Dimensions of `report`, the column of each, and the table that has its names. */
const dimensions: Record<string, { column: string; table?: string }> = {
  campaign: { column: 'campaign_id', table: 'campaigns' },
  offer: { column: 'offer_id', table: 'offers' },
  landing: { column: 'landing_page_id', table: 'landing_pages' },
  traffic_source: { column: 'traffic_source_id', table: 'traffic_sources' },
  country: { column: 'country', table: 'countries' },
  device: { column: 'device' },
  os: { column: 'os' },
  browser: { column: 'browser' },
}

const metricColumns = `clicks bigint, conversions bigint, revenue numeric, pending_conversions bigint, hold_conversions bigint,
  declined_conversions bigint, refunded_conversions bigint, pending_revenue numeric, refunded_revenue numeric, cost numeric,
  profit numeric, roi numeric, cr numeric, epc numeric, cpa numeric, cpc numeric, aov numeric`

/** Sums over rows of a bucket; the other kind of rows has a weight of zero. */
const sums = `coalesce(sum(f.clicks), 0)::bigint AS clicks, coalesce(sum(f.cost), 0) AS cost,
    count(*) FILTER (WHERE f.status = 'approved') AS conversions,
    coalesce(sum(f.revenue) FILTER (WHERE f.status = 'approved'), 0) AS revenue,
    count(*) FILTER (WHERE f.status = 'pending') AS pending_conversions,
    count(*) FILTER (WHERE f.status = 'hold') AS hold_conversions,
    count(*) FILTER (WHERE f.status = 'declined') AS declined_conversions,
    count(*) FILTER (WHERE f.status IN ('refunded', 'chargeback')) AS refunded_conversions,
    coalesce(sum(f.revenue) FILTER (WHERE f.status IN ('pending', 'hold')), 0) AS pending_revenue,
    coalesce(sum(f.revenue) FILTER (WHERE f.status IN ('refunded', 'chargeback')), 0) AS refunded_revenue`

/** The metrics of a row of sums, in the order of `metricColumns`. */
const metrics = `s.clicks, s.conversions, s.revenue, s.pending_conversions, s.hold_conversions, s.declined_conversions,
    s.refunded_conversions, s.pending_revenue, s.refunded_revenue, s.cost, s.revenue - s.cost,
    round((s.revenue - s.cost) * 100 / nullif(s.cost, 0), 6), round(s.conversions::numeric * 100 / nullif(s.clicks, 0), 6),
    round(s.revenue / nullif(s.clicks, 0), 6), round(s.cost / nullif(s.conversions, 0), 6),
    round(s.cost / nullif(s.clicks, 0), 6), round(s.revenue / nullif(s.conversions, 0), 6)`

/** The days of `daily`; by default the last 30 days, including today, as in the API. */
const lastDay = 'coalesce($3, (now() AT TIME ZONE $1)::date)'
const firstDay = `coalesce($2, ${lastDay} - 29)`

export const viewNames = ['click_details', 'conversion_details', 'event_details'] as const

/** Statements that create the views and functions; each may run again. */
export function viewStatements(schema: string): string[] {
  const facts = (from: string, until: string, bucket: string) => `
      SELECT ${bucket.replaceAll('$time', 'clicked_at')} AS bucket, 1 AS clicks, coalesce(cost_base, 0) AS cost, NULL AS status, 0 AS revenue
      FROM ${schema}.clicks
      WHERE clicked_at >= ${from} AND clicked_at < ${until} AND NOT is_bot AND NOT is_test
      UNION ALL
      SELECT ${bucket.replaceAll('$time', 'converted_at')}, 0, 0, status, coalesce(revenue_base, 0)
      FROM ${schema}.conversions
      WHERE converted_at >= ${from} AND converted_at < ${until} AND NOT is_test`
  const bucketOf = Object.entries(dimensions).map(([name, { column }]) => `WHEN '${name}' THEN ${column}`)
  const nameOf = Object.entries(dimensions).flatMap(([name, { table }]) =>
    table ? [`WHEN '${name}' THEN (SELECT t.name FROM ${schema}.${table} AS t WHERE t.id = s.bucket)`] : [],
  )
  const bucket = `CASE $1 ${bucketOf.join(' ')} WHEN 'day' THEN to_char($time AT TIME ZONE 'UTC', 'YYYY-MM-DD') END`
  const knownDimensions = [...Object.keys(dimensions), 'day'].map((name) => `'${name}'`).join(', ')
  return [
    `CREATE OR REPLACE VIEW ${schema}.click_details AS
    SELECT c.*, ca.name AS campaign_name, o.name AS offer_name, l.name AS landing_page_name, t.name AS traffic_source_name,
      v.count > 0 AS converted, v.count AS conversion_count
    FROM ${schema}.clicks AS c
    ${entityJoins(schema)}
    CROSS JOIN LATERAL (
      SELECT count(*) FROM ${schema}.conversions AS v WHERE v.click_id = c.id AND NOT v.is_test
    ) AS v`,
    `CREATE OR REPLACE VIEW ${schema}.conversion_details AS
    SELECT c.*, ca.name AS campaign_name, o.name AS offer_name, l.name AS landing_page_name, t.name AS traffic_source_name
    FROM ${schema}.conversions AS c
    ${entityJoins(schema)}`,
    `CREATE OR REPLACE VIEW ${schema}.event_details AS
    SELECT e.*, ca.name AS campaign_name
    FROM ${schema}.events AS e
    LEFT JOIN ${schema}.campaigns AS ca ON ca.id = e.campaign_id`,
    `CREATE OR REPLACE FUNCTION ${schema}.report(dimension text, from_time timestamptz, until_time timestamptz)
    RETURNS TABLE (id text, name text, ${metricColumns}) LANGUAGE plpgsql STABLE AS $function$
    BEGIN
      IF $1 IS NULL OR $1 NOT IN (${knownDimensions}) THEN
        RAISE EXCEPTION 'Unknown dimension %; use one of ${knownDimensions.replaceAll("'", '')}.', $1;
      END IF;
      RETURN QUERY
      SELECT coalesce(s.bucket, '(not set)'),
        CASE WHEN s.bucket IS NULL THEN '(not set)' ELSE CASE $1 ${nameOf.join(' ')} ELSE s.bucket END END, ${metrics}
      FROM (SELECT f.bucket, ${sums} FROM (${facts('$2', '$3', bucket)}) AS f GROUP BY f.bucket) AS s
      ORDER BY s.clicks DESC, coalesce(s.bucket, '(not set)') COLLATE "C";
    END $function$`,
    `CREATE OR REPLACE FUNCTION ${schema}.daily(tz text, first_day date DEFAULT NULL, last_day date DEFAULT NULL)
    RETURNS TABLE (day date, ${metricColumns}) LANGUAGE sql STABLE AS $function$
      SELECT s.day, ${metrics}
      FROM (
        SELECT g.day, ${sums}
        FROM (SELECT generate_series(${firstDay}::timestamp, ${lastDay}::timestamp, '1 day')::date AS day) AS g
        LEFT JOIN (${facts(`${firstDay}::timestamp AT TIME ZONE $1`, `(${lastDay} + 1)::timestamp AT TIME ZONE $1`, '($time AT TIME ZONE $1)::date')}) AS f
          ON f.bucket = g.day
        GROUP BY g.day
      ) AS s
      ORDER BY s.day
    $function$`,
  ]
}

function entityJoins(schema: string): string {
  return `LEFT JOIN ${schema}.campaigns AS ca ON ca.id = c.campaign_id
    LEFT JOIN ${schema}.offers AS o ON o.id = c.offer_id
    LEFT JOIN ${schema}.landing_pages AS l ON l.id = c.landing_page_id
    LEFT JOIN ${schema}.traffic_sources AS t ON t.id = c.traffic_source_id`
}

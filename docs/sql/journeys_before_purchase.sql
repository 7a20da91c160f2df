-- What did visitors do before they bought?
-- Columns: journey (traffic sources of clicks and names of events, in order of time), purchases, revenue.
-- Counts approved conversions named purchase that have a visitor, and the clicks and events of that visitor in the 30
-- days before. Bots and tests never count.
WITH parameters AS (
  SELECT TIMESTAMPTZ '2026-10-01 00:00:00+00' AS from_time, TIMESTAMPTZ '2026-11-01 00:00:00+00' AS until_time,
    INTERVAL '720 hours' AS lookback
),
purchases AS (
  SELECT id, visitor_id, converted_at, coalesce(revenue_base, 0) AS revenue
  FROM conversions, parameters
  WHERE converted_at >= from_time AND converted_at < until_time
    AND event_name = 'purchase' AND status = 'approved' AND visitor_id IS NOT NULL AND NOT is_test
),
steps AS (
  SELECT c.visitor_id, c.clicked_at AS step_time, coalesce(t.name, '(not set)') AS step
  FROM clicks AS c
  LEFT JOIN traffic_sources AS t ON t.id = c.traffic_source_id
  WHERE NOT c.is_bot AND NOT c.is_test
  UNION ALL
  SELECT visitor_id, occurred_at, event_name
  FROM events
),
journeys AS (
  SELECT p.id, p.revenue, coalesce(string_agg(s.step, ' > ' ORDER BY s.step_time, s.step), '(nothing)') AS journey
  FROM purchases AS p
  CROSS JOIN parameters
  LEFT JOIN steps AS s
    ON s.visitor_id = p.visitor_id AND s.step_time < p.converted_at AND s.step_time > p.converted_at - lookback
  GROUP BY p.id, p.revenue
)
SELECT journey, count(*) AS purchases, sum(revenue) AS revenue
FROM journeys
GROUP BY journey
ORDER BY purchases DESC, revenue DESC, journey;

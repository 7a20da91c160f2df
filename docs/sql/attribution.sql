-- Which campaigns earn the revenue by first click, last click, equal parts and time decay?
-- Columns: campaign_id, campaign_name, first_click, last_click, linear, time_decay (revenue by each model; the weight
-- of a click halves every 7 days).
-- Counts approved conversions and the clicks of their visitor in the 30 days before, without bots and tests.
-- Conversions without such a click are in the row without a campaign, so each model adds up to the revenue of the
-- report.
WITH parameters AS (
  SELECT TIMESTAMPTZ '2026-10-01 00:00:00+00' AS from_time, TIMESTAMPTZ '2026-11-01 00:00:00+00' AS until_time,
    INTERVAL '720 hours' AS lookback, 7.0 AS half_life_days
),
converted AS (
  SELECT id, coalesce(visitor_id, click_id) AS visitor, converted_at, coalesce(revenue_base, 0) AS revenue
  FROM conversions, parameters
  WHERE converted_at >= from_time AND converted_at < until_time AND status = 'approved' AND NOT is_test
),
touched AS (
  SELECT v.id, v.revenue, c.campaign_id, c.clicked_at, c.id AS click_id,
    coalesce(power(0.5, EXTRACT(EPOCH FROM v.converted_at - c.clicked_at) / 86400 / half_life_days), 1) AS weight
  FROM converted AS v
  CROSS JOIN parameters
  LEFT JOIN clicks AS c
    -- A click without a visitor is a visitor of its own.
    ON coalesce(c.visitor_id, c.id) = v.visitor
    AND c.clicked_at <= v.converted_at AND c.clicked_at > v.converted_at - lookback
    -- The whole range, which an index serves.
    AND c.clicked_at < until_time AND c.clicked_at > from_time - lookback
    AND NOT c.is_bot AND NOT c.is_test
),
weighted AS (
  SELECT campaign_id, revenue, weight / sum(weight) OVER (PARTITION BY id) AS part,
    count(*) OVER (PARTITION BY id) AS clicks,
    row_number() OVER (PARTITION BY id ORDER BY clicked_at, click_id) AS number,
    row_number() OVER (PARTITION BY id ORDER BY clicked_at DESC, click_id DESC) AS number_from_last
  FROM touched
)
SELECT w.campaign_id, c.name AS campaign_name,
  sum(CASE WHEN number = 1 THEN revenue ELSE 0 END) AS first_click,
  sum(CASE WHEN number_from_last = 1 THEN revenue ELSE 0 END) AS last_click,
  round(sum(revenue * 1.0 / clicks), 6) AS linear,
  round(sum(revenue * part), 6) AS time_decay
FROM weighted AS w
LEFT JOIN campaigns AS c ON c.id = w.campaign_id
GROUP BY w.campaign_id, c.name
ORDER BY last_click DESC;

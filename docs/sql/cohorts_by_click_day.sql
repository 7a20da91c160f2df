-- What have the clicks of each day earned after 1, 7 and 30 days, and until now?
-- Columns: day (UTC), clicks, cost, conversions, revenue_1_day, revenue_7_days, revenue_30_days, revenue, profit.
-- Counts clicks without bots and tests, and approved conversions by the time of their click. The cost has the clicks and
-- the table costs. A day that is less than 30 days old has not earned all of its revenue.
WITH period AS (
  SELECT TIMESTAMPTZ '2026-10-01 00:00:00+00' AS from_time, TIMESTAMPTZ '2026-11-01 00:00:00+00' AS until_time
),
clicked AS (
  SELECT CAST(clicked_at AT TIME ZONE 'UTC' AS date) AS day, count(*) AS clicks, coalesce(sum(cost_base), 0) AS cost
  FROM clicks, period
  WHERE clicked_at >= from_time AND clicked_at < until_time AND NOT is_bot AND NOT is_test
  GROUP BY 1
),
spent AS (
  SELECT CAST(spent_at AT TIME ZONE 'UTC' AS date) AS day, sum(cost_base) AS spent
  FROM costs, period
  WHERE spent_at >= from_time AND spent_at < until_time
  GROUP BY 1
),
converted AS (
  SELECT CAST(clicked_at AT TIME ZONE 'UTC' AS date) AS day, count(*) AS conversions,
    sum(revenue_base) FILTER (WHERE converted_at < clicked_at + INTERVAL '24 hours') AS revenue_1_day,
    sum(revenue_base) FILTER (WHERE converted_at < clicked_at + INTERVAL '168 hours') AS revenue_7_days,
    sum(revenue_base) FILTER (WHERE converted_at < clicked_at + INTERVAL '720 hours') AS revenue_30_days,
    sum(revenue_base) AS revenue
  FROM conversions, period
  WHERE clicked_at >= from_time AND clicked_at < until_time AND status = 'approved' AND NOT is_test
  GROUP BY 1
)
SELECT day, coalesce(clicks, 0) AS clicks, coalesce(cost, 0) + coalesce(spent, 0) AS cost,
  coalesce(conversions, 0) AS conversions,
  coalesce(revenue_1_day, 0) AS revenue_1_day, coalesce(revenue_7_days, 0) AS revenue_7_days,
  coalesce(revenue_30_days, 0) AS revenue_30_days, coalesce(revenue, 0) AS revenue,
  coalesce(revenue, 0) - coalesce(cost, 0) - coalesce(spent, 0) AS profit
FROM clicked
FULL JOIN spent USING (day)
FULL JOIN converted USING (day)
ORDER BY day;

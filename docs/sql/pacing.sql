-- Will the month reach its plan?
-- Columns: day (UTC), revenue, revenue_to_date, plan_to_date, ahead (negative: behind), projected (the month at this
-- pace).
-- Counts as GET /stats/daily does, up to the last full day. The plan has the same amount for every day.
WITH plan AS (
  SELECT 4000.0 AS month_revenue, DATE '2026-10-20' AS last_full_day
),
days AS (
  SELECT day, revenue, sum(revenue) OVER (ORDER BY day) AS revenue_to_date,
    row_number() OVER (ORDER BY day) AS number, count(*) OVER () AS days_of_month
  FROM daily('UTC', DATE '2026-10-01', DATE '2026-10-31')
)
SELECT day, revenue, revenue_to_date, round(month_revenue * number / days_of_month, 6) AS plan_to_date,
  round(revenue_to_date - month_revenue * number / days_of_month, 6) AS ahead,
  round(revenue_to_date * days_of_month / number, 6) AS projected
FROM days, plan
WHERE day <= last_full_day
ORDER BY day;

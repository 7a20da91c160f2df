-- How do revenue and EPC develop over 7 days at a time?
-- Columns: day (UTC), clicks, revenue, revenue_7_days, epc_7_days.
-- Counts as GET /stats/daily does. A value is NULL for the first 6 days, which have fewer than 7 days.
SELECT day, clicks, revenue,
  CASE WHEN count(*) OVER days = 7 THEN sum(revenue) OVER days END AS revenue_7_days,
  CASE WHEN count(*) OVER days = 7 THEN round(sum(revenue) OVER days / nullif(sum(clicks) OVER days, 0), 6) END
    AS epc_7_days
FROM daily('UTC', DATE '2026-10-01', DATE '2026-10-31')
WINDOW days AS (ORDER BY day ROWS BETWEEN 6 PRECEDING AND CURRENT ROW)
ORDER BY day;

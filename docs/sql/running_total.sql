-- What has the month earned up to each day?
-- Columns: day (of the time zone), revenue, cost, profit; revenue_to_date, cost_to_date, profit_to_date.
-- Counts as GET /stats/daily does.
SELECT day, revenue, cost, profit,
  sum(revenue) OVER days AS revenue_to_date,
  sum(cost) OVER days AS cost_to_date,
  sum(profit) OVER days AS profit_to_date
FROM daily('America/New_York', DATE '2026-10-01', DATE '2026-10-31')
WINDOW days AS (ORDER BY day)
ORDER BY day;

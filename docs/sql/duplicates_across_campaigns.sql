-- Which transactions are counted for more than one campaign?
-- Columns: transaction_id, campaigns (number), campaign_ids, conversions, revenue, excess_revenue (all but the largest
-- amount of a campaign).
-- Counts approved conversions that have a transaction id. Tests never count.
WITH period AS (
  SELECT TIMESTAMPTZ '2026-10-01 00:00:00+00' AS from_time, TIMESTAMPTZ '2026-11-01 00:00:00+00' AS until_time
),
transactions AS (
  SELECT transaction_id, coalesce(campaign_id, '(not set)') AS campaign_id, count(*) AS conversions,
    coalesce(sum(revenue_base), 0) AS revenue
  FROM conversions, period
  WHERE converted_at >= from_time AND converted_at < until_time
    AND status = 'approved' AND transaction_id IS NOT NULL AND NOT is_test
  GROUP BY 1, 2
)
SELECT transaction_id, count(*) AS campaigns, string_agg(campaign_id, ', ' ORDER BY campaign_id) AS campaign_ids,
  sum(conversions) AS conversions, sum(revenue) AS revenue, sum(revenue) - max(revenue) AS excess_revenue
FROM transactions
GROUP BY transaction_id
HAVING count(*) > 1
ORDER BY excess_revenue DESC, transaction_id;

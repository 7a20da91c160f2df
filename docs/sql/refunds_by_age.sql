-- How old are sales when they are refunded or charged back?
-- Columns: age, refunds, chargebacks, amount, share (refunds and chargebacks, percent of all sales of the period).
-- Counts conversions by the time of the conversion; sales are approved, refunded or charged back. The age ends when the
-- status was last updated. Tests never count.
WITH period AS (
  SELECT TIMESTAMPTZ '2026-09-01 00:00:00+00' AS from_time, TIMESTAMPTZ '2026-11-01 00:00:00+00' AS until_time
),
sales AS (
  SELECT status, coalesce(revenue_base, 0) AS revenue, EXTRACT(EPOCH FROM updated_at - converted_at) / 86400 AS days
  FROM conversions, period
  WHERE converted_at >= from_time AND converted_at < until_time
    AND status IN ('approved', 'refunded', 'chargeback') AND NOT is_test
),
-- NULL is no limit.
ranges AS (
  SELECT *
  FROM (
    VALUES
      (1, 'under 7 days', NULL, 7),
      (2, '7 to 14 days', 7, 14),
      (3, '14 to 30 days', 14, 30),
      (4, '30 to 60 days', 30, 60),
      (5, 'over 60 days', 60, NULL)
  ) AS r(number, age, from_days, until_days)
)
SELECT age, count(*) FILTER (WHERE status = 'refunded') AS refunds,
  count(*) FILTER (WHERE status = 'chargeback') AS chargebacks, coalesce(sum(revenue), 0) AS amount,
  round(count(status) * 100.0 / nullif((SELECT count(*) FROM sales), 0), 6) AS share
FROM ranges
LEFT JOIN sales
  ON status <> 'approved' AND (days >= from_days OR from_days IS NULL) AND (days < until_days OR until_days IS NULL)
GROUP BY number, age
ORDER BY number;

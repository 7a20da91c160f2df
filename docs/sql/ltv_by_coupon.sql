-- Which coupons win customers who buy again?
-- Columns: coupon_code (of the first sale; NULL without one), customers, sales, revenue, revenue_per_customer, and
-- returning_share (percent of customers with a second sale), all within 90 days of the first sale.
-- Counts approved conversions of customers whose first sale in the copy is in the period. A customer is a visitor, else
-- a click, else a conversion. Tests never count.
WITH period AS (
  SELECT TIMESTAMPTZ '2026-09-01 00:00:00+00' AS from_time, TIMESTAMPTZ '2026-10-01 00:00:00+00' AS until_time
),
sales AS (
  SELECT coalesce(visitor_id, click_id, id) AS customer, converted_at, coupon_code,
    coalesce(revenue_base, 0) AS revenue,
    row_number() OVER (PARTITION BY coalesce(visitor_id, click_id, id) ORDER BY converted_at, id) AS number
  FROM conversions
  WHERE status = 'approved' AND NOT is_test
),
customers AS (
  SELECT f.customer, f.coupon_code, count(*) AS sales, sum(s.revenue) AS revenue
  FROM sales AS f
  CROSS JOIN period
  JOIN sales AS s ON s.customer = f.customer AND s.converted_at < f.converted_at + INTERVAL '2160 hours'
  WHERE f.number = 1 AND f.converted_at >= from_time AND f.converted_at < until_time
  GROUP BY f.customer, f.coupon_code
)
SELECT coupon_code, count(*) AS customers, sum(sales) AS sales, sum(revenue) AS revenue,
  round(sum(revenue) / count(*), 6) AS revenue_per_customer,
  round(count(*) FILTER (WHERE sales > 1) * 100.0 / count(*), 6) AS returning_share
FROM customers
GROUP BY coupon_code
ORDER BY revenue_per_customer DESC;

-- Does another landing page convert better than the present one, or is the difference chance?
-- Columns: landing_page_id, clicks, converted, rate (percent); against the control: difference (percentage points), low
-- and high (its 95 % interval), z, and is_significant (95 %). They are NULL for the control itself.
-- Counts clicks of one campaign without bots and tests; converted are those with at least one approved conversion.
-- Decide the period before you look: a test that ends when it is significant is wrong more often than 5 %.
WITH parameters AS (
  SELECT TIMESTAMPTZ '2026-09-01 00:00:00+00' AS from_time, TIMESTAMPTZ '2026-11-01 00:00:00+00' AS until_time,
    'cmp-luma-meta-broad' AS campaign, 'lp-luma-story' AS control
),
pages AS (
  SELECT c.landing_page_id, count(*) AS clicks, count(v.click_id) AS converted,
    count(v.click_id) * 1.0 / count(*) AS rate
  FROM clicks AS c
  CROSS JOIN parameters
  LEFT JOIN (SELECT DISTINCT click_id FROM conversions WHERE status = 'approved' AND NOT is_test) AS v
    ON v.click_id = c.id
  WHERE c.clicked_at >= from_time AND c.clicked_at < until_time AND c.campaign_id = campaign
    AND c.landing_page_id IS NOT NULL AND NOT c.is_bot AND NOT c.is_test
  GROUP BY c.landing_page_id
),
compared AS (
  SELECT p.landing_page_id, p.clicks, p.converted, p.rate, p.rate - c.rate AS difference,
    -- The standard error of the difference, and the one if both pages had the same rate.
    sqrt(p.rate * (1 - p.rate) / p.clicks + c.rate * (1 - c.rate) / c.clicks) AS error,
    sqrt(
      (p.converted + c.converted) * 1.0 / (p.clicks + c.clicks)
      * (1 - (p.converted + c.converted) * 1.0 / (p.clicks + c.clicks))
      * (1.0 / p.clicks + 1.0 / c.clicks)
    ) AS pooled_error
  FROM pages AS p
  CROSS JOIN parameters
  LEFT JOIN pages AS c ON c.landing_page_id = control AND c.landing_page_id <> p.landing_page_id
)
SELECT landing_page_id, clicks, converted, round(rate * 100, 6) AS rate,
  round(difference * 100, 6) AS difference,
  round((difference - 1.96 * error) * 100, 6) AS low,
  round((difference + 1.96 * error) * 100, 6) AS high,
  round(difference / nullif(pooled_error, 0), 6) AS z,
  abs(difference / nullif(pooled_error, 0)) >= 1.96 AS is_significant
FROM compared
ORDER BY clicks DESC;

-- Which three offers earn the most in each country?
-- Columns: country, country_name, place (1 to 3; equal revenue has equal places), offer_id, offer_name, conversions,
-- revenue.
-- Counts approved conversions by the time of the conversion. Tests never count.
WITH period AS (
  SELECT TIMESTAMPTZ '2026-10-01 00:00:00+00' AS from_time, TIMESTAMPTZ '2026-11-01 00:00:00+00' AS until_time
),
offers_of_country AS (
  SELECT country, offer_id, offer_name, count(*) AS conversions, coalesce(sum(revenue_base), 0) AS revenue,
    rank() OVER (PARTITION BY country ORDER BY coalesce(sum(revenue_base), 0) DESC) AS place
  FROM conversion_details, period
  WHERE converted_at >= from_time AND converted_at < until_time AND status = 'approved' AND NOT is_test
  GROUP BY country, offer_id, offer_name
)
SELECT o.country, c.name AS country_name, place, offer_id, offer_name, conversions, revenue
FROM offers_of_country AS o
LEFT JOIN countries AS c ON c.id = o.country
WHERE place <= 3
ORDER BY o.country, place, offer_id;

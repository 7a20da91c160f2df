-- At which hour of their day do visitors click and buy?
-- Columns: hour (0 to 23, local to the country), clicks, conversions, revenue, cr (percent).
-- Counts clicks without bots and tests, and approved conversions. The list has one zone for each country, its most
-- populous one; other countries count in UTC.
WITH period AS (
  SELECT TIMESTAMPTZ '2026-10-01 00:00:00+00' AS from_time, TIMESTAMPTZ '2026-11-01 00:00:00+00' AS until_time
),
zones AS (
  SELECT *
  FROM (
    VALUES
      ('AR', 'America/Buenos_Aires'), ('AT', 'Europe/Vienna'), ('AU', 'Australia/Sydney'), ('BE', 'Europe/Brussels'),
      ('BR', 'America/Sao_Paulo'), ('CA', 'America/Toronto'), ('CH', 'Europe/Zurich'), ('CL', 'America/Santiago'),
      ('CO', 'America/Bogota'), ('CZ', 'Europe/Prague'), ('DE', 'Europe/Berlin'), ('DK', 'Europe/Copenhagen'),
      ('ES', 'Europe/Madrid'), ('FI', 'Europe/Helsinki'), ('FR', 'Europe/Paris'), ('GB', 'Europe/London'),
      ('ID', 'Asia/Jakarta'), ('IE', 'Europe/Dublin'), ('IN', 'Asia/Kolkata'), ('IT', 'Europe/Rome'),
      ('JP', 'Asia/Tokyo'), ('MX', 'America/Mexico_City'), ('NL', 'Europe/Amsterdam'), ('NO', 'Europe/Oslo'),
      ('NZ', 'Pacific/Auckland'), ('PH', 'Asia/Manila'), ('PL', 'Europe/Warsaw'), ('PT', 'Europe/Lisbon'),
      ('SE', 'Europe/Stockholm'), ('TH', 'Asia/Bangkok'), ('US', 'America/New_York'), ('ZA', 'Africa/Johannesburg')
  ) AS z(country, zone)
),
facts AS (
  SELECT country, clicked_at AS fact_time, 1 AS clicks, 0 AS conversions, 0 AS revenue
  FROM clicks, period
  WHERE clicked_at >= from_time AND clicked_at < until_time AND NOT is_bot AND NOT is_test
  UNION ALL
  SELECT country, converted_at, 0, 1, coalesce(revenue_base, 0)
  FROM conversions, period
  WHERE converted_at >= from_time AND converted_at < until_time AND status = 'approved' AND NOT is_test
)
SELECT EXTRACT(HOUR FROM fact_time AT TIME ZONE coalesce(zone, 'UTC')) AS hour, sum(clicks) AS clicks,
  sum(conversions) AS conversions, sum(revenue) AS revenue,
  round(sum(conversions) * 100.0 / nullif(sum(clicks), 0), 6) AS cr
FROM facts
LEFT JOIN zones USING (country)
GROUP BY 1
ORDER BY 1;

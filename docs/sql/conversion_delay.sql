-- How long after the click do visitors convert?
-- Columns: delay, conversions, share and running_share (percent of all).
-- Counts approved conversions that have the time of their click, by the time of the conversion. Tests never count.
WITH period AS (
  SELECT TIMESTAMPTZ '2026-10-01 00:00:00+00' AS from_time, TIMESTAMPTZ '2026-11-01 00:00:00+00' AS until_time
),
delays AS (
  SELECT EXTRACT(EPOCH FROM converted_at - clicked_at) / 3600 AS hours
  FROM conversions, period
  WHERE converted_at >= from_time AND converted_at < until_time
    AND status = 'approved' AND NOT is_test AND clicked_at IS NOT NULL
),
-- NULL is no limit.
ranges AS (
  SELECT *
  FROM (
    VALUES
      (1, 'before the click', NULL, 0),
      (2, 'under 1 hour', 0, 1),
      (3, '1 to 6 hours', 1, 6),
      (4, '6 to 24 hours', 6, 24),
      (5, '1 to 7 days', 24, 168),
      (6, '7 to 30 days', 168, 720),
      (7, 'over 30 days', 720, NULL)
  ) AS r(number, delay, from_hours, until_hours)
)
SELECT delay, count(hours) AS conversions,
  round(count(hours) * 100.0 / nullif(sum(count(hours)) OVER (), 0), 6) AS share,
  round(sum(count(hours)) OVER (ORDER BY number) * 100.0 / nullif(sum(count(hours)) OVER (), 0), 6) AS running_share
FROM ranges
LEFT JOIN delays ON (hours >= from_hours OR from_hours IS NULL) AND (hours < until_hours OR until_hours IS NULL)
GROUP BY number, delay
ORDER BY number;

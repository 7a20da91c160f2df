-- How many visitors click again in the weeks after their first click?
-- Columns: first_week (its Monday, UTC), visitors, week_1, week_2, week_3, week_4 (visitors who clicked again).
-- Counts visitors of clicks without bots and tests. The first click is the first one in the copy.
WITH visits AS (
  SELECT DISTINCT visitor_id, CAST(date_trunc('week', clicked_at AT TIME ZONE 'UTC') AS date) AS week
  FROM clicks
  WHERE visitor_id IS NOT NULL AND NOT is_bot AND NOT is_test
),
visitors AS (
  SELECT visitor_id, min(week) AS first_week
  FROM visits
  GROUP BY visitor_id
)
SELECT first_week, count(*) FILTER (WHERE week = first_week) AS visitors,
  count(*) FILTER (WHERE week = first_week + 7) AS week_1,
  count(*) FILTER (WHERE week = first_week + 14) AS week_2,
  count(*) FILTER (WHERE week = first_week + 21) AS week_3,
  count(*) FILTER (WHERE week = first_week + 28) AS week_4
FROM visits
JOIN visitors USING (visitor_id)
GROUP BY first_week
ORDER BY first_week;

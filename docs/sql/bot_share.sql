-- Which traffic sources send bots, and what did their clicks cost?
-- Columns: traffic_source_id, traffic_source_name, clicks, bots, bot_share (percent), bot_cost.
-- Counts all clicks but tests. Reports never count bots.
WITH period AS (
  SELECT TIMESTAMPTZ '2026-10-01 00:00:00+00' AS from_time, TIMESTAMPTZ '2026-11-01 00:00:00+00' AS until_time
)
SELECT c.traffic_source_id, t.name AS traffic_source_name, count(*) AS clicks,
  count(*) FILTER (WHERE c.is_bot) AS bots,
  round(count(*) FILTER (WHERE c.is_bot) * 100.0 / count(*), 6) AS bot_share,
  coalesce(sum(c.cost_base) FILTER (WHERE c.is_bot), 0) AS bot_cost
FROM clicks AS c
CROSS JOIN period
LEFT JOIN traffic_sources AS t ON t.id = c.traffic_source_id
WHERE c.clicked_at >= from_time AND c.clicked_at < until_time AND NOT c.is_test
GROUP BY c.traffic_source_id, t.name
ORDER BY bot_share DESC, clicks DESC;

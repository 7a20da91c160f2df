-- How often did each event occur, by one of its properties?
-- Columns: event_name, page (the property; (not set) without it), events, visitors (distinct: of the event, else of its
-- click, else the click).
-- Counts pixel events and server events as GET /reports does: without the events of clicks of bots and tests.
WITH period AS (
  SELECT TIMESTAMPTZ '2026-10-01 00:00:00+00' AS from_time, TIMESTAMPTZ '2026-11-01 00:00:00+00' AS until_time
)
SELECT e.event_name, coalesce(nullif((e.properties ->> 'page'), ''), '(not set)') AS page, count(*) AS events,
  count(DISTINCT coalesce('visitor ' || coalesce(e.visitor_id, c.visitor_id), 'click ' || coalesce(e.click_id, '')))
    AS visitors
FROM events AS e
CROSS JOIN period
LEFT JOIN clicks AS c ON c.id = e.click_id
WHERE e.occurred_at >= from_time AND e.occurred_at < until_time AND NOT coalesce(c.is_bot OR c.is_test, false)
GROUP BY 1, 2
ORDER BY events DESC, 1, 2;

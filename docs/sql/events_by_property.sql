-- How often did each event occur, by one of its properties?
-- Columns: event_name, page (the property; NULL without it), events, visitors (distinct), value (sum, in the currencies
-- of the events).
-- Counts pixel events and server events. Events never change the numbers of reports.
WITH period AS (
  SELECT TIMESTAMPTZ '2026-10-01 00:00:00+00' AS from_time, TIMESTAMPTZ '2026-11-01 00:00:00+00' AS until_time
)
SELECT event_name, (properties ->> 'page') AS page, count(*) AS events, count(DISTINCT visitor_id) AS visitors,
  coalesce(sum(value), 0) AS value
FROM events, period
WHERE occurred_at >= from_time AND occurred_at < until_time
GROUP BY 1, 2
ORDER BY events DESC, event_name, page;

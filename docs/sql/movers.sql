-- Which campaigns have gained or lost the most profit against the week before?
-- Columns: id, name, profit, profit_before, difference; the largest difference first.
-- Counts as GET /reports does.
WITH compared AS (
  SELECT coalesce(n.id, b.id) AS id, coalesce(n.name, b.name) AS name,
    coalesce(n.profit, 0) AS profit, coalesce(b.profit, 0) AS profit_before
  FROM report('campaign', TIMESTAMPTZ '2026-10-12 00:00:00+00', TIMESTAMPTZ '2026-10-19 00:00:00+00') AS n
  FULL JOIN report('campaign', TIMESTAMPTZ '2026-10-05 00:00:00+00', TIMESTAMPTZ '2026-10-12 00:00:00+00') AS b
    ON b.id = n.id
)
SELECT id, name, profit, profit_before, profit - profit_before AS difference
FROM compared
ORDER BY abs(profit - profit_before) DESC, id;

-- Which share of the revenue does each country have, and how many countries have 80 % of it?
-- Columns: id, name, revenue, share and running_share (percent, largest country first).
-- Counts as GET /reports does.
SELECT id, name, revenue,
  round(revenue * 100 / nullif(sum(revenue) OVER (), 0), 6) AS share,
  round(sum(revenue) OVER (ORDER BY revenue DESC, id) * 100 / nullif(sum(revenue) OVER (), 0), 6) AS running_share
FROM report('country', TIMESTAMPTZ '2026-10-01 00:00:00+00', TIMESTAMPTZ '2026-11-01 00:00:00+00')
ORDER BY revenue DESC, id;

-- Which conversions are behind the numbers of a campaign, and which are left out?
-- Columns: id, converted_at, event_name, status, offer_name, revenue_base, counts_as (the metric of the report that
-- counts the row, or nothing).
-- Lists all conversions of the campaign in the period, tests included.
WITH parameters AS (
  SELECT TIMESTAMPTZ '2026-10-01 00:00:00+00' AS from_time, TIMESTAMPTZ '2026-11-01 00:00:00+00' AS until_time,
    'cmp-pixelforge-push' AS campaign
)
SELECT id, converted_at, event_name, status, offer_name, revenue_base,
  CASE
    WHEN is_test THEN 'nothing: test'
    WHEN status = 'approved' THEN 'conversions'
    WHEN status = 'pending' THEN 'pendingConversions'
    WHEN status = 'hold' THEN 'holdConversions'
    WHEN status = 'declined' THEN 'declinedConversions'
    ELSE 'refundedConversions'
  END AS counts_as
FROM conversion_details, parameters
WHERE campaign_id = campaign AND converted_at >= from_time AND converted_at < until_time
ORDER BY converted_at, id;

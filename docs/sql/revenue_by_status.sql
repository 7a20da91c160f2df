-- How much of the revenue of each offer is approved, open, declined, refunded, and lost by chargebacks?
-- Columns: offer_id, offer_name, conversions (approved); approved, open, declined, refunded, chargebacks (revenue).
-- Counts conversions by the time of the conversion and their present status. Open is pending or on hold. The report
-- adds refunds and chargebacks up as refundedRevenue.
WITH period AS (
  SELECT TIMESTAMPTZ '2026-10-01 00:00:00+00' AS from_time, TIMESTAMPTZ '2026-11-01 00:00:00+00' AS until_time
)
SELECT offer_id, offer_name, count(*) FILTER (WHERE status = 'approved') AS conversions,
  coalesce(sum(revenue_base) FILTER (WHERE status = 'approved'), 0) AS approved,
  coalesce(sum(revenue_base) FILTER (WHERE status IN ('pending', 'hold')), 0) AS open,
  coalesce(sum(revenue_base) FILTER (WHERE status = 'declined'), 0) AS declined,
  coalesce(sum(revenue_base) FILTER (WHERE status = 'refunded'), 0) AS refunded,
  coalesce(sum(revenue_base) FILTER (WHERE status = 'chargeback'), 0) AS chargebacks
FROM conversion_details, period
WHERE converted_at >= from_time AND converted_at < until_time AND NOT is_test
GROUP BY offer_id, offer_name
ORDER BY approved DESC;

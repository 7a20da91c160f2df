-- The sums of the report, by UTC day and by the entities, country and device of clicks, conversions and costs.
{{ config(materialized='table') }}

WITH facts AS (
  SELECT
    clicked_at AS fact_time, campaign_id, campaign_name, offer_id, offer_name, landing_page_id, landing_page_name,
    traffic_source_id, traffic_source_name, country, device, 1 AS clicks, cost, NULL AS status, 0 AS revenue
  FROM {{ ref('stg_clicks') }}
  UNION ALL
  SELECT
    converted_at, campaign_id, campaign_name, offer_id, offer_name, landing_page_id, landing_page_name,
    traffic_source_id, traffic_source_name, country, device, 0, 0, status, revenue
  FROM {{ ref('stg_conversions') }}
  UNION ALL
  SELECT
    spent_at, campaign_id, campaign_name, offer_id, offer_name, landing_page_id, landing_page_name,
    traffic_source_id, traffic_source_name, country, device, 0, cost, NULL, 0
  FROM {{ ref('stg_costs') }}
)

SELECT
  CAST(fact_time AT TIME ZONE 'UTC' AS date) AS day,
  campaign_id, campaign_name, offer_id, offer_name, landing_page_id, landing_page_name,
  traffic_source_id, traffic_source_name, country, device,
  sum(clicks) AS clicks,
  count(*) FILTER (WHERE status = 'approved') AS conversions,
  coalesce(sum(revenue) FILTER (WHERE status = 'approved'), 0) AS revenue,
  count(*) FILTER (WHERE status IN ('pending', 'hold')) AS open_conversions,
  coalesce(sum(revenue) FILTER (WHERE status IN ('pending', 'hold')), 0) AS open_revenue,
  count(*) FILTER (WHERE status IN ('refunded', 'chargeback')) AS refunded_conversions,
  coalesce(sum(revenue) FILTER (WHERE status IN ('refunded', 'chargeback')), 0) AS refunded_revenue,
  sum(cost) AS cost
FROM facts
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11

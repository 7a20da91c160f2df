-- Costs that are not the cost of a click.
SELECT
  c.id AS cost_id,
  c.spent_at,
  c.campaign_id,
  ca.name AS campaign_name,
  c.offer_id,
  o.name AS offer_name,
  c.landing_page_id,
  l.name AS landing_page_name,
  c.traffic_source_id,
  t.name AS traffic_source_name,
  c.country,
  c.device,
  coalesce(c.cost_base, 0) AS cost
FROM {{ source('tributary', 'costs') }} AS c
LEFT JOIN {{ source('tributary', 'campaigns') }} AS ca ON ca.id = c.campaign_id
LEFT JOIN {{ source('tributary', 'offers') }} AS o ON o.id = c.offer_id
LEFT JOIN {{ source('tributary', 'landing_pages') }} AS l ON l.id = c.landing_page_id
LEFT JOIN {{ source('tributary', 'traffic_sources') }} AS t ON t.id = c.traffic_source_id

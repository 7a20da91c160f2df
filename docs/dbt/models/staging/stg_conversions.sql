-- Conversions that reports count, of any status: no tests.
SELECT
  c.id AS conversion_id,
  c.click_id,
  c.converted_at,
  c.clicked_at,
  c.visitor_id,
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
  c.event_name,
  c.coupon_code,
  c.status,
  coalesce(c.revenue_base, 0) AS revenue
FROM {{ source('tributary', 'conversions') }} AS c
LEFT JOIN {{ source('tributary', 'campaigns') }} AS ca ON ca.id = c.campaign_id
LEFT JOIN {{ source('tributary', 'offers') }} AS o ON o.id = c.offer_id
LEFT JOIN {{ source('tributary', 'landing_pages') }} AS l ON l.id = c.landing_page_id
LEFT JOIN {{ source('tributary', 'traffic_sources') }} AS t ON t.id = c.traffic_source_id
WHERE NOT c.is_test

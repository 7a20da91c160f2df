-- Days on which the model and the function of the copy differ. The test passes if there is none.
WITH days AS (
  SELECT
    CAST(day AS text) AS id, sum(clicks) AS clicks, sum(conversions) AS conversions, sum(revenue) AS revenue,
    sum(open_revenue) AS open_revenue, sum(refunded_revenue) AS refunded_revenue, sum(cost) AS cost
  FROM {{ ref('report') }}
  GROUP BY 1
)

SELECT *
FROM days
FULL JOIN {{ var('tributary_schema') }}.report('day', '0001-01-01Z', '9999-12-31Z') AS api USING (id)
WHERE (days.clicks, days.conversions, days.revenue, days.open_revenue, days.refunded_revenue, days.cost)
  IS DISTINCT FROM (api.clicks, api.conversions, api.revenue, api.pending_revenue, api.refunded_revenue, api.cost)

import { serverUrl } from './serverUrl.ts'

/** Copying the account into Parquet files, and reading them with DuckDB. @param baseUrl address of the API */
export const intoDuckdbGuide = (baseUrl: string) =>
  `
**One file.** Every list can be exported as Parquet; DuckDB reads the file.

\`\`\`sh
curl -H 'Authorization: ApiKey trb_live_…' -o clicks.parquet '${baseUrl}/clicks?from=2026-11-01&format=parquet'
\`\`\`

\`\`\`sql
SELECT country, count(*) AS clicks FROM 'clicks.parquet' WHERE NOT isBot AND NOT isTest GROUP BY country ORDER BY clicks DESC;
\`\`\`

**A folder that stays current.** \`tributary-sync\`, installed as in **Into PostgreSQL**, keeps a file for each UTC day:
\`clicks/day=2026-11-20/part.parquet\`, the same for \`conversions\` and \`events\`, and \`campaigns/part.parquet\`. A run replaces the file of each
day for which the checksum of the API has changed; readers always find complete files.

\`\`\`sh
export TRIBUTARY_KEY=trb_live_…
tributary-sync ./warehouse --url ${serverUrl(baseUrl)}
\`\`\`

This query returns the numbers of \`GET /reports?group_by=campaign\`:

\`\`\`sql
SELECT coalesce(r.campaignId, '(not set)') AS id, any_value(c.name) AS name,
  sum(r.clicks) AS clicks, sum(r.conversions) AS conversions, sum(r.revenue) AS revenue, sum(r.cost) AS cost
FROM (
  SELECT campaignId, day, 1 AS clicks, 0 AS conversions, 0 AS revenue, coalesce(costBase, 0) AS cost
  FROM read_parquet('warehouse/clicks/*/part.parquet', hive_partitioning = true)
  WHERE NOT isBot AND NOT isTest
  UNION ALL
  SELECT campaignId, day, 0, 1, coalesce(revenueBase, 0), 0
  FROM read_parquet('warehouse/conversions/*/part.parquet', hive_partitioning = true)
  WHERE status = 'approved' AND NOT isTest
) AS r
LEFT JOIN read_parquet('warehouse/campaigns/part.parquet') AS c ON c.id = r.campaignId
WHERE r.day BETWEEN '2026-11-01' AND '2026-11-30'
GROUP BY r.campaignId
ORDER BY clicks DESC, id;
\`\`\`

Names in the files of clicks and conversions are as old as their file: join the files of metadata instead.
`.trim()

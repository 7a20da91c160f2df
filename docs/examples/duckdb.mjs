// Counts clicks.parquet and conversions.parquet of a folder by campaign, with DuckDB: node docs/examples/duckdb.mjs FOLDER
import { DuckDBInstance } from '@duckdb/node-api'

const [folder = '.'] = process.argv.slice(2)
const database = await (await DuckDBInstance.create()).connect()
for (const table of ['clicks', 'conversions']) {
  const file = `${folder}/${table}.parquet`.replaceAll("'", "''")
  await database.run(`CREATE TABLE ${table} AS FROM read_parquet('${file}')`)
}
const byCampaign = await database.runAndReadAll(`
  SELECT campaignId, any_value(campaignName) AS campaign, sum(clicks)::INT AS clicks, sum(conversions)::INT AS conversions
  FROM (
    SELECT campaignId, campaignName, 1 AS clicks, 0 AS conversions FROM clicks WHERE NOT isBot AND NOT isTest
    UNION ALL
    SELECT campaignId, campaignName, 0, 1 FROM conversions WHERE status = 'approved' AND NOT isTest
  )
  GROUP BY campaignId
  ORDER BY clicks DESC, campaignId`)
for (const row of byCampaign.getRowObjectsJson()) console.log(JSON.stringify(row))

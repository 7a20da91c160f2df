// Copies clicks and conversions into Postgres tables and keeps them up to date. It can be stopped and restarted at any time:
//   TRIBUTARY_URL=… TRIBUTARY_KEY=… MIRROR_URL=postgres://… node docs/examples/mirror.mjs
// It runs until it is interrupted; with EVERY_S=0 it copies new rows once and exits.
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { createTributary } from 'tributary/client'

const { TRIBUTARY_URL: baseUrl = 'http://127.0.0.1:3000', TRIBUTARY_KEY: apiKey = '', EVERY_S = '10' } = process.env
const tributary = createTributary({ baseUrl, apiKey })
const sql = postgres(process.env.MIRROR_URL ?? '', { max: 1, onnotice() {} })

// Names and conversion counts change without a new version of the row, so they are not copied: join them in Postgres.
const derived = ['campaignName', 'offerName', 'landingPageName', 'trafficSourceName', 'converted', 'conversionCount']

// Includes tests: without them, a conversion that becomes a test would keep its old version in the copy.
const filters = { clicks: {}, conversions: { include_test_mode: true } }

/** Inserts or replaces rows, so that copying a row twice changes nothing. */
async function upsert(resource, rows) {
  if (rows.length === 0) return
  const values = rows.map(({ cursor: _cursor, ...row }) => {
    for (const field of derived) delete row[field]
    return { id: row.id, stored_at: row.storedAt, row: sql.json(row) }
  })
  await sql`
    INSERT INTO ${sql(`mirror_${resource}`)} ${sql(values, 'id', 'stored_at', 'row')}
    ON CONFLICT (id) DO UPDATE SET stored_at = excluded.stored_at, row = excluded.row`
}

/** Copies all rows from one export. @returns the `updated_since` of the next read */
async function copyAll(resource) {
  const headers = { Authorization: `ApiKey ${apiKey}` }
  const query = new URLSearchParams({ ...filters[resource], format: 'ndjson' })
  const response = await fetch(`${baseUrl}/api/v1/${resource}?${query}`, { headers })
  if (!response.ok) throw new Error(await response.text())
  const rows = []
  for await (const line of createInterface({ input: Readable.fromWeb(response.body) })) {
    rows.push(JSON.parse(line))
    if (rows.length === 1000) await upsert(resource, rows.splice(0))
  }
  await upsert(resource, rows)
  return response.headers.get('x-as-of')
}

/** Copies rows stored or changed since a time. @returns the `updated_since` of the next read */
async function copyChanges(resource, since) {
  let asOf = since
  for await (const page of tributary.pages(`/${resource}`, {
    query: { ...filters[resource], updated_since: since, limit: 200 },
  })) {
    await upsert(resource, page.data)
    asOf = page.asOf
  }
  return asOf
}

await sql`CREATE TABLE IF NOT EXISTS mirror_state (resource text PRIMARY KEY, as_of text NOT NULL)`
for (const resource of ['clicks', 'conversions']) {
  await sql`
    CREATE TABLE IF NOT EXISTS ${sql(`mirror_${resource}`)}
      (id text PRIMARY KEY, stored_at timestamptz NOT NULL, row jsonb NOT NULL)`
}
do {
  for (const resource of ['clicks', 'conversions']) {
    const [state] = await sql`SELECT as_of FROM mirror_state WHERE resource = ${resource}`
    const asOf = state ? await copyChanges(resource, state.as_of) : await copyAll(resource)
    // Written after the rows: a run that ends before this copies the same rows again.
    await sql`
      INSERT INTO mirror_state (resource, as_of) VALUES (${resource}, ${asOf})
      ON CONFLICT (resource) DO UPDATE SET as_of = excluded.as_of`
  }
  await sleep(Number(EVERY_S) * 1000)
} while (EVERY_S !== '0')
await sql.end()

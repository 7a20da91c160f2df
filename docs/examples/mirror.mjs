// Mirrors clicks and conversions into Postgres tables and keeps them in step. It may be ended and started at any moment:
//   TRIBUTARY_URL=… TRIBUTARY_KEY=… MIRROR_URL=postgres://… node docs/examples/mirror.mjs
// goes on until it is interrupted; with EVERY_S=0 it takes over what is new and ends.
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { createTributary } from 'tributary/client'

const { TRIBUTARY_URL: baseUrl = 'http://127.0.0.1:3000', TRIBUTARY_KEY: apiKey = '', EVERY_S = '10' } = process.env
const tributary = createTributary({ baseUrl, apiKey })
const sql = postgres(process.env.MIRROR_URL ?? '', { max: 1, onnotice() {} })

// Names, and how often a click converted, change without the row being stored anew: join them in the mirror.
const derived = ['campaignName', 'offerName', 'landingPageName', 'trafficSourceName', 'converted', 'conversionCount']

// A conversion that turns into a test must come as well, or the mirror would count it for ever.
const everything = { clicks: {}, conversions: { include_test_mode: true } }

/** Takes over rows; one that is there already is replaced, so that taking it twice changes nothing. */
async function put(resource, rows) {
  if (rows.length === 0) return
  const values = rows.map(({ cursor: _cursor, ...row }) => {
    for (const field of derived) delete row[field]
    return { id: row.id, stored_at: row.storedAt, row: sql.json(row) }
  })
  await sql`
    INSERT INTO ${sql(`mirror_${resource}`)} ${sql(values, 'id', 'stored_at', 'row')}
    ON CONFLICT (id) DO UPDATE SET stored_at = excluded.stored_at, row = excluded.row`
}

/** Everything there is, in one answer. @returns the moment to go on from */
async function takeAll(resource) {
  const headers = { Authorization: `ApiKey ${apiKey}` }
  const query = new URLSearchParams({ ...everything[resource], format: 'ndjson' })
  const answer = await fetch(`${baseUrl}/api/v1/${resource}?${query}`, { headers })
  if (!answer.ok) throw new Error(await answer.text())
  const rows = []
  for await (const line of createInterface({ input: Readable.fromWeb(answer.body) })) {
    rows.push(JSON.parse(line))
    if (rows.length === 1000) await put(resource, rows.splice(0))
  }
  await put(resource, rows)
  return answer.headers.get('x-as-of')
}

/** What was stored since a moment. @returns the moment to go on from */
async function takeNew(resource, since) {
  let asOf = since
  for await (const page of tributary.pages(`/${resource}`, {
    query: { ...everything[resource], updated_since: since, limit: 200 },
  })) {
    await put(resource, page.data)
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
    const asOf = state ? await takeNew(resource, state.as_of) : await takeAll(resource)
    // Only now: whoever was ended before this takes the same rows again.
    await sql`
      INSERT INTO mirror_state (resource, as_of) VALUES (${resource}, ${asOf})
      ON CONFLICT (resource) DO UPDATE SET as_of = excluded.as_of`
  }
  await sleep(Number(EVERY_S) * 1000)
} while (EVERY_S !== '0')
await sql.end()

import { pageLimitMax } from '../../../../schema/page.ts'

/** Settings of connectors that read any REST API. @param baseUrl address of the API */
export const anyConnectorGuide = (baseUrl: string) =>
  `
Airbyte, Fivetran, dlt, Meltano and others read any REST API that is described to them:

| setting | value |
|---|---|
| base URL | \`${baseUrl}\` |
| authentication | header \`Authorization\` with \`ApiKey trb_live_…\` |
| resources | \`/clicks\`, \`/conversions?include_test_mode=true\`, \`/events\`; whole: \`/campaigns\`, \`/offers\`, \`/landing-pages\`, \`/traffic-sources\` |
| records | the array \`data\` |
| primary key | \`id\`; of events \`origin\`, \`id\`, \`generation\` |
| page token | \`nextCursor\` of the response, sent as \`cursor\` with the same parameters; \`null\` on the last page |
| page size | \`limit=${pageLimitMax}\` |
| cursor field (bookmark) | \`storedAt\`, the largest of a run that completed |
| its parameter | \`updated_after\`; in the first run \`1970-01-01T00:00:00Z\` |
| look-back | none; of events one minute |
| write mode | upsert (merge, deduplicate) by the primary key |
| retries | status 429 and 503 after \`Retry-After\` seconds; 500, 502, 504 and network errors after a pause that doubles |
| no retries | any other 4xx: \`message\` says what to change |
| parallelism | up to 8 requests at a time for an account |

A run skips nothing, and reads nothing twice except the events of the look-back. A run that was interrupted does not move the bookmark: the next one starts from the same
bookmark. This is a complete connector of conversions:

\`\`\`js
import { readFile, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

async function getPage(query) {
  for (let pause = 1; ; pause = Math.min(2 * pause, 60)) {
    const headers = { Authorization: 'ApiKey trb_live_…' }
    const response = await fetch('${baseUrl}/conversions?' + new URLSearchParams(query), { headers }).catch(() => null)
    if (response?.ok) return await response.json()
    if (response && response.status < 500 && response.status !== 429) throw new Error((await response.json()).message)
    await sleep(1000 * Number(response?.headers.get('retry-after') ?? pause))
  }
}

const state = await readFile('state.json', 'utf8').then(JSON.parse, () => ({ bookmark: '1970-01-01T00:00:00Z', rows: {} }))
const query = { updated_after: state.bookmark, include_test_mode: 'true', limit: '${pageLimitMax}' }
let read = 0
for (;;) {
  const { data, nextCursor } = await getPage(query)
  for (const row of data) {
    state.rows[row.id] = row
    if (row.storedAt > state.bookmark) state.bookmark = row.storedAt
  }
  read += data.length
  if (nextCursor === null) break
  query.cursor = nextCursor
}
await writeFile('state.json', JSON.stringify(state))
console.log(read + ' rows read')
\`\`\`
`.trim()

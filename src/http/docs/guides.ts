import { propertyLimits } from '../../../schema/event.ts'
import { pageLimitDefault, pageLimitMax } from '../../../schema/page.ts'
import { errorTable } from './errorTable.ts'

/**
 * The guides, as sections without operations, in the order of the documentation. Their text is Markdown;
 * test/docs/guides.test.ts runs every code block.
 * @param baseUrl address of the API, `https://api.example.com/api/v1`
 */
export function guides(baseUrl: string): { name: string; description: string }[] {
  return [
    { name: 'Keys and scopes', description: keys },
    { name: 'Parameters and values', description: values },
    { name: 'Pages', description: pages(baseUrl) },
    { name: 'Exports', description: exports(baseUrl) },
    { name: 'Incremental sync', description: sync(baseUrl) },
    { name: 'Sending events', description: events(baseUrl) },
    { name: 'Errors', description: errors },
    { name: 'Limits', description: limits },
  ]
}

const keys = `
Every request has the header \`Authorization: ApiKey trb_live_…\`.

A key belongs to one account and reads the rows of that account only. Rows of other accounts do not exist for it: the response is the
same as for an unknown id.

A key has scopes, and each operation names the one that it requires. A request without it is 403 \`insufficient_scope\`; \`required\`
names the scope. A revoked or expired key is refused within 5 seconds.
`.trim()

const values = `
**Parameters** are validated strictly. An unknown, empty, repeated or out-of-range parameter is an error; none is ignored, so a
misspelled filter never returns unfiltered data.

**Times** are UTC with milliseconds. \`from\` and \`to\` take a date (the day of \`to\` is included) or a timestamp with its UTC offset.

**Amounts** are numbers with at most six decimals; a separate field has the currency.

**Absent values** are \`null\`; fields are never omitted.
`.trim()

const pages = (baseUrl: string) =>
  `
Lists take \`limit\` (1 to ${pageLimitMax}, default ${pageLimitDefault}) and return \`{ data, nextCursor, hasMore }\`. Pass \`nextCursor\` as \`cursor\` with the same
filters to get the next page. Reading all pages returns every row exactly once, even while new rows arrive. A cursor never expires.

\`\`\`python
import json, urllib.parse, urllib.request

query = {'from': '2026-11-01', 'limit': '${pageLimitMax}'}
while True:
    request = urllib.request.Request(
        '${baseUrl}/conversions?' + urllib.parse.urlencode(query),
        headers={'Authorization': 'ApiKey trb_live_…'},
    )
    with urllib.request.urlopen(request) as response:
        page = json.load(response)
    for row in page['data']:
        print(row['convertedAt'], row['status'], row['revenue'])
    if not page['hasMore']:
        break
    query['cursor'] = page['nextCursor']
\`\`\`

\`\`\`js
const query = new URLSearchParams({ converted: 'true', limit: '${pageLimitMax}' })
for (let cursor = ''; cursor !== null; ) {
  if (cursor) query.set('cursor', cursor)
  const response = await fetch('${baseUrl}/clicks?' + query, { headers: { Authorization: 'ApiKey trb_live_…' } })
  if (!response.ok) throw new Error((await response.json()).message)
  const page = await response.json()
  for (const { clickedAt, country } of page.data) console.log(clickedAt, country)
  cursor = page.nextCursor
}
\`\`\`
`.trim()

const exports = (baseUrl: string) =>
  `
Every list, but not a search, can be exported in full: one streamed response with all rows that match the filters, as
\`application/x-ndjson\`, \`text/csv\` or \`application/vnd.apache.parquet\`, selected by \`Accept\` or \`format\`. Reports and the daily
series are also available as CSV.

\`\`\`sh
curl --compressed -H 'Authorization: ApiKey trb_live_…' '${baseUrl}/clicks?from=2026-11-01&format=csv'
\`\`\`

Exported rows have the fields and the order of the JSON pages, and a field \`cursor\`. If an export fails, the server resets the
connection: request it again with the \`cursor\` of the last complete row to continue.

**Spreadsheets.** Visitors control referrers, user agents and tracking parameters, and a spreadsheet executes a cell that begins with
\`=\`, \`+\`, \`-\`, \`@\`, a tab or a carriage return as a formula. \`csv_escape=formulas\` puts \`'\` before such text cells; numbers and
dates do not change. Use it for files opened in a spreadsheet; leave it out for files read by programs or imports.

\`\`\`sh
curl --compressed -H 'Authorization: ApiKey trb_live_…' '${baseUrl}/clicks?from=2026-11-01&format=csv&csv_escape=formulas'
\`\`\`
`.trim()

const sync = (baseUrl: string) =>
  `
To keep a copy of \`/clicks\` or \`/conversions\`:

1. Export the list. The header \`X-As-Of\` is your first \`updated_since\`; of a resumed export, take the header of its first response.
2. Later, read all pages with \`updated_since\`. They have every row stored or changed since then, by \`storedAt\`, whatever the row's own
   date. Upsert them by \`id\`.
3. The \`asOf\` of the last page is the next \`updated_since\`.

\`\`\`sh
curl -H 'Authorization: ApiKey trb_live_…' '${baseUrl}/conversions?updated_since=2026-11-21T03:00:00.000Z&include_test_mode=true'
\`\`\`

Use no filters: a row that no longer matches one is not returned. Include test conversions (\`include_test_mode=true\`). Names and a
click's conversion count are those at the time of the request: store names separately.
`.trim()

const events = (baseUrl: string) =>
  `
An event names its click (\`click_id\`), or a visitor and a campaign (\`visitor_id\` and \`campaign_id\`). The click or campaign must
belong to your account. An event never changes a conversion, a click or an amount in stats and reports.

\`\`\`sh
curl -H 'Authorization: ApiKey trb_live_…' -H 'Content-Type: application/json' -d '{"click_id":"c-1","event_name":"trial_converted","event_id":"order-1042-paid"}' '${baseUrl}/events'
\`\`\`

**Retries.** 200 means that the event is stored. After a 503 response, or none, send it again with the same \`event_id\`: it is stored
once. Within 24 hours the same \`event_id\` is a duplicate: 200 with \`deduplicated: true\`.

**Properties.** Up to ${propertyLimits.keysMax} fields that you define: text of up to ${propertyLimits.textLengthMax} characters, finite numbers, booleans. Fields above a limit or
of another type are dropped, and the event is stored without them.
`.trim()

const errors = `
An error response is \`{ error, message, requestId }\`. \`error\` is a stable code for programs; \`message\` explains it to a person and may
change. \`param\` names the parameter or field at fault. Include \`requestId\` in support requests.

${errorTable()}
`.trim()

const limits = `
**Requests** are limited per key and minute. Every response has the headers \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and
\`X-RateLimit-Reset\` (seconds). After a 429 or 503 response, wait for \`Retry-After\` seconds.

**Exports** are limited to two at the same time per account, or one while the server is busy. The server disconnects a client that reads
nothing for a minute, or less than 1 MB in five minutes.

**Events** are limited per key and per click or visitor, and to twenty times the plan's monthly click allowance: events beyond that are
accepted, but not stored (\`recorded: false\`). \`GET /usage\` returns all limits of your key and what has been used.
`.trim()

import { pageLimitDefault, pageLimitMax } from '../../../schema/page.ts'
import { problemStatus } from '../../../schema/problem.ts'
import { apiPrefix, docsPrefix } from '../accessControl.ts'

/** Text of the documentation page above the operations, in Markdown; test/docs/introduction.test.ts runs every code block. */
export const introduction = `
Read the clicks, conversions, statistics and reports of your campaigns; send events from your server.

## Getting started

1. Get an API key from the operator of this server: \`tributary key create\` creates a key and shows it once; so does \`npm run demo\`.
2. Press **Authorize** above the operations and paste the key.
3. Open an operation below and press **Execute**: the response contains your own rows.

The same request from a terminal:

\`\`\`sh
curl -H 'Authorization: ApiKey trb_live_…' 'http://127.0.0.1:3000${apiPrefix}/reports?group_by=campaign&days=7'
\`\`\`

In JavaScript, in the browser console on this page or in Node:

\`\`\`js
const response = await fetch('http://127.0.0.1:3000${apiPrefix}/clicks?converted=true&limit=5', {
  headers: { Authorization: 'ApiKey trb_live_…' },
})
if (!response.ok) throw new Error((await response.json()).message)
for (const { clickedAt, country } of (await response.json()).data) console.log(clickedAt, country)
\`\`\`

All pages of a list, in Python:

\`\`\`python
import json, urllib.parse, urllib.request

query = {'from': '2026-11-01', 'limit': '${pageLimitMax}'}
while True:
    request = urllib.request.Request(
        'http://127.0.0.1:3000${apiPrefix}/conversions?' + urllib.parse.urlencode(query),
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

An event from your server. If no response arrives, send it again with the same \`event_id\`: it is stored once.

\`\`\`sh
curl -H 'Authorization: ApiKey trb_live_…' -H 'Content-Type: application/json' -d '{"click_id":"c-1","event_name":"trial_converted","event_id":"order-1042-paid"}' 'http://127.0.0.1:3000${apiPrefix}/events'
\`\`\`

Every path below begins with \`${apiPrefix}\`. This page is generated from [an OpenAPI 3.1 document](${docsPrefix}/json); use it to generate clients.

## Conventions of all operations

**API keys** have scopes; each operation names the scope that it requires. A key reads the rows of its own account only.

**Pages.** Lists take \`limit\` (1 to ${pageLimitMax}, default ${pageLimitDefault}) and return \`{ data, nextCursor, hasMore }\`. Pass \`nextCursor\` as \`cursor\`
with the same filters to get the next page. Reading all pages returns every row exactly once, even while new rows arrive; a cursor never expires.

**Exports.** \`/clicks\` and \`/conversions\` can be exported in full: one streamed response with all rows that match the filters, as
\`application/x-ndjson\`, \`text/csv\` or \`application/vnd.apache.parquet\`, selected by \`Accept\` or \`format\`. Reports and the daily
series are also available as CSV. Exported rows have the fields and the order of the JSON pages, and a field \`cursor\`. If an export
fails, the server resets the connection; request it again with the \`cursor\` of the last complete row to continue. The limit is two
concurrent exports per account, or one while the server is busy. The server disconnects a client that reads nothing for a minute, or
less than 1 MB in five minutes.

\`\`\`sh
curl --compressed -H 'Authorization: ApiKey trb_live_…' 'http://127.0.0.1:3000${apiPrefix}/clicks?from=2026-11-01&format=csv'
\`\`\`

CSV cells contain text as it was stored. Visitors control referrers, user agents and tracking parameters, and a spreadsheet executes
a cell that begins with \`=\`, \`+\`, \`-\`, \`@\`, a tab or a carriage return as a formula. \`csv_escape=formulas\` puts \`'\` before such
text cells; numbers and dates do not change. Use it for files opened in a spreadsheet; leave it out for files read by programs or imports.

\`\`\`sh
curl --compressed -H 'Authorization: ApiKey trb_live_…' 'http://127.0.0.1:3000${apiPrefix}/clicks?from=2026-11-01&format=csv&csv_escape=formulas'
\`\`\`

**Incremental sync.** To keep a copy of \`/clicks\` or \`/conversions\`, start with an export; its \`X-As-Of\` header is the first
\`updated_since\` (of a resumed export, the header of its first response). Then request the list with \`updated_since\`: it returns every
row stored or changed since then, by \`storedAt\`, whatever the row's own date. The \`asOf\` of the last page is the next
\`updated_since\`. Upsert rows by \`id\`. Rows that no longer match a filter are not returned, and names and a click's conversion count are
those at the time of the request: so use no filters, include test rows (\`include_test_mode=true\`) and store names separately.

**Parameters** are validated strictly: an unknown, empty, repeated or out-of-range parameter is an error; none is ignored.

**Times** are UTC with milliseconds. \`from\` and \`to\` take a date (the day of \`to\` is included) or a timestamp with its UTC offset.

**Amounts** are numbers with at most six decimals; a separate field has the currency. An absent value is \`null\`; fields are never omitted.

**Rate limits** are per key and minute. Every response has them: \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\`, \`X-RateLimit-Reset\` (seconds).
After a 429 or 503 response, wait for \`Retry-After\` seconds.

## Errors

An error response is \`{ error, message, requestId }\`. \`error\` is a stable code for programs; \`message\` may change.

| status | \`error\` |
| --- | --- |
${errorTable()}
`.trim()

/** One row per status, with its codes. */
function errorTable(): string {
  const codes = Object.entries(problemStatus)
  return [...new Set(Object.values(problemStatus))]
    .map((status) => {
      const named = codes.flatMap(([code, codeStatus]) => (codeStatus === status ? [`\`${code}\``] : []))
      return `| ${status} | ${[...(status === 400 ? ['`invalid_<parameter>`'] : []), ...named].join(' ')} |`
    })
    .join('\n')
}

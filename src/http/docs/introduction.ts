import { pageLimitDefault, pageLimitMax } from '../../../schema/page.ts'
import { problemStatus } from '../../../schema/problem.ts'
import { apiPrefix, docsPrefix } from '../accessControl.ts'

/** What the page says before its calls, in Markdown; test/docs/introduction.test.ts runs every block of code in it. */
export const introduction = `
Pull clicks, conversions, statistics and reports of your campaigns; send events from your server.

## Getting started

1. Get a key from whoever runs this server: \`tributary key create\` makes one and shows it once, as \`npm run demo\` does.
2. Press **Authorize** above the calls and paste it.
3. Open a call below and press **Execute**: the answer is made of your own rows.

The same from a terminal, with the address of this server:

\`\`\`sh
curl -H 'Authorization: ApiKey trb_live_…' 'http://127.0.0.1:3000${apiPrefix}/reports?group_by=campaign&days=7'
\`\`\`

From JavaScript, in a browser's console on this page or in Node:

\`\`\`js
const answer = await fetch('http://127.0.0.1:3000${apiPrefix}/clicks?converted=true&limit=5', {
  headers: { Authorization: 'ApiKey trb_live_…' },
})
if (!answer.ok) throw new Error((await answer.json()).message)
for (const { clickedAt, country } of (await answer.json()).data) console.log(clickedAt, country)
\`\`\`

A list to its end, from Python:

\`\`\`python
import json, urllib.parse, urllib.request

query = {'from': '2026-11-01', 'limit': '${pageLimitMax}'}
while True:
    request = urllib.request.Request(
        'http://127.0.0.1:3000${apiPrefix}/conversions?' + urllib.parse.urlencode(query),
        headers={'Authorization': 'ApiKey trb_live_…'},
    )
    with urllib.request.urlopen(request) as answer:
        page = json.load(answer)
    for row in page['data']:
        print(row['convertedAt'], row['status'], row['revenue'])
    if not page['hasMore']:
        break
    query['cursor'] = page['nextCursor']
\`\`\`

An event from your back end; sent again with the same \`event_id\`, as after an answer that never came, it is stored once:

\`\`\`sh
curl -H 'Authorization: ApiKey trb_live_…' -H 'Content-Type: application/json' -d '{"click_id":"c-1","event_name":"trial_converted","event_id":"order-1042-paid"}' 'http://127.0.0.1:3000${apiPrefix}/events'
\`\`\`

Every path below begins with \`${apiPrefix}\`. This page is made of [an OpenAPI 3.1 document](${docsPrefix}/json), from which clients can be generated.

## What all calls have in common

**Keys** have scopes; each call names the one it needs. A key sees the rows of its own account and no others.

**Pages.** Lists take \`limit\` (1 to ${pageLimitMax}, default ${pageLimitDefault}) and answer \`{ data, nextCursor, hasMore }\`. Pass \`nextCursor\` as \`cursor\`
with the same filters to read on. Walking a list visits every row exactly once, whatever arrives meanwhile; a cursor never expires.

**Exports.** \`/clicks\` and \`/conversions\` also leave whole: all rows of the filters in one answer of any length, as
\`application/x-ndjson\`, \`text/csv\` or \`application/vnd.apache.parquet\`, by \`Accept\` or by \`format\`; reports and the daily series as CSV.
Rows have the same fields and order as in JSON, and one more, \`cursor\`. An answer that breaks off ends with a reset connection;
call again with the \`cursor\` of the last complete row to go on after it. An account may have two exports at a time, one while the
server is busy. A client that takes no byte of a response for a minute, or less than 1 MB in five minutes, is disconnected.

\`\`\`sh
curl --compressed -H 'Authorization: ApiKey trb_live_…' 'http://127.0.0.1:3000${apiPrefix}/clicks?from=2026-11-01&format=csv'
\`\`\`

Text cells are written as they were stored, and referrers, user agents and tracking parameters come from strangers: a spreadsheet runs
a cell that begins with \`=\`, \`+\`, \`-\`, \`@\`, a tab or a carriage return as a formula. \`csv_escape=formulas\` puts \`'\` before such
cells of any CSV; numbers and dates stay as they are. Use it for files that people open; leave it out for files that programs or imports read.

\`\`\`sh
curl --compressed -H 'Authorization: ApiKey trb_live_…' 'http://127.0.0.1:3000${apiPrefix}/clicks?from=2026-11-01&format=csv&csv_escape=formulas'
\`\`\`

**Staying in step.** A copy of \`/clicks\` and \`/conversions\` begins with an export; its \`X-As-Of\`, of the first call where it was
resumed, is the first \`updated_since\`. From then on ask with \`updated_since\`: every row that came or changed, by \`storedAt\`, the
moment our store took it, whenever it was dated; the \`asOf\` of the last page is the next \`updated_since\`. Put rows in by \`id\`. What a
filter no longer matches does not come, and names and a click's count of conversions are as of the reading, so keep filters off, tests in
(\`include_test_mode=true\`) and names apart.

**Parameters** are checked strictly: one that is unknown, empty, given twice or out of range is refused, never ignored.

**Times** are UTC with milliseconds. \`from\` and \`to\` take a date (a \`to\` date counts whole) or an instant with its offset.

**Money** is a number with at most six decimals; its currency stands beside it. An absent value is \`null\`, never left out.

**Limits** are per key and minute. Every answer tells them: \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\`, \`X-RateLimit-Reset\` (seconds).
After a 429 or a 503 wait for \`Retry-After\` seconds.

## Errors

An error is \`{ error, message, requestId }\` with a fitting status. \`error\` is a stable code to branch on; \`message\` may change.

| status | \`error\` |
| --- | --- |
${errorTable()}
`.trim()

/** One row a status, with its codes. */
function errorTable(): string {
  const codes = Object.entries(problemStatus)
  return [...new Set(Object.values(problemStatus))]
    .map((status) => {
      const named = codes.flatMap(([code, itsStatus]) => (itsStatus === status ? [`\`${code}\``] : []))
      return `| ${status} | ${[...(status === 400 ? ['`invalid_<parameter>`'] : []), ...named].join(' ')} |`
    })
    .join('\n')
}

import { pageLimitDefault, pageLimitMax } from '../../../../schema/page.ts'

/** Reading all rows of a list, page by page. */
export const pagesGuide = (baseUrl: string) =>
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

**Fields.** \`fields=clickedAt,country\` returns only these fields, and always \`id\`, in the order of the schema. It works in every
format. A cursor stays valid with other fields. In a search, \`fields\` has another meaning: the fields to search.

\`\`\`sh
curl -H 'Authorization: ApiKey trb_live_…' '${baseUrl}/clicks?from=2026-11-01&fields=clickedAt,country'
\`\`\`
`.trim()

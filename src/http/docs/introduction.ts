/**
 * Text of the documentation page above the operations, in Markdown; llms.txt has it too. test/docs/guides.test.ts runs every
 * code block.
 */
export function introduction(baseUrl: string): string {
  return `
Read the clicks, conversions, stats and reports of your campaigns, and send events from your server.

## Start

1. Get an API key: \`npm run demo\` prints one. For your own account, the operator of this server creates it with \`tributary key create\`.
2. Enter the key in the field **API key** of [the documentation page](${baseUrl}/docs) and press **Use key**. It is checked and kept until you close the tab.
3. Open an operation and press **Test Request**, or paste this into a terminal:

\`\`\`sh
curl -H 'Authorization: ApiKey trb_live_…' '${baseUrl}/reports?group_by=campaign&days=7'
\`\`\`

The guides after the operations explain reports, pages, exports, copies in a warehouse, events, errors, limits and tools. All of this is generated from
[an OpenAPI 3.1 document](${baseUrl}/docs/json), which generates clients and [imports into Postman](${baseUrl}/docs#tag/tools).
[llms.txt](${baseUrl}/docs/llms.txt) has the same as plain text.
`.trim()
}

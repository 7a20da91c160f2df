/** All rows of a list in one response. */
export const exportsGuide = (baseUrl: string) =>
  `
Every list, but not a search, can be exported in full: one streamed response with all rows that match the filters, as
\`application/x-ndjson\`, \`text/csv\` or \`application/vnd.apache.parquet\`, selected by \`Accept\` or \`format\`. Reports and the daily
series are also available as CSV.

\`\`\`sh
curl --compressed -H 'Authorization: ApiKey trb_live_…' '${baseUrl}/clicks?from=2026-11-01&format=csv'
\`\`\`

Exported rows have the fields and the order of the JSON pages, and a field \`cursor\`. If an export fails, the server resets the
connection: request it again with the \`cursor\` of the last complete row to continue.

**Retention.** An account may remove clicks and events after some months. A response that would need them has the rows that are left
and \`retainedFrom\`, the time of the first ones; an export has the header \`X-Retained-From\`. Reports and series of whole UTC days
by campaign, country, device, system, browser, offer, landing page or traffic source still count them.

**Spreadsheets.** Visitors control referrers, user agents and tracking parameters, and a spreadsheet executes a cell that begins with
\`=\`, \`+\`, \`-\`, \`@\`, a tab or a carriage return as a formula. \`csv_escape=formulas\` puts \`'\` before such text cells; numbers and
dates do not change. Use it for files opened in a spreadsheet; leave it out for files read by programs or imports.

\`\`\`sh
curl --compressed -H 'Authorization: ApiKey trb_live_…' '${baseUrl}/clicks?from=2026-11-01&format=csv&csv_escape=formulas'
\`\`\`
`.trim()

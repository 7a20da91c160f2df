import { filterValuesMax } from '../../../../schema/filters.ts'
import { reportBucketsMax } from '../../../../schema/report.ts'

/** Reports with several dimensions and filters. @param baseUrl address of the API */
export const drillDownGuide = (baseUrl: string) =>
  `
\`GET /reports\` groups by one to three dimensions, and has one row per combination of values. \`sort\` orders the rows by a metric or by
id, \`limit\` returns only the first ones, and \`metrics\` selects columns.

\`\`\`sh
curl -H 'Authorization: ApiKey trb_live_…' '${baseUrl}/reports?group_by=campaign,country&days=7&metrics=clicks,conversions,profit&sort=-profit&limit=20'
\`\`\`

With several dimensions, \`dimensions\` of a row has the id and the name of each; \`id\` is their ids as a JSON array. \`totals\` and
\`bucketCount\` include the rows beyond \`limit\`; \`truncated\` says whether there are any. A report has at most ${reportBucketsMax.toLocaleString('en')} rows: filter it for more.

**Filters** narrow a report. Take the campaign from a row and group it by something else:

\`\`\`sh
curl -G -H 'Authorization: ApiKey trb_live_…' '${baseUrl}/reports' -d group_by=device,os -d days=7 -d campaign_id=k1 -d country=DE,AT --data-urlencode 'sub1=!(not set)'
\`\`\`

A filter takes up to ${filterValuesMax} values, separated by commas, in exact case. A leading \`!\` excludes them; \`(not set)\` is the empty value. Write
\`\\,\` for a comma within a value, \`\\\\\` for a backslash and \`\\!\` for an exclamation mark at the start. Several filters all apply.

**The rows behind a number.** \`/clicks\` and \`/conversions\` take the same filters; reports leave out the clicks of bots and test rows.

\`\`\`sh
curl -H 'Authorization: ApiKey trb_live_…' '${baseUrl}/clicks?from=2026-11-15&campaign_id=k1&country=DE&is_bot=false&is_test=false'
\`\`\`

Totals are the same under every grouping: clicks by campaign and country add up to the clicks by day, and revenue to the same cent.
A conversion counts at the time when it converted. City, language, UTM parameters and other fields that only clicks have come from its
click.

**Spreadsheets.** \`format=csv\` has a column for the id and one for the name of each dimension; \`totals=true\` adds a last line with the totals
of all rows. The headers \`X-Bucket-Count\` and \`X-Truncated\` say what \`bucketCount\` and \`truncated\` say in JSON.

\`\`\`sh
curl -H 'Authorization: ApiKey trb_live_…' '${baseUrl}/reports?group_by=campaign,country&days=7&format=csv&totals=true'
\`\`\`
`.trim()

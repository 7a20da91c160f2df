/** Time zones of reports and stats. @param baseUrl address of the API */
export const localTimeGuide = (baseUrl: string) =>
  `
Reports and stats count in UTC. \`tz\` (an IANA name, such as \`Asia/Kolkata\`) makes it local time: \`days\`, the dates in \`from\` and \`to\`, and
all units of time. Instants in \`from\` and \`to\` have their own offset. Lists and exports are always in UTC.

\`\`\`sh
curl -H 'Authorization: ApiKey trb_live_…' '${baseUrl}/reports?group_by=hour&days=2&tz=America/New_York&sort=id'
\`\`\`

| dimension | id |
| --- | --- |
| \`hour\` | \`2026-11-01T01:00-04:00\`: the hour and its UTC offset |
| \`day\` | \`2026-11-01\` |
| \`week\` | \`2026-10-26\`: the Monday |
| \`month\` | \`2026-11\` |
| \`hour_of_day\` | \`00\` to \`23\` |
| \`weekday\` | \`1\` (Monday) to \`7\` |

**Clock changes.** When a clock is set back, one local hour occurs twice: two hours with different offsets, both in the same \`hour_of_day\`.
When it is set forward, an hour is missing. Such days have 25 or 23 hours, and each click is in exactly one of them.

The best hours of the week:

\`\`\`sh
curl -H 'Authorization: ApiKey trb_live_…' '${baseUrl}/reports?group_by=weekday,hour_of_day&days=30&tz=America/New_York&sort=-epc&limit=10'
\`\`\`

**Series.** A report has no rows for hours and days without clicks or conversions. \`/stats/daily\` has a row for each unit of
\`interval\` (\`hour\`, \`day\`, \`week\` or \`month\`); \`complete\` is false if the range cuts it or it has not ended.

\`\`\`sh
curl -H 'Authorization: ApiKey trb_live_…' '${baseUrl}/stats/daily?from=2026-09-01&to=2026-11-21&interval=month&tz=America/New_York'
\`\`\`
`.trim()

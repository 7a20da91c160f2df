/** Reports beside the same report of an earlier range. @param baseUrl address of the API */
export const comparePeriodsGuide = (baseUrl: string) =>
  `
\`compare\` adds an earlier range to a report, to the daily series and to the overview: \`previous_period\` is the range of the same length
just before, \`previous_year\` the same range one year earlier. All other fields are the same as without \`compare\`.

\`\`\`sh
curl -H 'Authorization: ApiKey trb_live_…' '${baseUrl}/reports?group_by=campaign&from=2026-11-20&to=2026-11-20&compare=previous_period'
\`\`\`

Each row has \`previous\`, its metrics in the earlier range, with zeros where there was nothing. The response has \`previous\` with the
\`from\`, \`to\` and \`totals\` of that range.

**An unfinished range.** If the range includes the present, the earlier range ends at the same local time: today until 10:20 is
compared with yesterday until 10:20, so a day that has just begun does not look bad.

**Which rows are compared.** Campaigns, countries and other values are compared with themselves. Hours and days are compared with
the same local time that many days earlier, weeks and months by position: the second month with the second month. \`previous.id\` is the
id there; it is null where the earlier range has no such unit, as for 29 February.

A range of whole local days is shifted by its number of days, also across a clock change. Any other range is shifted by its duration.

\`\`\`sh
curl -H 'Authorization: ApiKey trb_live_…' '${baseUrl}/stats/daily?days=7&tz=Europe/Berlin&compare=previous_year'
\`\`\`
`.trim()

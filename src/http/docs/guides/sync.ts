/** Keeping a copy of a list. */
export const syncGuide = (baseUrl: string) =>
  `
To keep a copy of \`/clicks\`, \`/conversions\` or \`/events\`:

1. Export the list. The header \`X-As-Of\` is your first \`updated_since\`; of a resumed export, take the header of its first response.
2. Later, read all pages with \`updated_since\`. They have every row stored or changed since then, by \`storedAt\`, independent of the row's own
   date. Upsert them by \`id\`, events by \`origin\`, \`id\` and \`generation\`.
3. The \`asOf\` of the last page is the next \`updated_since\`. For \`/events\`, subtract a minute: their \`storedAt\` is the clock of
   the event store, and events that are stored after that clock was set back have an earlier \`storedAt\` until it has caught up.

\`\`\`sh
curl -H 'Authorization: ApiKey trb_live_…' '${baseUrl}/conversions?updated_since=2026-11-21T03:00:00.000Z&include_test_mode=true'
\`\`\`

Use no filters: a row that no longer matches one is not returned. Include test conversions (\`include_test_mode=true\`). Names and a
click's conversion count are those at the time of the request: store names separately.

**By rows alone.** A connector that keeps nothing but rows continues with \`updated_after\`, which is strictly later: read all pages
with \`updated_since=1970-01-01\`, then pass the largest \`storedAt\` of all completed runs. A run that was interrupted does not count:
read it again from its start. For \`/events\`, subtract the minute here too. \`GET /checksums/clicks\`,
\`GET /checksums/conversions\` and \`GET /checksums/events\` prove that a copy is complete.

\`\`\`sh
curl -H 'Authorization: ApiKey trb_live_…' '${baseUrl}/clicks?updated_after=2026-11-21T03:00:00.000Z'
\`\`\`
`.trim()

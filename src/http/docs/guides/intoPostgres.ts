import { serverUrl } from './serverUrl.ts'

/** Copying the account into PostgreSQL. @param baseUrl address of the API */
export const intoPostgresGuide = (baseUrl: string) =>
  `
\`tributary-sync\` keeps a verified copy of clicks, conversions, events and metadata in PostgreSQL 14 or later, in typed tables with the
names of the API in snake case. The key needs the scopes that read the resources; the user of the database must be able to create a
schema. It is not in a registry: make the packages in a clone of Tributary, and install both files.

\`\`\`sh
npm pack -w tributary-client -w tributary-sync
npm install --global ./tributary-client-0.1.0.tgz ./tributary-sync-0.1.0.tgz
\`\`\`

\`\`\`sh
export TRIBUTARY_KEY=trb_live_…
tributary-sync postgres://user:password@localhost:5432/warehouse --url ${serverUrl(baseUrl)} --verify
\`\`\`

Run it again to copy what has changed since, or add \`--every 5m\`. It can be interrupted at any moment and continues where it was.
\`--verify\` compares every day with the checksums of the API and replaces days that differ.

The views \`click_details\`, \`conversion_details\` and \`event_details\` add current names. Two functions return the numbers of
\`GET /reports\` and \`GET /stats/daily\`:

\`\`\`sql
SELECT id, name, clicks, conversions, revenue, epc FROM tributary.report('campaign', '2026-11-01', '2026-12-01');
\`\`\`

\`\`\`sql
SELECT day, clicks, conversions, revenue FROM tributary.daily('Europe/Berlin', '2026-11-01', '2026-11-30');
\`\`\`

Query the tables for all else:

\`\`\`sql
SELECT campaign_name, count(*) AS clicks, count(*) FILTER (WHERE converted) AS converted
FROM tributary.click_details
WHERE clicked_at >= '2026-11-01' AND NOT is_bot AND NOT is_test
GROUP BY campaign_name
ORDER BY clicks DESC;
\`\`\`
`.trim()

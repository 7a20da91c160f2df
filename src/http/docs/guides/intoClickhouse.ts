/** Copying lists into ClickHouse by its own function `url`. @param baseUrl address of the API */
export const intoClickhouseGuide = (baseUrl: string) =>
  `
ClickHouse reads an export by itself: the function \`url\` sends the key as a header. Create a table with the columns of the export, and
a table that records how far it has been filled:

\`\`\`sql
CREATE TABLE clicks ENGINE = ReplacingMergeTree(storedAt) ORDER BY id EMPTY AS
SELECT * EXCEPT cursor REPLACE (assumeNotNull(id) AS id, assumeNotNull(storedAt) AS storedAt)
FROM url('${baseUrl}/clicks?format=parquet', Parquet, headers('Authorization' = 'ApiKey trb_live_…'));
\`\`\`

\`\`\`sql
CREATE TABLE filled (resource String, storedAt DateTime64(3, 'UTC')) ENGINE = ReplacingMergeTree(storedAt) ORDER BY resource;
\`\`\`

These two statements read all rows at first, and later only rows that were stored or changed since. If the first one fails, repeat it: rows
that are read twice replace themselves.

\`\`\`sql
INSERT INTO clicks
SELECT * EXCEPT cursor
FROM url(
  '${baseUrl}/clicks?format=parquet&updated_after=' || (SELECT formatDateTime(max(storedAt), '%FT%T.%fZ', 'UTC') FROM filled WHERE resource = 'clicks'),
  Parquet,
  headers('Authorization' = 'ApiKey trb_live_…')
);
\`\`\`

\`\`\`sql
INSERT INTO filled SELECT 'clicks', max(storedAt) FROM clicks;
\`\`\`

Query the table with \`FINAL\`, which returns the latest version of each row:

\`\`\`sql
SELECT campaignId, count() AS clicks, sum(costBase) AS cost
FROM clicks FINAL
WHERE NOT isBot AND NOT isTest
GROUP BY campaignId
ORDER BY clicks DESC;
\`\`\`

For \`conversions\`, add \`include_test_mode=true\` to the address. For \`events\`, use \`ORDER BY (origin, id, generation)\` and pass the recorded
time minus a minute. Names are as old as the read of their row: copy \`/campaigns?format=parquet\` and the other metadata too.
`.trim()

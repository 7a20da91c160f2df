/** Rate limits and exports at the same time. */
export const limitsGuide = `
**Requests** are limited per key and minute. Every response has the headers \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and
\`X-RateLimit-Reset\` (seconds). After a 429 or 503 response, wait for \`Retry-After\` seconds.

**Exports** are limited to two at the same time per account, or one while the server is busy. The server disconnects a client that reads
nothing for a minute, or less than 1 MB in five minutes.

**Events** are limited per key and per click or visitor, and to twenty times the plan's monthly click allowance: events beyond that are
accepted, but not stored (\`recorded: false\`). \`GET /usage\` returns all limits of your key and what has been used.
`.trim()

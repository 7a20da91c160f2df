/** Keys, accounts and scopes. */
export const keysGuide = `
Every request has the header \`Authorization: ApiKey trb_live_…\`.

A key belongs to one account and reads the rows of that account only. Rows of other accounts do not exist for it: the response is the
same as for an unknown id.

A key has scopes, and each operation names the scope that it requires. A request without it is 403 \`insufficient_scope\`; \`required\`
names the scope. A revoked or expired key is refused within 5 seconds.

Scopes are stored with the key: one that was created with all scopes before a scope existed, such as \`read:events\`, does not have it.
`.trim()

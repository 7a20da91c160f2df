/** How parameters are validated, and how values are written. */
export const valuesGuide = `
**Parameters** are validated strictly. An unknown, empty, repeated or out-of-range parameter is an error, so a misspelled
filter never returns unfiltered data. Only \`days\` is ignored, beside \`from\`.

**Times** are UTC with milliseconds. \`from\` and \`to\` take a date (the day of \`to\` is included) or a timestamp with its UTC offset.

**Amounts** are numbers with at most six decimals; a separate field has the currency.

**Absent values** are \`null\`. A row of a list always has all fields, or the fields of the parameter \`fields\`.
`.trim()

import { errorTable } from './errorTable.ts'

/** The form of errors, and all codes. */
export const errorsGuide = `
An error response is \`{ error, message, requestId }\`. \`error\` is a stable code for programs; \`message\` explains it to a person and may
change. \`param\` names the parameter or field at fault. Include \`requestId\` in support requests.

${errorTable()}
`.trim()

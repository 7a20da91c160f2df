/** Programs that read the OpenAPI document. @param baseUrl address of the API */
export const toolsGuide = (baseUrl: string) =>
  `
**JavaScript and TypeScript.** \`tributary-client\` has the types of this API, reads all pages, streams exports and retries. Other
languages: generate a client from [the OpenAPI 3.1 document](${baseUrl}/docs/json).

**Postman.** Import the URL of that document. In the import settings, set **Parameter generation** to **Example** and turn off **Enable
optional parameters**: by default, Postman sends every optional parameter with an invented value. Then set the variable \`apiKey\` of the collection to your key.
`.trim()

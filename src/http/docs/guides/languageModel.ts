import { serverUrl } from './serverUrl.ts'

/** Reading the API with a language model. @param baseUrl address of the API */
export const languageModelGuide = (baseUrl: string) =>
  `
**As tools.** \`tributary-mcp\` serves every read operation but checksums as a tool of the Model Context Protocol.
It is not in a registry: make the packages in a clone of Tributary, and install both files.

\`\`\`sh
npm pack -w tributary-client -w tributary-mcp
npm install --global ./tributary-client-0.1.0.tgz ./tributary-mcp-0.1.0.tgz
\`\`\`

Add it to the configuration of the program that runs the model:

\`\`\`json
{
  "mcpServers": {
    "tributary": {
      "command": "tributary-mcp",
      "args": ["--url", "${serverUrl(baseUrl)}"],
      "env": { "TRIBUTARY_KEY": "trb_live_…" }
    }
  }
}
\`\`\`

Tools have the names of operations, such as \`get_reports\`, \`get_stats_daily\`, \`get_clicks\` and \`get_funnels\`, and their parameters. They only
read, and only what the scopes of the key allow: create a key with few scopes for a model. A list returns 20 rows by default and 100 at
most; the result says how to get the next ones.

**As text.** [llms.txt](${baseUrl}/docs/llms.txt) has every guide, operation and schema on one page, for a model that writes programs.

\`\`\`sh
curl '${baseUrl}/docs/llms.txt'
\`\`\`
`.trim()

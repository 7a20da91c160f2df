import { readFileSync } from 'node:fs'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { CallToolRequestSchema, ErrorCode, ListToolsRequestSchema, McpError } from '@modelcontextprotocol/sdk/types.js'
import { createTributary } from 'tributary-client'
import { callTool } from './call.ts'
import { readDocument } from './document.ts'
import { queryCopy, queryTool } from './query.ts'
import { type ApiTool, toolsOf } from './tools.ts'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

const instructions = `Numbers of one account of a click-tracking and attribution platform. All tools only read.
get_key shows the account, its currency and what the key may read. For totals use get_stats_overview, for a time series
get_stats_daily, for numbers by campaign, country, day and other dimensions get_reports, for single rows the lists. get_schema
lists the dimensions (group_by), the metrics (metrics, sort), and the filters: arguments of their own, and names in filters, whose operators
are is, is_not, contains, contains_not, and, or, not, and for metrics of reports =, >, >=, <, <=: [">=","cost",50]. A
parameter without a schema means the same as in the tools before.
Days are UTC unless tz names a time zone. Money is in the account's currency.`

/** What the tools read. */
export interface Sources {
  /** Address of the API and a key. */
  api: { baseUrl: string; apiKey: string } | undefined
  /** File of DuckDB that tributary-sync has filled. */
  copy: string | undefined
}

/**
 * Opens a server with a tool for each read operation of the API, and a tool for SQL on a copy. The API is first asked when a client
 * lists tools.
 */
export function openServer({ api, copy }: Sources): Server {
  const tributary = api && createTributary(api)
  const server = new Server({ name: 'tributary', version }, { capabilities: { tools: {} }, instructions })
  let reading: Promise<ApiTool[]> | undefined

  /** Reads the document once; after a failure the next request reads it again. */
  async function apiTools(): Promise<ApiTool[]> {
    if (!api) return []
    const { baseUrl } = api
    reading ??= readDocument(baseUrl).then(toolsOf)
    try {
      return await reading
    } catch (error) {
      reading = undefined
      throw new McpError(ErrorCode.InternalError, (error as Error).message)
    }
  }

  server.setRequestHandler(ListToolsRequestSchema, async () => {
    const annotations = { readOnlyHint: true }
    const all = [...(copy === undefined ? [] : [queryTool]), ...(await apiTools())]
    return {
      tools: all.map(({ name, title, description, inputSchema }) => ({
        name,
        title,
        description,
        inputSchema,
        annotations,
      })),
    }
  })
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    const given = params.arguments ?? {}
    if (copy !== undefined && params.name === queryTool.name) return await queryCopy(copy, given, signal)
    const tool = (await apiTools()).find(({ name }) => name === params.name)
    if (!tool || !tributary) throw new McpError(ErrorCode.InvalidParams, `unknown tool: ${params.name}.`)
    return await callTool(tributary, tool, given, signal)
  })
  return server
}

import type { IncomingHttpHeaders } from 'node:http'
import type { CallToolResult, ListToolsResult } from '@modelcontextprotocol/server'
import { version } from '../../package.ts'

export interface Service {
  instructions: string
  listTools(): ListToolsResult['tools']
  /** @returns undefined if there is no such tool */
  callTool(name: string, given: Record<string, unknown>): Promise<CallToolResult> | undefined
}

/**
 * Answers a request of either generation of clients: with metadata in each request (2026-07-28), and with `initialize` (before). The SDK is
 * loaded with the first request: it takes 25 MB of memory.
 */
export async function answer(headers: IncomingHttpHeaders, message: object, service: Service) {
  const { createMcpHandler, ProtocolError, Server } = await import('@modelcontextprotocol/server')
  const openServer = () => {
    const { instructions } = service
    const server = new Server({ name: 'tributary', version }, { capabilities: { tools: {} }, instructions })
    server.setRequestHandler('tools/list', () => ({ tools: service.listTools() }))
    server.setRequestHandler('tools/call', ({ params }) => {
      const result = service.callTool(params.name, params.arguments ?? {})
      if (!result) throw new ProtocolError(-32602, 'Unknown tool.')
      return result
    })
    return server
  }
  const sent = new Headers({ 'content-type': 'application/json', accept: 'application/json, text/event-stream' })
  for (const name of ['mcp-protocol-version', 'mcp-method', 'mcp-name'])
    if (headers[name] !== undefined) sent.set(name, `${headers[name]}`)
  const request = new Request('http://localhost', { method: 'POST', headers: sent })
  const handler = createMcpHandler(openServer, { maxSubscriptions: 0, keepAliveMs: 0 })
  const response = await handler.fetch(request, { parsedBody: message })
  const text = await response.text()
  // To the earlier versions, the SDK responds with a stream of one event. TRAP: in regular expressions U+2028 ends a line; JSON does not escape it.
  const data = text.split('\n').find((line) => line.startsWith('data: '))
  return { status: response.status, body: data?.slice('data: '.length) ?? text }
}

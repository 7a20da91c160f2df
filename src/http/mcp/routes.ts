import type { Server } from '@modelcontextprotocol/server'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../../problem.ts'
import { isJsonObject } from '../../query/exactJson.ts'
import type { Settings } from '../../settings/settings.ts'
import { apiPrefix, refusalOf } from '../accessControl.ts'
import type { App, RouteContext } from '../context.ts'
import { type OpenApiDocument, onlyJson } from '../docs/openapiDocument.ts'
import { toProblem } from '../errorHandler.ts'
import { callRoute } from '../innerRequest.ts'
import { callTool } from './callTool.ts'
import { answer } from './protocol.ts'
import { entryOf, type Tool, type ToolOperation, toolsOf } from './tools.ts'

/** Adds POST /api/v1/mcp: reads of the API as tools for language models. */
export function addMcp(app: App, { CORS_ORIGINS = '' }: Settings, { now, querySchemas }: RouteContext): void {
  let opened: { tools: Tool[]; baseUrl: string } | undefined
  const open = () => {
    const document = onlyJson(app.swagger() as unknown as OpenApiDocument)
    return { tools: toolsOf(document), baseUrl: document.servers[0]?.url ?? '' }
  }

  /** Adds the tools that the caller of a request may use. */
  function addTools(server: Server, request: FastifyRequest, reply: FastifyReply): void {
    opened ??= open()
    const { tools, baseUrl } = opened
    const read = (path: string) => callRoute(app, reply, apiPrefix + path)
    const configOf = ({ path }: ToolOperation) =>
      querySchemas.get(apiPrefix + path.replace(/{(\w+)}/g, ':$1'))?.config ?? {}
    const mayCall = (operation: ToolOperation) => !refusalOf(request.caller, configOf(operation))
    const access = { read, mayCall, baseUrl, nowMs: now() }
    const listed = () => tools.flatMap((tool) => entryOf(tool, mayCall, request.caller.view) ?? [])
    server.setRequestHandler('tools/list', () => ({ tools: listed() }))
    server.setRequestHandler('tools/call', async ({ params }) => {
      const tool = tools.find(({ name }) => name === params.name)
      if (!tool) throw Object.assign(new Error('Unknown tool.'), { code: -32602 })
      return await resultOf(request, () => callTool(tool, params.arguments ?? {}, access))
    })
  }

  app.post(`${apiPrefix}/mcp`, {
    schema: { hide: true },
    config: { scope: 'any', answersLimit: true, servesView: () => true },
    // A page of another site must not use a server that only its visitor can reach.
    onRequest: async ({ headers: { origin } }) => {
      if (origin === undefined) return
      opened ??= open()
      const own = new URL(opened.baseUrl).origin
      const allowed = [own, own.replace(/\/\/(127\.[\d.]+|\[::1\])/, '//localhost'), ...CORS_ORIGINS.split(',')]
      if (allowed.includes(origin) || allowed.includes('*')) return
      throw new Problem('forbidden_origin', 'A page of this origin may not use the server; CORS_ORIGINS may name it.')
    },
    handler: async (request, reply) => {
      const { body, tooMany } = request
      const message = isMessage(body) ? body : undefined
      const isCall = message?.method === 'tools/call' && message.id !== undefined
      if (tooMany && !isCall) throw tooMany
      if (!message)
        throw new Problem('invalid_body', 'Send one request of JSON-RPC 2.0, whose id is text or an integer.')
      if (message.id === undefined) return await reply.code(202).send()
      const answered = await answer(request.headers, message, (server) => addTools(server, request, reply))
      return await reply.code(answered.status).type('application/json').send(answered.body)
    },
  })
}

/** Whether a body is one request of JSON-RPC; without an id it is a notification. */
function isMessage(body: unknown): body is { method: string; id?: string | number } {
  if (!isJsonObject(body) || body.jsonrpc !== '2.0' || typeof body.method !== 'string') return false
  return body.id === undefined || typeof body.id === 'string' || Number.isSafeInteger(body.id)
}

/** A model reads an error that is a result; a status ends the conversation in some programs. */
async function resultOf(request: FastifyRequest, call: () => Promise<string[]>) {
  const contentOf = (texts: string[]) => texts.map((text) => ({ type: 'text' as const, text }))
  try {
    if (request.tooMany) throw request.tooMany
    return { content: contentOf(await call()) }
  } catch (error) {
    const { code, message, details } = toProblem(error, request)
    const parameter = details.param === undefined ? '' : `parameter ${details.param}, `
    const retry = details.retryAfterS === undefined ? '' : `, retry after ${details.retryAfterS} s`
    return { isError: true, content: contentOf([`${code}: ${message} (${parameter}request id ${request.id}${retry})`]) }
  }
}

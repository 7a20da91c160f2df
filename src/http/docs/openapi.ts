import swagger from '@fastify/swagger'
import { type TSchema, Type } from '@sinclair/typebox'
import type { FastifySchema, RouteOptions } from 'fastify'
import { ProblemBody } from '../../../schema/problem.ts'
import { mediaTypes, type RowFormat } from '../../../schema/rowFormat.ts'
import { version } from '../../package.ts'
import { apiPrefix, docsPrefix } from '../accessControl.ts'
import type { App } from '../context.ts'
import { once, type StaticContent, serveContent } from '../staticContent.ts'
import { examples } from './examples.ts'
import { explorerCsp, explorerPaths, makeExplorer } from './explorer.ts'
import { introduction } from './introduction.ts'

const tags = [
  { name: 'Clicks', description: 'Every click, bots and tests included and marked.' },
  { name: 'Conversions', description: 'CPA and revenue conversions in one list, each in its latest state.' },
  { name: 'Campaigns', description: 'What clicks are counted under.' },
  { name: 'Offers', description: 'What is advertised.' },
  { name: 'Landing pages', description: 'Where clicks land.' },
  { name: 'Traffic sources', description: 'Where clicks come from.' },
  { name: 'Stats', description: 'Totals and the daily series.' },
  { name: 'Reports', description: 'Performance by group.' },
  { name: 'Events', description: 'Server-side events: an analytics signal, never money.' },
]

/**
 * Describes the routes that come after it, from the same schemas and scopes that the gate enforces, at
 * /api/v1/docs/json; and lets people try them at /api/v1/docs. Both are public.
 */
export async function addDocs(app: App): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Tributary API',
        version,
        description: introduction,
        license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
      },
      servers: [{ url: apiPrefix }],
      tags,
      components: {
        schemas: { Problem: plain<{ type: 'object' }>(ProblemBody) },
        headers,
        securitySchemes: {
          apiKey: {
            type: 'apiKey',
            in: 'header',
            name: 'Authorization',
            description: 'Your key, `trb_live_…`. On the wire the header reads `Authorization: ApiKey <key>`.',
          },
        },
      },
    },
    refResolver: { buildLocalReference: ({ $id }, _baseUri, _fragment, index) => `${$id ?? `Schema${index}`}` },
    transform: ({ schema, url, route }) => ({ schema: describe(schema, url, route), url }),
    transformObject: (document) =>
      'openapiObject' in document ? complete(plain<OpenApiDocument>(document.openapiObject)) : {},
  })
  const explorer = once(() => makeExplorer(docsPrefix))
  await app.register(async (docs) => {
    docs.addHook('onRequest', (_request, reply, done) => {
      reply.header('content-security-policy', explorerCsp)
      done()
    })
    const add = (path: string, make: () => StaticContent | Promise<StaticContent>) =>
      docs.get(docsPrefix + path, { schema: { hide: true } }, serveContent(make))
    add('/json', () => ({ body: Buffer.from(JSON.stringify(app.swagger())), type: 'application/json; charset=utf-8' }))
    add('/yaml', () => ({ body: Buffer.from(app.swagger({ yaml: true })), type: 'application/yaml; charset=utf-8' }))
    for (const path of explorerPaths) add(path, async () => (await explorer())[path])
    add('/', async () => (await explorer())[''])
  })
}

/** Adds to a route's schema what its declaration already says: the scope, and a name for generated clients. */
function describe(schema: FastifySchema | undefined, url: string, { method, config }: RouteOptions): FastifySchema {
  const scope = config?.scope
  if (!scope) return { ...schema, hide: true }
  return {
    ...schema,
    ...(config.formats && { response: withFormats(schema?.response, config.formats) }),
    operationId: schema?.operationId ?? operationIdOf(`${method}`, url),
    description: [schema?.description, `Scope: \`${scope}\`.`].filter(Boolean).join('\n\n'),
    security: [{ apiKey: [scope] }],
  }
}

/** Adds the forms that an answer of rows has beside JSON. */
function withFormats(response: unknown, formats: readonly RowFormat[]): object {
  const answers = response as Record<string, TSchema>
  const others = formats.map((format) => [mediaTypes[format], { schema: formatSchemas[format] }])
  return {
    ...answers,
    200: { content: { 'application/json': { schema: answers[200] }, ...Object.fromEntries(others) } },
  }
}

const formatSchemas: Record<RowFormat, TSchema> = {
  ndjson: Type.String({ description: 'A line of JSON for each row: its fields, and `cursor`.' }),
  csv: Type.String({ description: 'The first line names the fields; absent values are empty.' }),
  parquet: Type.String({ format: 'binary', description: 'Columns with types of their own; `subIds` is a struct.' }),
}

/** @returns `getCampaignsById` for GET /api/v1/campaigns/:id */
function operationIdOf(method: string, url: string): string {
  const words = url.slice(apiPrefix.length).split(/[/-]/).filter(Boolean)
  const names = words.map((word) =>
    word.replace(/^:?(.)/, (found, first: string) => (found[0] === ':' ? 'By' : '') + first.toUpperCase()),
  )
  return method.toLowerCase() + names.join('')
}

/** The parts of an OpenAPI document that are completed here. */
interface Operation {
  operationId: string
  summary: string
  parameters?: { name: string; in: string; example?: unknown }[]
  requestBody?: { content?: Content }
  responses: Record<string, { description: string; headers?: object; content?: Content }>
}
type Content = Record<string, { schema?: object; example?: unknown }>
interface OpenApiDocument {
  paths: Record<string, Record<string, Operation>>
  tags: { name: string }[]
}

/** Adds to every operation the answers that the gate gives, and what they carry. */
function complete(document: OpenApiDocument): OpenApiDocument {
  for (const path of Object.values(document.paths)) {
    for (const operation of Object.values(path)) {
      // The explorer would fill them in and send them: a filter that nobody asked for.
      for (const parameter of operation.parameters ?? []) delete parameter.example
      for (const response of Object.values(operation.responses)) {
        response.headers = { ...budgetHeaders, ...response.headers }
        // What the generator writes where a schema has no description of its own.
        if (response.description === 'Default Response') response.description = `${operation.summary}.`
      }
      addExamples(operation)
      const common = errorsOf(operation)
      operation.responses = { ...operation.responses, ...common, ...refusalsIn(operation.responses, common) }
    }
  }
  return mergeLiterals(document) as OpenApiDocument
}

function addExamples({ operationId, requestBody, responses }: Operation): void {
  const { request, answer } = examples[operationId] ?? {}
  const sent = requestBody?.content?.['application/json']
  const answered = responses['200']?.content?.['application/json']
  if (sent && request) sent.example = request
  if (answered && answer) answered.example = answer
}

/**
 * What a room declared itself beyond its 2xx answers is more exact than what follows from the route's form. It need not
 * say that an error is a Problem.
 */
function refusalsIn(responses: Operation['responses'], common: Operation['responses']): Operation['responses'] {
  const complete = (status: string, response: Operation['responses'][string]) => ({
    ...response,
    headers: { ...common[status]?.headers, ...response.headers },
    content: problemContent,
  })
  return Object.fromEntries(
    Object.entries(responses)
      .filter(([status]) => !status.startsWith('2'))
      .map(([status, response]) => [status, status < '400' ? response : complete(status, response)]),
  )
}

function errorsOf({ parameters = [], requestBody }: Operation): Operation['responses'] {
  const query = parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name)
  const hasRange = query.includes('from') && query.includes('to')
  return {
    400: problem('A parameter is refused', [
      'invalid_authorization',
      'unknown_parameter',
      ...query.map((name) => `invalid_${name}`),
      ...(hasRange ? ['invalid_date_range'] : []),
      ...(requestBody ? ['invalid_json', 'invalid_body'] : []),
    ]),
    401: problem(
      'No key, or none that is in force',
      ['missing_api_key', 'invalid_api_key', 'revoked_api_key', 'expired_api_key'],
      { 'WWW-Authenticate': reference('headers', 'WwwAuthenticate') },
    ),
    403: problem('The key may not do this', ['insufficient_scope', 'plan_required'], budgetHeaders),
    ...(parameters.some((parameter) => parameter.in === 'path') && {
      404: problem('There is no such row, or it is not yours', ['not_found'], budgetHeaders),
    }),
    ...(requestBody && {
      413: problem('The body is too large', ['payload_too_large'], budgetHeaders),
      415: problem('The body is no JSON', ['unsupported_media_type'], budgetHeaders),
    }),
    429: problem('The budget of this minute is spent', ['rate_limited'], { ...budgetHeaders, ...retryHeader }),
    500: problem('A bug of ours', ['internal_error']),
    503: problem(
      'A store is away or the query ran out of its time; try again',
      ['unavailable', 'query_timeout'],
      retryHeader,
    ),
  }
}

function problem(reason: string, codes: readonly string[], extra: object = {}): Operation['responses'][string] {
  return {
    description: `${reason}: ${codes.map((code) => `\`${code}\``).join(', ')}.`,
    headers: { 'X-Request-Id': reference('headers', 'RequestId'), ...extra },
    content: problemContent,
  }
}

const problemContent = { 'application/json': { schema: reference('schemas', 'Problem') } }

function reference(kind: 'headers' | 'schemas', name: string): { $ref: string } {
  return { $ref: `#/components/${kind}/${name}` }
}

const headers = {
  RequestId: { description: 'Names this request; quote it to support.', schema: { type: 'string', format: 'uuid' } },
  RateLimit: { description: 'Requests that this key may send in a minute.', schema: { type: 'integer' } },
  RateLimitRemaining: { description: 'Requests left in this minute.', schema: { type: 'integer' } },
  RateLimitReset: { description: 'Seconds until the minute ends.', schema: { type: 'integer' } },
  RetryAfter: { description: 'Seconds to wait before the next attempt.', schema: { type: 'integer', minimum: 1 } },
  WwwAuthenticate: {
    description: 'The scheme of the Authorization header.',
    schema: { type: 'string', const: 'ApiKey' },
  },
} as const

const budgetHeaders = {
  'X-Request-Id': reference('headers', 'RequestId'),
  'X-RateLimit-Limit': reference('headers', 'RateLimit'),
  'X-RateLimit-Remaining': reference('headers', 'RateLimitRemaining'),
  'X-RateLimit-Reset': reference('headers', 'RateLimitReset'),
}

const retryHeader = { 'Retry-After': reference('headers', 'RetryAfter') }

/** Writes unions of literals as one enum, which clients and the explorer understand better. */
function mergeLiterals(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(mergeLiterals)
  if (typeof node !== 'object' || node === null) return node
  const { anyOf, ...rest } = node as { anyOf?: TSchema[] }
  const literals = anyOf?.map((member) => member.const ?? (member.enum?.length === 1 ? member.enum[0] : undefined))
  if (literals?.every((literal) => typeof literal === 'string')) return { type: 'string', enum: literals, ...rest }
  return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, mergeLiterals(value)]))
}

/** A copy without the symbols that TypeBox marks its schemas with, and without the ids that components don't need. */
function plain<T>(value: object): T {
  return JSON.parse(JSON.stringify(value, (name, inner) => (name === '$id' ? undefined : inner)))
}

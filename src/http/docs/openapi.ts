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
  { name: 'Clicks', description: 'All clicks; bots and tests are included and flagged.' },
  { name: 'Conversions', description: 'CPA and revenue conversions in one list, each in its latest state.' },
  { name: 'Campaigns', description: 'Campaigns that clicks belong to.' },
  { name: 'Offers', description: 'Advertised offers.' },
  { name: 'Landing pages', description: 'Pages that clicks lead to.' },
  { name: 'Traffic sources', description: 'Sources that clicks come from.' },
  { name: 'Stats', description: 'Totals and the daily series.' },
  { name: 'Reports', description: 'Performance by group.' },
  { name: 'Events', description: 'Server-side events: analytics signals that never change conversions or revenue.' },
]

/**
 * Adds the OpenAPI document of the routes registered later at /api/v1/docs/json, generated from the schemas and scopes
 * that the server enforces, and the explorer at /api/v1/docs. Both are public.
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
            description: 'Your API key, `trb_live_…`. The header is `Authorization: ApiKey <key>`.',
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

/** Adds the scope and the operation id (the method name in generated clients) to the schema of a route. */
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

/** Adds the formats other than JSON to a response of rows. */
function withFormats(response: unknown, formats: readonly RowFormat[]): object {
  const responses = response as Record<string, TSchema>
  const others = formats.map((format) => [mediaTypes[format], { schema: formatSchemas[format] }])
  return {
    ...responses,
    200: { content: { 'application/json': { schema: responses[200] }, ...Object.fromEntries(others) } },
  }
}

const formatSchemas: Record<RowFormat, TSchema> = {
  ndjson: Type.String({ description: 'One JSON object per line for each row: its fields and `cursor`.' }),
  csv: Type.String({ description: 'The first line has the field names; absent values are empty.' }),
  parquet: Type.String({ format: 'binary', description: 'Typed columns; `subIds` is a struct.' }),
}

/** @returns `getCampaignsById` for GET /api/v1/campaigns/:id */
function operationIdOf(method: string, url: string): string {
  const words = url.slice(apiPrefix.length).split(/[/-]/).filter(Boolean)
  const names = words.map((word) =>
    word.replace(/^:?(.)/, (found, first: string) => (found[0] === ':' ? 'By' : '') + first.toUpperCase()),
  )
  return method.toLowerCase() + names.join('')
}

/** The parts of an OpenAPI document that this file completes. */
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

/** Adds the error responses, headers and examples to every operation. */
function complete(document: OpenApiDocument): OpenApiDocument {
  for (const path of Object.values(document.paths)) {
    for (const operation of Object.values(path)) {
      // The explorer would prefill and send them as filters.
      for (const parameter of operation.parameters ?? []) delete parameter.example
      for (const response of Object.values(operation.responses)) {
        response.headers = { ...budgetHeaders, ...response.headers }
        // The generator's default where a schema has no description.
        if (response.description === 'Default Response') response.description = `${operation.summary}.`
      }
      addExamples(operation)
      const common = commonErrors(operation)
      operation.responses = { ...operation.responses, ...common, ...declaredErrors(operation.responses, common) }
    }
  }
  return mergeLiterals(document) as OpenApiDocument
}

function addExamples({ operationId, requestBody, responses }: Operation): void {
  const { request, response } = examples[operationId] ?? {}
  const sent = requestBody?.content?.['application/json']
  const received = responses['200']?.content?.['application/json']
  if (sent && request) sent.example = request
  if (received && response) received.example = response
}

/**
 * The responses other than 2xx that a route declares; they replace the common ones. The Problem schema is added to errors.
 */
function declaredErrors(responses: Operation['responses'], common: Operation['responses']): Operation['responses'] {
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

/** The error responses that follow from the parameters and the body of an operation. */
function commonErrors({ parameters = [], requestBody }: Operation): Operation['responses'] {
  const query = parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name)
  const hasRange = query.includes('from') && query.includes('to')
  return {
    400: problem('A parameter is invalid', [
      'invalid_authorization',
      'unknown_parameter',
      ...query.map((name) => `invalid_${name}`),
      ...(hasRange ? ['invalid_date_range'] : []),
      ...(requestBody ? ['invalid_json', 'invalid_body'] : []),
    ]),
    401: problem(
      'The API key is missing or not valid',
      ['missing_api_key', 'invalid_api_key', 'revoked_api_key', 'expired_api_key'],
      { 'WWW-Authenticate': reference('headers', 'WwwAuthenticate') },
    ),
    403: problem('The API key lacks the permission', ['insufficient_scope', 'plan_required'], budgetHeaders),
    ...(parameters.some((parameter) => parameter.in === 'path') && {
      404: problem('The account has no such row', ['not_found'], budgetHeaders),
    }),
    ...(requestBody && {
      413: problem('The body is too large', ['payload_too_large'], budgetHeaders),
      415: problem('The body is not JSON', ['unsupported_media_type'], budgetHeaders),
    }),
    429: problem('A rate limit is exceeded', ['rate_limited'], { ...budgetHeaders, ...retryHeader }),
    500: problem('Internal server error', ['internal_error']),
    503: problem(
      'A database is unavailable or the query timed out; retry',
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
  RequestId: {
    description: 'Id of this request; include it in support requests.',
    schema: { type: 'string', format: 'uuid' },
  },
  RateLimit: { description: 'Requests per minute that this key may send.', schema: { type: 'integer' } },
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

/** Replaces each union of literals by one enum, which client generators and the explorer support better. */
function mergeLiterals(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(mergeLiterals)
  if (typeof node !== 'object' || node === null) return node
  const { anyOf, ...rest } = node as { anyOf?: TSchema[] }
  const literals = anyOf?.map((member) => member.const ?? (member.enum?.length === 1 ? member.enum[0] : undefined))
  if (literals?.every((literal) => typeof literal === 'string')) return { type: 'string', enum: literals, ...rest }
  return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, mergeLiterals(value)]))
}

/** Copies a value without TypeBox symbols and without `$id`. */
function plain<T>(value: object): T {
  return JSON.parse(JSON.stringify(value, (name, inner) => (name === '$id' ? undefined : inner)))
}

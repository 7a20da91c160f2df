import { isDeepStrictEqual } from 'node:util'
import swagger from '@fastify/swagger'
import { type TSchema, Type } from '@sinclair/typebox'
import type { FastifySchema, RouteOptions } from 'fastify'
import { ProblemBody } from '../../../schema/errorCodes.ts'
import { mediaTypes, type RowFormat } from '../../../schema/rowFormat.ts'
import { version } from '../../package.ts'
import { apiPrefix } from '../accessControl.ts'
import type { App } from '../context.ts'
import { completeOperations } from './completeOperations.ts'
import { readGuides } from './guides.ts'
import type { OpenApiDocument } from './openapiDocument.ts'
import { responseHeaders } from './responseHeaders.ts'

const resourceTags = [
  { name: 'Reports', description: 'Clicks, conversions, amounts and ratios by dimension.' },
  { name: 'Stats', description: 'Totals and the daily series.' },
  { name: 'Clicks', description: 'Every click. Bot and test clicks are included and flagged.' },
  { name: 'Conversions', description: 'CPA and revenue conversions in one list, each in its latest version.' },
  { name: 'Costs', description: 'Costs that networks report by day, each row in its latest version.' },
  { name: 'Events', description: 'Server-side events: analytics signals that never change conversions or revenue.' },
  { name: 'Campaigns', description: 'Campaigns that clicks belong to.' },
  { name: 'Offers', description: 'Advertised offers.' },
  { name: 'Landing pages', description: 'Pages that clicks lead to.' },
  { name: 'Traffic sources', description: 'Sources that clicks come from.' },
  { name: 'Account', description: 'The API key, and the usage of the subscription plan.' },
] as const

/**
 * Adds `app.swagger()`: the OpenAPI document of the routes that are registered later. It is generated at the first call,
 * from the schemas and scopes that the server enforces.
 * @param publicUrl returns the address of the server, without a slash at the end
 */
export async function addOpenApi(app: App, publicUrl: () => string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Tributary API', version, license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' } },
      // The generator removes this prefix from the paths; `addTexts` adds the address.
      servers: [{ url: apiPrefix }],
      components: {
        schemas: markNamedSchemas({ Problem: ProblemBody as { type: 'object' } }),
        headers: responseHeaders,
        securitySchemes: {
          apiKey: {
            type: 'apiKey',
            in: 'header',
            name: 'Authorization',
            description:
              'Your API key, `trb_live_…` or `trb_part_…`. The header is `Authorization: ApiKey <key>`; `Bearer <key>` and the key alone are accepted as well, and HTTP Basic with the key as the password and any user name.',
          },
        },
      },
    },
    transform: ({ schema, url, route }) => ({ schema: markNamedSchemas(describe(schema, url, route)), url }),
    transformObject: (given) => {
      if (!('openapiObject' in given)) return {}
      const document = addTexts(moveNamedSchemas(given.openapiObject), publicUrl())
      completeOperations(document)
      return document
    },
  })
}

function addTexts(document: OpenApiDocument, serverUrl: string): OpenApiDocument {
  const baseUrl = serverUrl + apiPrefix
  const { introduction, guides, programGuides } = readGuides(serverUrl, baseUrl)
  const groups = { Guides: guides, Operations: resourceTags, 'Copies and tools': programGuides }
  return {
    ...document,
    info: { ...document.info, description: introduction },
    servers: [{ url: baseUrl }],
    tags: Object.values(groups).flat(),
    'x-tagGroups': Object.entries(groups).map(([name, tags]) => ({ name, tags: tags.map((tag) => tag.name) })),
  }
}

/** Adds the scope and the operation id (the method name in generated clients) to the schema of a route. */
function describe(schema: FastifySchema | undefined, url: string, { method, config }: RouteOptions): FastifySchema {
  const scope = config?.scope
  if (!scope) return { ...schema, hide: true }
  const scopeText = scope === 'any' ? 'Scope: none; any key may call it.' : `Scope: \`${scope}\`.`
  return {
    ...schema,
    ...(config.formats && { response: withFormats(schema?.response, config.formats) }),
    operationId: operationIdOf(`${method}`, url),
    description: [schema?.description, scopeText].filter(Boolean).join('\n\n'),
    security: [{ apiKey: scope === 'any' ? [] : [scope] }],
  }
}

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
  csv: Type.String({
    description: 'The first line has the field names, with `sub1` to `sub10` for `subIds`; absent values are empty.',
  }),
  parquet: Type.String({ format: 'binary', description: 'Typed columns; `subIds` is a struct.' }),
}

/** @returns `getCampaignsById` for GET /api/v1/campaigns/:id */
function operationIdOf(method: string, url: string): string {
  const path = url.slice(apiPrefix.length)
  const name = path.replace(/[/-](:?)(.)/g, (_, colon: string, first: string) => (colon && 'By') + first.toUpperCase())
  return method.toLowerCase() + name
}

/** Carries the `$id` of a schema through the generator, which drops `$id` or renames it depending on where it stands. */
const nameKeyword = 'x-schema-name'

/** Copies schemas of a route; then `moveNamedSchemas` finds the schemas with an `$id` at any depth. */
function markNamedSchemas<Schema>(schema: Schema): Schema {
  const text = JSON.stringify(schema, (_key, part) => {
    if (typeof part?.$id !== 'string') return part
    const { $id, ...rest } = part
    return { [nameKeyword]: $id, ...rest }
  })
  return JSON.parse(text)
}

/**
 * Moves every marked schema to `components.schemas` and refers to it there, so that generated clients have one type for
 * each.
 * @throws Error when two different schemas have the same `$id`
 */
function moveNamedSchemas(given: object): OpenApiDocument {
  const named: OpenApiDocument['components']['schemas'] = {}
  // The schemas within a schema come before it.
  const document: OpenApiDocument = JSON.parse(JSON.stringify(given), (_key, part) => {
    if (typeof part?.[nameKeyword] !== 'string') return part
    const { [nameKeyword]: name, ...schema } = part
    if (!isDeepStrictEqual(named[name] ?? schema, schema)) throw new Error(`Two schemas have the $id ${name}.`)
    named[name] = schema
    return { $ref: `#/components/schemas/${name}` }
  })
  Object.assign(document.components.schemas, named)
  return document
}

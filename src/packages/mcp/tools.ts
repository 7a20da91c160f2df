import type { JsonSchema, OpenApiDocument, Operation } from './document.ts'

export interface ApiTool {
  /** The operation's id in snake case, such as `get_reports`. */
  name: string
  title: string
  description: string
  inputSchema: {
    type: 'object'
    properties: Record<string, JsonSchema>
    required: string[]
    additionalProperties: false
  }
  /** Path of the API, such as `/campaigns/{id}`. */
  path: string
  /** Names of the parameters in the path; all others are in the query. */
  pathParameters: readonly string[]
}

/** Rows per call, so that a result fits into the context of a model. */
const rowsDefault = 20
const rowsMax = 100

/** Exports return files, which are not for a model. */
const exportParameters = new Set(['format', 'csv_escape', 'csv_bom', 'totals'])

/** @returns a tool for each read operation but checksums, in the order of the document */
export function toolsOf(document: OpenApiDocument): ApiTool[] {
  return Object.entries(document.paths).flatMap(([path, { get }]) =>
    get && !path.startsWith('/checksums/') ? [toolOf(path, get)] : [],
  )
}

function toolOf(path: string, { operationId, summary, description = '', parameters = [] }: Operation): ApiTool {
  const given = parameters.filter((one) => one.in !== 'header' && !exportParameters.has(one.name))
  return {
    name: operationId.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    title: summary,
    description: `${summary}. ${description}`.trim(),
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(
        given.map(({ name, schema, description }) => [
          name,
          { ...bounded(name, schema), ...(description && { description }) },
        ]),
      ),
      required: given.filter(({ required }) => required).map(({ name }) => name),
      additionalProperties: false,
    },
    path,
    pathParameters: given.filter((one) => one.in === 'path').map(({ name }) => name),
  }
}

function bounded(name: string, schema: JsonSchema): JsonSchema {
  if (name !== 'limit') return schema
  return { ...schema, default: rowsDefault, maximum: Math.min(rowsMax, schema.maximum ?? rowsMax) }
}

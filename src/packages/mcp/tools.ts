import type { JsonSchema, OpenApiDocument, Operation, Parameter } from './document.ts'

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

/**
 * Makes a tool for each read operation but checksums, in the order of the document. A parameter that several tools describe
 * alike has its description in the first of them: a model reads all tools.
 */
export function toolsOf(document: OpenApiDocument): ApiTool[] {
  const described = new Set<string>()
  return Object.entries(document.paths).flatMap(([path, { get }]) =>
    get && !path.startsWith('/checksums/') ? [toolOf(path, get, described)] : [],
  )
}

function toolOf(
  path: string,
  { operationId, summary, description = '', parameters = [] }: Operation,
  described: Set<string>,
): ApiTool {
  const given = parameters.filter((one) => one.in !== 'header' && !exportParameters.has(one.name))
  return {
    name: operationId.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    title: summary,
    description: description.replace(/\n\nScope: .*$/, ''),
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(given.map((parameter) => [parameter.name, propertyOf(parameter, described)])),
      required: given.filter(({ required }) => required).map(({ name }) => name),
      additionalProperties: false,
    },
    path,
    pathParameters: given.filter((one) => one.in === 'path').map(({ name }) => name),
  }
}

/** Values beyond this number are in `get_schema`, or are the fields of the rows. */
const namesMax = 12

/** @returns a schema without its values if they are many */
function shortened(schema: JsonSchema | undefined): JsonSchema | undefined {
  const names = schema?.enum as readonly unknown[] | undefined
  return names && names.length > namesMax ? { ...schema, enum: undefined } : schema
}

/**
 * The schema of a parameter, with the first sentence of its description, of filters the whole: the API checks lengths and
 * patterns.
 * @param described the texts that tools have already
 */
function propertyOf({ name, schema, description = '' }: Parameter, described: Set<string>): JsonSchema {
  const isFilter = description.includes('`!`')
  const text = isFilter ? description : description.replace(/(?<=\.) .*/s, '')
  const isNew = !described.has(text)
  described.add(text)
  const { type, maximum } = schema
  const [items, names] = [shortened(schema.items as JsonSchema | undefined), shortened(schema)?.enum]
  const limits =
    name === 'limit' ? { default: rowsDefault, maximum: Math.min(rowsMax, maximum ?? rowsMax) } : { maximum }
  const property = { type, items, enum: names, ...limits, ...(isNew && text && { description: text }) }
  return JSON.parse(JSON.stringify(property))
}

import type { JsonSchema, OpenApiDocument, Operation, Parameter } from './document.ts'

export interface ApiTool {
  /** The operation's id in snake case, such as `get_reports`. */
  name: string
  title: string
  description: string
  inputSchema: {
    type: 'object'
    properties: Record<string, JsonSchema>
    required?: string[]
    additionalProperties?: JsonSchema
  }
  /** All parameters, also the filters, which `get_schema` lists, and others that the input schema lacks. */
  parameters: Readonly<Record<string, JsonSchema>>
  /** Path of the API, such as `/campaigns/{id}`. */
  path: string
  /** Names of the parameters in the path; all others are in the query. */
  pathParameters: readonly string[]
}

/** Rows per call, so that a result fits into the context of a model. */
const rowsDefault = 20
const rowsMax = 100

/** Exports return files, which are not for a model. */
const exportParameters = new Set(['format', 'csv_escape', 'csv_bom', 'csv_decimal', 'totals'])

/** Tools take these too, but a model does not choose them: programs that copy rows do, or the response before. */
const otherParameters = new Set(['updated_since', 'updated_after', 'previous_until'])

/**
 * Makes a tool for each read operation but checksums, in the order of the document. A parameter that several tools have
 * alike has its schema in the first of them: a model reads all tools.
 */
export function toolsOf(document: OpenApiDocument): ApiTool[] {
  const written: Written = new Set()
  return Object.entries(document.paths).flatMap(([path, { get }]) =>
    get && !path.startsWith('/checksums/') ? [toolOf(path, get, written)] : [],
  )
}

function toolOf(
  path: string,
  { operationId, summary, description = '', parameters = [] }: Operation,
  written: Written,
): ApiTool {
  const given = parameters.filter((one) => one.in !== 'header' && !exportParameters.has(one.name))
  const isFilter = ({ description = '' }: Parameter) => description.includes('`!`')
  const listed = given.filter((one) => !isFilter(one) && !otherParameters.has(one.name))
  const required = given.filter((one) => one.required).map(({ name }) => name)
  const isFirstWithFilters = given.some(isFilter) && onlyOnce('a filter', filterSchema, written) === filterSchema
  const properties = Object.fromEntries(listed.map((one) => [one.name, onlyOnce(one.name, propertyOf(one), written)]))
  return {
    name: operationId.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    title: summary,
    description: firstClause(description),
    inputSchema: {
      type: 'object',
      properties,
      ...(required.length > 0 && { required }),
      // Without it, other properties are allowed too.
      ...(isFirstWithFilters && { additionalProperties: filterSchema }),
    },
    parameters: Object.fromEntries(given.map((one) => [one.name, { ...one.schema, ...limitsOf(one) }])),
    path,
    pathParameters: given.filter((one) => one.in === 'path').map(({ name }) => name),
  }
}

const filterSchema: JsonSchema = {
  type: ['string', 'array'],
  description: 'A filter of get_schema by its name: country "US,DE" selects, "!US" excludes.',
}

/** Names and schemas that tools have already, with the first words of their descriptions. */
type Written = Set<string>

/** @returns an empty schema if a tool has one with this name and form already, whose description begins alike or is of rows per call */
function onlyOnce(name: string, schema: JsonSchema, written: Written): JsonSchema {
  const { description, ...form } = schema
  const words = 'maximum' in form ? [] : `${description}`.split(' ', 3)
  const key = JSON.stringify([name, form, words])
  if (written.has(key)) return {}
  written.add(key)
  return schema
}

/** Values beyond this number are in `get_schema`. */
const namesMax = 12

/** The schema of a parameter with a short description: the API checks lengths and patterns, and names the values that it takes. */
function propertyOf(parameter: Parameter): JsonSchema {
  const { schema, description = '' } = parameter
  const names = schema.enum as readonly unknown[] | undefined
  return {
    type: schema.type,
    ...(schema.items !== undefined && { items: { type: 'string' } }),
    ...(names && names.length <= namesMax && { enum: names }),
    ...limitsOf(parameter),
    description: firstClause(
      schema.items === undefined ? description : description.replace(', separated by commas', ''),
    ),
  }
}

function limitsOf({ name, schema }: Parameter): JsonSchema {
  return name === 'limit' ? { default: rowsDefault, maximum: Math.min(rowsMax, schema.maximum ?? rowsMax) } : {}
}

/** The beginning of a description, which says what it is about, without marks of code. */
function firstClause(text: string): string {
  return text
    .replace(/(?<=\S\.)\s.*/s, '')
    .replace(/; .*/s, '.')
    .replaceAll('`', '')
}

import { isDeepStrictEqual } from 'node:util'
import { subIdNames } from '../../../schema/subIds.ts'
import { type View, visible } from '../../query/keyView.ts'
import type { OpenApiDocument, Operation, Parameter } from '../docs/openapiDocument.ts'

/** An operation of the API with its path, such as `/campaigns/{id}`. */
export type ToolOperation = Operation & { path: string }

/** A tool of one operation, or of several by the argument `resource`. */
export type Tool = { name: string; operations: ReadonlyMap<string, ToolOperation> }

const entities = ['/campaigns', '/offers', '/landing-pages', '/traffic-sources']

/** The paths of each tool. */
const toolPaths = {
  get_reports: ['/reports'],
  get_stats: ['/stats/overview', '/stats/daily'],
  list_rows: ['/clicks', '/conversions', '/costs', '/events', ...entities],
  get_item: [...entities, '/events'].map((path) => `${path}/{id}`),
  search: ['/conversions/search', '/campaigns/search'],
  get_funnels: ['/funnels'],
  get_journeys: ['/journeys'],
  get_account: ['/key', '/usage', '/schema'],
}

/** Rows per call, so that a result fits into the context of a model. */
const rows = { default: 20, maximum: 100 }

/** Makes the tools. @param document without export formats; its parameters `limit` change */
export function toolsOf(document: OpenApiDocument): Tool[] {
  return Object.entries(toolPaths).map(([name, paths]) => {
    const operations = paths.flatMap((path): [string, ToolOperation][] => {
      const operation = document.paths[path]?.get
      for (const { name, schema } of operation?.parameters ?? []) if (name === 'limit') Object.assign(schema, rows)
      return operation ? [[path.slice(1).replace(/\/({id}|search)$/, ''), { ...operation, path }]] : []
    })
    return { name, operations: new Map(operations) }
  })
}

/** Parameters that programs need, not a model: tools take them, but do not list them. */
const unlisted = new Set(['updated_since', 'updated_after', 'previous_until'])

const isFilter = ({ description = '' }: Parameter): boolean => description.includes('`!`')

/** The entry of a tool in the list. @param view its hidden names are not listed @returns undefined if the key may call none of its operations */
export function entryOf({ name, operations }: Tool, mayCall: (operation: ToolOperation) => boolean, view: View | null) {
  const allowed = [...operations].filter(([, operation]) => mayCall(operation))
  if (allowed.length === 0) return undefined
  const all = allowed.map(([, operation]) => operation)
  const parameters = all.flatMap((operation) => operation.parameters ?? [])
  const filters = new Set(parameters.filter(isFilter).map((one) => one.name))
  const names = new Set(parameters.map((one) => one.name).filter((one) => !filters.has(one) && !unlisted.has(one)))
  const listed = [...names].map((one) => ({ one, alike: parameters.filter((parameter) => parameter.name === one) }))
  const properties = listed.map(({ one, alike }) => [one, propertyOf(alike, view)])
  const needed = listed.filter(({ alike }) => alike.filter(({ required }) => required).length === all.length)
  const resource = operations.size > 1 && { resource: { type: 'string', enum: allowed.map(([one]) => one) } }
  return {
    name,
    description: all.map((one) => (all.length > 1 ? `${one.summary}.` : beginningOf(one.description))).join(' '),
    inputSchema: {
      type: 'object' as const,
      properties: { ...resource, ...Object.fromEntries(properties) },
      required: [...Object.keys(resource || {}), ...needed.map(({ one }) => one)],
      additionalProperties: filters.size > 0 && filterSchema(filters),
    },
    annotations: { readOnlyHint: true },
  }
}

function filterSchema(names: ReadonlySet<string>) {
  const text = [...names].join(', ').replace(subIdNames.join(', '), 'sub1 to sub10')
  return { type: ['string', 'array'], description: `Filters: ${text}. "US,DE" selects values, "!US" excludes them.` }
}

/** Longer enumerations are in `get_account`. */
const namesMax = 64

/** The schema of a parameter, which operations have alike or with other values, with the beginning of its description. */
function propertyOf(alike: readonly Parameter[], view: View | null): object {
  const [{ name, schema, description = '' }] = alike as [Parameter]
  const { type, items, default: standard, minimum, maximum, maxLength, maxItems } = schema
  const { enum: values, anyOf: [known, other] = [] } = items ?? schema
  const names = visible((known?.enum ?? values ?? []) as string[], view)
  const isSame = alike.every((one) => isDeepStrictEqual(one.schema, schema))
  const listed = other?.pattern ? { anyOf: [{ enum: names }, other] } : { enum: names }
  const enumeration = isSame && names.length > 0 && names.length <= namesMax && listed
  const bounds = { default: standard, minimum, maximum, maxLength, maxItems }
  return {
    type,
    ...(items ? { items: { type: 'string', ...enumeration } } : enumeration),
    ...Object.fromEntries(Object.entries(bounds).filter(([, bound]) => bound !== undefined)),
    description: shortTexts[name] ?? beginningOf(description.replace(', separated by commas', '')),
  }
}

/** Descriptions of parameters that most tools have. */
const shortTexts: Record<string, string> = {
  from: 'Start: a date, or a time such as 2026-11-20T14:00.',
  to: 'End: a date, which is included, or a time, which is not.',
  range: 'Instead of days, from and to.',
  compare: 'Adds an earlier range, as previous.',
}

/** The beginning of a description, which says what it is about, without marks of code. */
const beginningOf = (text: string): string =>
  text
    .replace(/(?<=\S\.)\s.*|; .*/s, '')
    .replaceAll('`', '')
    .replace(/\.?$/, '.')

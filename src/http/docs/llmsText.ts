import { cursorField } from '../../../schema/fields.ts'
import { filterNames } from '../../../schema/filters.ts'
import { reportMetricNames } from '../../../schema/metrics.ts'
import {
  type OpenApiDocument,
  operationsOf,
  type Parameter,
  type PlacedOperation,
  type Schema,
} from './openapiDocument.ts'

/**
 * The API on one page of plain text for language models, from the OpenAPI document: guides, operations, schemas. Parameters of
 * several operations are described once, above the operations, and fields of several schemas above the schemas. A long sentence of
 * descriptions is there once. Guides about other programs are only named.
 */
export function llmsText(document: OpenApiDocument): string {
  const { info, servers, tags, components, 'x-tagGroups': groups } = document
  const operations = operationsOf(document)
  const parameters = describeOnce(operations.map(({ operation }) => operation.parameters ?? []))
  const schemas = Object.entries(components.schemas).map(([name, schema]) => ({ name, fields: fieldsOf(schema) }))
  const fields = describeOnce(schemas.map((schema) => schema.fields))
  const baseUrl = servers[0]?.url
  const [guides = [], resources = [], others = []] = groups.map((group) =>
    tags.filter(({ name }) => group.tags.includes(name)),
  )
  const once = sentencesOnce()
  const section = ({ name, description }: { name: string; description: string }) => [`## ${name}`, description]
  return [
    `# ${info.title}`,
    `> Base URL: ${baseUrl}. Header of every request: \`Authorization: ApiKey trb_live_…\`. OpenAPI 3.1 document: ${baseUrl}/docs/json`,
    info.description,
    ...guides.flatMap(section),
    `More guides are in \`tags\` of the OpenAPI document: ${others.map(({ name }) => name).join(', ')}.`,
    '## Parameters of several operations',
    'From here on, `…` stands for sentences that are above.',
    once(parameters.shared),
    ...resources.flatMap((tag) => [
      ...section(tag),
      ...operations
        .filter(({ operation }) => operation.tags.includes(tag.name))
        .flatMap((placed) => operationTexts(placed, parameters.linesOf, once)),
    ]),
    '## Schemas',
    'Fields of several schemas:',
    once(fields.shared),
    ...schemas.flatMap(({ name, fields: all }, index) => {
      const lines = new Set(all.map(lineOf))
      const isPart = (one: (typeof schemas)[number]) =>
        one.fields.length > 5 && one.fields.every((field) => lines.has(lineOf(field)))
      const part = schemas.slice(0, index).find(isPart)
      const inherited = new Set(part?.fields.map(lineOf))
      const others = fields.linesOf(all.filter((field) => !inherited.has(lineOf(field))))
      return [`### ${name}`, [part && `- all fields of ${part.name}`, once(others)].filter(Boolean).join('\n')]
    }),
  ]
    .filter(Boolean)
    .join('\n\n')
    .concat('\n')
}

/** A parameter or a field. */
type Described = Pick<Parameter, 'name' | 'required' | 'description' | 'schema'>

function operationTexts(
  { method, path, operation }: PlacedOperation,
  linesOf: (parameters: readonly Described[]) => string,
  once: (text: string) => string,
): string[] {
  const { summary, description, parameters = [], requestBody, responses } = operation
  const body = requestBody?.content['application/json']?.schema
  const response = responses['200']?.content?.['application/json']?.schema
  return [
    `### ${method} ${path}`,
    once(`${summary}. ${description}`),
    once(linesOf(parameters)),
    ...(body ? [`Body: \`${typeText(body)}\``] : []),
    ...(response ? [`Response: \`${typeText(response)}\``] : []),
  ]
}

/** @returns a function that replaces sentences of at least 30 characters that it has returned before by `…`, but no lists of names */
function sentencesOnce(): (text: string) => string {
  const known = new Set<string>()
  const isKnown = (sentence: string) => sentence.length >= 30 && known.has(sentence)
  const shorten = (line: string) => {
    const [, label = '', rest = ''] = /^(- [^:]*: )?(.*)$/.exec(line) ?? []
    if (label === '- as above: ') return line
    const sentences = rest.split(/(?<=[.;]) /).map((sentence) => (isKnown(sentence) ? '…' : sentence))
    for (const sentence of sentences) known.add(sentence)
    return `${label}${sentences.join(' ').replace(/…( …)+/g, '…')}`
  }
  return (text) => text.split('\n').map(shorten).join('\n')
}

/** @returns `shared`, the lines of what several lists have, and a function for the lines of a list, which names what it shares */
function describeOnce(lists: readonly (readonly Described[])[]) {
  const counts = new Map<string, number>()
  for (const line of lists.flatMap((list) => list.map(lineOf))) counts.set(line, (counts.get(line) ?? 0) + 1)
  const isShared = (described: Described) => (counts.get(lineOf(described)) ?? 0) > 1
  return {
    shared: linesByText(lists.flat().filter(isShared)),
    linesOf(list: readonly Described[]): string {
      const shared = list.filter(isShared).map(({ name }) => name)
      const own = linesByText(list.filter((described) => !isShared(described)))
      const names = shared.join(', ').replace(filterNames.join(', '), filterNamesText)
      return [own, names && `- as above: ${names}`].filter(Boolean).join('\n')
    },
  }
}

/** Stands for all filters of clicks, which most operations have. */
const filterNamesText = `${filterNames[0]} to ${filterNames.at(-1)}`

/** One line for all names with the same description. */
function linesByText(list: readonly Described[]): string {
  const names = new Map<string, Set<string>>()
  for (const described of list) {
    const text = textOf(described)
    names.set(text, (names.get(text) ?? new Set()).add(described.name))
  }
  return [...names].map(([text, same]) => `- ${[...same].join(', ')} ${text}`).join('\n')
}

const lineOf = (described: Described): string => `${described.name} ${textOf(described)}`

function textOf({ required, description = '', schema }: Described): string {
  const standard = schema.default === undefined ? '' : `, default ${schema.default}`
  return `(${typeText(schema)}${required ? ', required' : ''}${standard})${description && `: ${description}`}`
}

function fieldsOf({ properties = {} }: Schema): Described[] {
  return Object.entries(properties).map(([name, { default: _, ...schema }]) => ({
    name,
    schema,
    description: schema.description ?? '',
  }))
}

/** The prefixes of `sort`. A value without its prefix is a value of `sort` too. */
const sortPrefix = /^-?(change\.)?/

function valuesText(values: readonly unknown[]): string {
  const isSort = values.includes('-id')
  // The parameter `metrics` has their names.
  const isMetric = (value: unknown) => reportMetricNames.some((name) => name === value)
  const shown = isSort ? values.filter((value) => sortPrefix.exec(`${value}`)?.[0] === '' && !isMetric(value)) : values
  const text = shown.map((value) => JSON.stringify(value)).join('|')
  return isSort ? `${text}|a metric` : text
}

/** A schema in the notation of TypeScript types. */
function typeText(schema: Schema): string {
  const { $ref, enum: values, anyOf, allOf, type, items, properties, required = [] } = schema
  if ($ref) return $ref.split('/').at(-1) ?? ''
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (values) return valuesText(values)
  if (anyOf) return anyOf.map(typeText).join('|')
  if (allOf) return allOf.map(typeText).join(' & ')
  // The schema of the rows has the names of their fields.
  if (items?.enum?.includes(cursorField)) return 'names of fields'
  if (items) return items.enum ? `(${typeText(items)})[]` : `${typeText(items)}[]`
  // A longer list repeats the fields of a schema.
  if (!properties || Object.keys(properties).length > 8) return [type].flat().join('|')
  const fields = Object.entries(properties).map(
    ([name, schema]) => `${name}${required.includes(name) ? '' : '?'}: ${typeText(schema)}`,
  )
  return `{ ${fields.join(', ')} }`
}

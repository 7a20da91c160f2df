import { cursorField } from '../../../schema/fields.ts'
import {
  type OpenApiDocument,
  operationsOf,
  type Parameter,
  type PlacedOperation,
  type Schema,
} from './openapiDocument.ts'

/**
 * The documentation as Markdown, for language models: `llms.txt` is the list of the others, which are one page for each guide, one for the
 * operations on each resource, and `schemas.md`.
 * @returns texts by their address below the documentation page
 */
export function markdownPages(document: OpenApiDocument): ReadonlyMap<string, string> {
  const { info, servers, tags, components, 'x-tagGroups': groups } = document
  const baseUrl = servers[0]?.url
  const pages = new Map<string, string>()
  const index = [
    `# ${info.title}`,
    `> Base URL: ${baseUrl}. Header of every request: \`Authorization: ApiKey trb_live_…\`. OpenAPI 3.1 document: ${baseUrl}/docs/json`,
    info.description ?? '',
  ]
  const addPage = (title: string, summary: string, parts: readonly string[]): string => {
    const address = `${title.toLowerCase().replace(/\W+/g, '-')}.md`
    pages.set(address, `${[`# ${title}`, ...parts].join('\n\n')}\n`)
    return `- [${title}](${baseUrl}/docs/${address})${summary && `: ${summary}`}`
  }
  const operations = operationsOf(document)
  for (const group of groups) {
    const lines = group.tags.map((name) => {
      const description = tags.find((tag) => tag.name === name)?.description ?? ''
      const placed = operations.filter(({ operation }) => operation.tags.includes(name))
      const summary = placed.map(({ method, path, operation }) => `\`${method} ${path}\` (${operation.summary})`)
      return addPage(name, summary.join(', '), [description, ...placed.flatMap(operationTexts)])
    })
    index.push(`## ${group.name}`, lines.join('\n'))
  }
  const schemas = Object.entries(components.schemas).flatMap(([name, schema]) => [
    `## ${name}`,
    described(Object.entries(schema.properties ?? {}).map(([field, one]) => ({ name: field, schema: one }))),
  ])
  index.push('## Schemas', addPage('Schemas', 'the fields of rows and responses', schemas))
  return pages.set('llms.txt', `${index.join('\n\n')}\n`)
}

function operationTexts({ method, path, operation }: PlacedOperation): string[] {
  const { summary, description, parameters = [], requestBody, responses } = operation
  const body = requestBody?.content['application/json']?.schema
  const response = responses['200']?.content?.['application/json']?.schema
  return [
    `## ${method} ${path}`,
    `${summary}. ${description}`,
    described(parameters),
    body ? `Body: \`${typeText(body)}\`` : '',
    response ? `Response: \`${typeText(response)}\`` : '',
  ].filter(Boolean)
}

/** One line for each parameter or field. */
function described(list: readonly Pick<Parameter, 'name' | 'required' | 'description' | 'schema'>[]): string {
  return list
    .map(({ name, required, schema, description = schema.description }) => {
      const standard = schema.default === undefined ? '' : `, default ${schema.default}`
      return `- \`${name}\` (${typeText(schema)}${required ? ', required' : ''}${standard})${description ? `: ${description}` : ''}`
    })
    .join('\n')
}

/** A schema in the notation of TypeScript types. */
function typeText(schema: Schema): string {
  const { $ref, enum: values, anyOf, allOf, type, items, properties, required = [] } = schema
  if ($ref) return $ref.split('/').at(-1) ?? ''
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (values) return values.map((value) => JSON.stringify(value)).join('|')
  if (anyOf) return anyOf.map(typeText).join('|')
  if (allOf) return allOf.map(typeText).join(' & ')
  // The schema of the rows has the names of their fields.
  if (items?.enum?.includes(cursorField)) return 'names of fields'
  if (items) return items.enum || items.anyOf ? `(${typeText(items)})[]` : `${typeText(items)}[]`
  // A longer list repeats the fields of a schema.
  if (!properties || Object.keys(properties).length > 8) return [type].flat().join('|')
  const fields = Object.entries(properties).map(
    ([name, schema]) => `${name}${required.includes(name) ? '' : '?'}: ${typeText(schema)}`,
  )
  return `{ ${fields.join(', ')} }`
}

import {
  type OpenApiDocument,
  operationsOf,
  type Parameter,
  type PlacedOperation,
  type Schema,
} from './openapiDocument.ts'

/** The API on one page of plain text for language models, from the OpenAPI document: guides, operations, schemas. */
export function llmsText(document: OpenApiDocument): string {
  const { info, servers, tags, components } = document
  const operations = operationsOf(document)
  const operationsIn = (tag: string) => operations.filter(({ operation }) => operation.tags.includes(tag))
  const baseUrl = servers[0]?.url
  return [
    `# ${info.title}`,
    `> Base URL: ${baseUrl}. Header of every request: \`Authorization: ApiKey trb_live_…\`. OpenAPI 3.1 document: ${baseUrl}/docs/json`,
    info.description,
    ...tags.flatMap(({ name, description }) => [
      `## ${name}`,
      description,
      ...operationsIn(name).flatMap(operationTexts),
    ]),
    '## Schemas',
    ...Object.entries(components.schemas).flatMap(([name, schema]) => [`### ${name}`, fieldLines(schema)]),
  ]
    .filter(Boolean)
    .join('\n\n')
    .concat('\n')
}

function operationTexts({ method, path, operation }: PlacedOperation): string[] {
  const { summary, description, parameters = [], requestBody, responses } = operation
  const body = requestBody?.content['application/json']?.schema
  const response = responses['200']?.content?.['application/json']?.schema
  return [
    `### ${method} ${path}`,
    `${summary}. ${description}`,
    parameters.map(parameterLine).join('\n'),
    ...(body ? [`Body: \`${typeText(body)}\``] : []),
    ...(response ? [`Response: \`${typeText(response)}\``] : []),
  ]
}

function parameterLine({ name, required, description = '', schema }: Parameter): string {
  const standard = schema.default === undefined ? '' : `, default ${schema.default}`
  return `- \`${name}\` (${typeText(schema)}${required ? ', required' : ''}${standard}): ${description}`
}

function fieldLines({ properties = {} }: Schema): string {
  return Object.entries(properties)
    .map(([name, schema]) => `- \`${name}\` (${typeText(schema)}): ${schema.description ?? ''}`)
    .join('\n')
}

/** A schema in the notation of TypeScript types. */
function typeText({
  $ref,
  enum: values,
  anyOf,
  allOf,
  type,
  items,
  properties,
  required = [],
  ...other
}: Schema): string {
  if ($ref) return $ref.split('/').at(-1) ?? ''
  if (other.const !== undefined) return JSON.stringify(other.const)
  if (values) return values.map((value) => JSON.stringify(value)).join(' | ')
  if (anyOf) return anyOf.map(typeText).join(' | ')
  if (allOf) return allOf.map(typeText).join(' & ')
  if (items) return `${typeText(items)}[]`
  if (!properties) return [type].flat().join(' | ')
  const fields = Object.entries(properties).map(
    ([name, schema]) => `${name}${required.includes(name) ? '' : '?'}: ${typeText(schema)}`,
  )
  return `{ ${fields.join(', ')} }`
}

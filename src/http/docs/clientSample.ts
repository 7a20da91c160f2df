import {
  isNeeded,
  type OpenApiDocument,
  type Operation,
  type Parameter,
  type PlacedOperation,
  sampleValue,
} from './openapiDocument.ts'

/**
 * A program that calls one operation with the typed client.
 * @returns undefined for an operation that the client has no method for
 */
export function clientSample(
  { servers }: OpenApiDocument,
  { method, path, operation }: PlacedOperation,
): string | undefined {
  const call = method === 'GET' ? readCall(path, operation) : eventCall(path, operation)
  if (!call) return undefined
  const baseUrl = servers[0]?.url.replace(/\/api\/v1$/, '')
  return `import { createTributary } from 'tributary-client'

const tributary = createTributary({ baseUrl: '${baseUrl}', apiKey: 'trb_live_…' })
${call}`
}

function readCall(path: string, { parameters = [] }: Operation): string {
  const required = parameters.filter(isNeeded)
  const given = ['path', 'query'].flatMap((place) => {
    const fields = required.filter((parameter) => parameter.in === place).map(literal)
    return fields.length > 0 ? [`${place}: { ${fields.join(', ')} }`] : []
  })
  const args = [`'${path}'`, ...(given.length > 0 ? [`{ ${given.join(', ')} }`] : [])].join(', ')
  const call = `console.log(await tributary.get(${args}))`
  const hasPages = parameters.some(({ name }) => name === 'cursor')
  return hasPages ? `${call}\n// All pages: for await (const row of tributary.rows(${args})) console.log(row)` : call
}

function eventCall(path: string, { requestBody }: Operation): string | undefined {
  if (path !== '/events') return undefined
  const event = requestBody?.content['application/json']?.example
  return `console.log(await tributary.sendEvent(${JSON.stringify(event, null, 2)}))`
}

const literal = (parameter: Parameter): string => `${parameter.name}: ${JSON.stringify(sampleValue(parameter))}`

import { readText } from 'tributary-client'

/** The parts of the API's OpenAPI document from which tools are made. */
export type OpenApiDocument = { paths: Record<string, { get?: Operation }> }

export interface Operation {
  operationId: string
  summary: string
  description?: string
  parameters?: Parameter[]
}

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  description?: string
  schema: JsonSchema
}

export type JsonSchema = Record<string, unknown> & { maximum?: number; default?: unknown }

/**
 * Reads the OpenAPI document of the API; no key is needed.
 * @throws Error with one line that names the address, when there is no such document
 */
export async function readDocument(baseUrl: string): Promise<OpenApiDocument> {
  const url = `${/^.*[^/]/s.exec(baseUrl)?.[0] ?? ''}/api/v1/docs/json`
  const response = await fetch(url).catch((error: Error) => {
    const { message } = error.cause instanceof Error ? error.cause : error
    throw new Error(`${url} is not reachable: ${message}.`)
  })
  if (response.ok) {
    const document = await readText(response)
      .then((text): Partial<OpenApiDocument> => JSON.parse(text))
      .catch(() => undefined)
    if (document?.paths) return document as OpenApiDocument
  }
  throw new Error(`${url} is not the OpenAPI document of Tributary (status ${response.status}).`)
}

import { formatParameter } from '../../../schema/rowFormat.ts'

/** The parts of the OpenAPI document that this folder reads and completes. */
export interface OpenApiDocument {
  info: { title: string; version: string; description?: string }
  servers: { url: string }[]
  tags: { name: string; description: string }[]
  'x-tagGroups': { name: string; tags: string[] }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

export interface Operation {
  operationId: string
  summary: string
  description: string
  tags: string[]
  parameters?: Parameter[]
  requestBody?: { description?: string; content: Content }
  responses: Record<string, Response>
}

export interface Parameter {
  name: string
  in: string
  required?: boolean
  description?: string
  example?: unknown
  examples?: Record<string, { value: unknown }>
  /** False: a list is one value, with commas. */
  explode?: boolean
  schema: Schema
}

export type Response = { description: string; headers?: object; content?: Content }

export type Content = Record<string, { schema?: Schema; example?: unknown }>

export interface Schema {
  $ref?: string
  type?: string | string[]
  description?: string
  default?: unknown
  enum?: unknown[]
  minimum?: number
  maximum?: number
  maxLength?: number
  maxItems?: number
  const?: unknown
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  anyOf?: Schema[]
  pattern?: string
  allOf?: Schema[]
  /** This parameter or the named one is required: a reader that wants to send a request sends this one. */
  'x-required-without'?: string
}

/** An operation of a document, with its place in it. */
export type PlacedOperation = { method: string; path: string; operation: Operation }

/** All operations of a document, in its order. */
export function operationsOf({ paths }: OpenApiDocument): PlacedOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
}

/** Copies a document without export formats and their parameters: generators of clients type such responses as streams or unions. */
export function onlyJson(document: OpenApiDocument): OpenApiDocument {
  const copy = structuredClone(document)
  for (const { operation } of operationsOf(copy)) {
    if (operation.parameters) operation.parameters = operation.parameters.filter(({ name }) => !ofFormats.has(name))
    for (const response of Object.values(operation.responses)) {
      response.description = response.description.replace(codesOfFormats, '')
      const json = response.content?.['application/json']
      if (json) response.content = { 'application/json': json }
    }
  }
  return copy
}

/** `totals` of a report is for CSV only. */
const ofFormats: ReadonlySet<string> = new Set([...Object.keys(formatParameter([])), 'totals'])
const codesOfFormats = new RegExp(`, \`invalid_(${[...ofFormats].join('|')})\``, 'g')

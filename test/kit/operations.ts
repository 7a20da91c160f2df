import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TSchema } from '@sinclair/typebox'
import type { Scope } from '../../schema/scopes.ts'
import { packageRoot } from '../../src/package.ts'

/** One endpoint, as the OpenAPI document tells it. */
export interface Operation {
  method: 'GET' | 'POST'
  /** Below /api/v1, with `{id}` where an id stands. */
  path: string
  scope: Scope
  query: Parameter[]
  hasId: boolean
  /** Fields of the body; undefined where there is none. */
  body: Record<string, TSchema> | undefined
  /** By status; the description names the codes. */
  responses: Record<string, { description: string; content?: { 'application/json': { schema: TSchema } } }>
}

export interface Parameter {
  name: string
  required: boolean
  schema: TSchema
}

interface RawOperation {
  parameters?: (Parameter & { in: string })[]
  requestBody?: { content: { 'application/json': { schema: TSchema } } }
  responses: Operation['responses']
  security: [{ apiKey: [Scope] }]
}

/** @returns every endpoint of an OpenAPI document of ours, references resolved */
export function operationsOf(document: string): Operation[] {
  const { schemas } = JSON.parse(document).components
  const { paths } = JSON.parse(document, (_name, part) =>
    typeof part?.$ref === 'string' ? (schemas[part.$ref.split('/').at(-1)] ?? part) : part,
  ) as { paths: Record<string, Record<string, RawOperation>> }
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody, responses, security }]) => ({
      method: method.toUpperCase() as Operation['method'],
      path,
      scope: security[0].apiKey[0],
      query: parameters.filter((parameter) => parameter.in === 'query'),
      hasId: parameters.some((parameter) => parameter.in === 'path'),
      body: requestBody?.content['application/json'].schema.properties,
      responses,
    })),
  )
}

/**
 * Every endpoint of the contract that was last agreed on; `test/docs` holds it to be that of the server. It is read from
 * the file, so that tests can be named after endpoints before a server runs.
 */
export const operations = operationsOf(readFileSync(join(packageRoot, 'test/golden/openapi.json'), 'utf8'))

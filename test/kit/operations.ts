import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TSchema } from '@sinclair/typebox'
import type { Scope } from '../../schema/scopes.ts'
import { packageRoot } from '../../src/package.ts'

export interface Operation {
  method: 'GET' | 'POST'
  /** Below /api/v1, with `{id}` for an id. */
  path: string
  /** Undefined: any key may call it. */
  scope: Scope | undefined
  query: Parameter[]
  hasId: boolean
  /** Fields of the body; undefined without a body. */
  body: Record<string, TSchema> | undefined
  /** By status; the description lists the error codes. */
  responses: Record<string, { description: string; content?: { 'application/json': { schema: TSchema } } }>
}

export interface Parameter {
  name: string
  required: boolean
  description: string
  schema: TSchema
}

/** Whether a valid request has the parameter: it is required, or it is the first of two parameters and one of them is required. */
export function isNeeded({ required, schema }: Parameter): boolean {
  return required || schema['x-required-without'] !== undefined
}

export const goodValues: Record<string, string> = {
  group_by: 'day',
  q: 'needle',
  from: '2026-11-20',
  steps: 'visit,signup',
  visitor_id: 'v1',
}

interface RawOperation {
  parameters?: (Parameter & { in: string })[]
  requestBody?: { content: { 'application/json': { schema: TSchema } } }
  responses: Operation['responses']
  security: [{ apiKey: [Scope] | [] }]
}

function operationsOf(document: string): Operation[] {
  const { schemas } = JSON.parse(document).components
  const resolve = (text: string): unknown =>
    JSON.parse(text, (_name, part) => {
      const schema = typeof part?.$ref === 'string' && schemas[part.$ref.split('/').at(-1)]
      return schema ? resolve(JSON.stringify(schema)) : part
    })
  const { paths } = resolve(document) as { paths: Record<string, Record<string, RawOperation>> }
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
 * Every endpoint of the accepted contract; `test/docs` checks that it equals the contract of the server. It is read from the file,
 * so that tests can be named after endpoints before a server runs.
 */
export const operations = operationsOf(readFileSync(join(packageRoot, 'test/golden/openapi.json'), 'utf8'))

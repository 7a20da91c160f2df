import { type TSchema, Type } from '@sinclair/typebox'
import type { RouteOptions } from 'fastify'
import { closestMatch } from 'leven'
import { isRepeatable } from '../../schema/scalars.ts'
import { type TextReader, textReaderOf } from '../../schema/textReader.ts'
import { hideKeys } from '../accounts/keyFormat.ts'
import { invalidParameter, notFound, Problem } from '../problem.ts'
import { isJsonObject } from '../query/exactJson.ts'
import { type View, visible } from '../query/keyView.ts'
import type { App, RouteContext } from './context.ts'

/** A raw value; null when its percent-encoding is not UTF-8. */
type RawValue = string | null

/** A parsed query string: all values of each name, in order. */
export type RawQuery = Record<string, RawValue[]> & { [viewOfCaller]?: View }

/** Of a query: what its caller sees. */
export const viewOfCaller = Symbol('viewOfCaller')

type Validated = { value: unknown } | { error: Problem }

/**
 * Validates parameters with the schemas of the routes and rejects all others. Responses are serialized as they are: their
 * schemas serve the documentation and the tests and filter nothing.
 */
export function readParameters(app: App): RouteContext['querySchemas'] {
  app.removeContentTypeParser('text/plain')
  app.setValidatorCompiler<TSchema>(({ schema, httpPart }) => {
    if (httpPart === 'querystring') return queryValidator(schema)
    return httpPart === 'params' ? pathValidator(schema) : validateBody
  })
  app.setSerializerCompiler(() => JSON.stringify)
  const schemas = new Map<string, RouteOptions>()
  app.addHook('onRoute', (route) => {
    if (!route.config?.scope) return
    route.schema = { querystring: noParameters, ...route.schema }
    if (route.method === 'GET') schemas.set(route.url, route)
  })
  return schemas
}

const noParameters = Type.Object({})

/**
 * Parses a query string without dropping anything, so that the validator can reject it.
 * @param text the part after the question mark
 */
export function parseQuery(text: string): RawQuery {
  // No prototype, so that no name is inherited.
  const query: RawQuery = Object.create(null)
  for (const pair of text.split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const rawName = equals === -1 ? pair : pair.slice(0, equals)
    const name = decode(rawName) ?? rawName
    const value = equals === -1 ? '' : decode(pair.slice(equals + 1))
    const values = query[name]
    if (values) values.push(value)
    else query[name] = [value]
  }
  return query
}

/**
 * Creates the validator of a query string from its schema, an object of types that `textReaderOf` supports. It clamps nothing.
 * @throws Error at start when the schema has another type
 */
export function queryValidator(schema: TSchema): (query: RawQuery) => Validated {
  const required: readonly string[] = schema.required ?? []
  const parameters = new Map<string, TextReader & { readonly default: unknown; readonly isRepeatable: boolean }>()
  for (const [name, property] of Object.entries<TSchema>(schema.properties ?? {})) {
    const isRepeated = isRepeatable in property
    parameters.set(name, { default: property.default, isRepeatable: isRepeated, ...textReaderOf(name, property) })
  }
  return (query) => {
    const { [viewOfCaller]: view } = query
    for (const name in query) if (!parameters.has(name)) return { error: unknownParameter(name, parameters) }
    const value: Record<string, unknown> = {}
    for (const [name, parameter] of parameters) {
      const raw = query[name]
      if (raw === undefined) {
        if (required.includes(name)) return { error: invalidParameter(name, `is required: ${parameter.allowed}.`) }
        if (parameter.default !== undefined) value[name] = parameter.default
        continue
      }
      if (raw.length > 1 && !parameter.isRepeatable)
        return { error: invalidParameter(name, 'was sent more than once.') }
      if (raw.includes('')) return { error: invalidParameter(name, 'is empty; omit it or set a value.') }
      if (raw.includes(null)) return { error: invalidParameter(name, 'is not percent-encoded UTF-8.') }
      const reader = view ? textReaderOf(name, limited(schema.properties[name], view)) : parameter
      const read = reader.read(raw.join(','))
      if (read === undefined) return { error: invalidParameter(name, `must be ${reader.allowed}.`) }
      value[name] = read
    }
    return { value }
  }
}

/** The schema of a parameter, without names of metrics and fields that a caller does not see. */
function limited(schema: TSchema, view: View): TSchema {
  if (schema.items) return { ...schema, items: limited(schema.items, view) }
  if (schema.anyOf) return { ...schema, anyOf: schema.anyOf.map((one: TSchema) => limited(one, view)) }
  return schema.enum ? { ...schema, enum: visible(schema.enum, view) } : schema
}

/** Creates the validator of path parameters: an invalid id is `not_found`, as an unknown one. */
function pathValidator(schema: TSchema): (params: Record<string, string>) => Validated {
  const validate = queryValidator(schema)
  return (params) => {
    const validated = validate(Object.fromEntries(Object.entries(params).map(([name, text]) => [name, [text]])))
    return 'error' in validated ? { error: notFound() } : validated
  }
}

/**
 * Validates that a body is a JSON object; the route validates the fields, since each field has its own error code.
 * Fastify passes null when there is no body.
 */
function validateBody(body: unknown): Validated {
  if (isJsonObject(body)) return { value: body }
  return { error: new Problem('invalid_body', 'The body must be a JSON object.') }
}

function decode(text: string): RawValue {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return null
  }
}

/** The error for a parameter that an operation does not have. */
export function unknownParameter(name: string, parameters: ReadonlyMap<string, unknown>): Problem {
  const shown = hideKeys(name).slice(0, shownCharacters)
  const known = [...parameters.keys()]
  const named = nearestName(name.slice(0, shownCharacters), known) ?? known.join(', ')
  const advice = named === '' ? 'this endpoint has no parameters' : `this endpoint has ${named}`
  return new Problem('unknown_parameter', `Unknown parameter ${JSON.stringify(shown)}; ${advice}.`, {
    param: shown,
  })
}

/** Characters of an unknown name that a message shows. */
const shownCharacters = 64

/** Finds the known name that a name differs from in case, `_` or one letter. */
function nearestName(name: string, known: readonly string[]): string | undefined {
  const lettersOf = (text: string) => text.toLowerCase().replaceAll('_', '')
  const byLetters = new Map(known.map((it) => [lettersOf(it), it]))
  const letters = lettersOf(name)
  const nearest = letters.length > 1 && closestMatch(letters, [...byLetters.keys()], { maxDistance: 1 })
  return nearest ? byLetters.get(nearest) : undefined
}

import { type TSchema, Type } from '@sinclair/typebox'
import { eventNamesPattern } from '../../schema/eventList.ts'
import { funnelStepsPattern, funnelWindowPattern } from '../../schema/funnel.ts'
import { datePattern, momentPattern } from '../../schema/range.ts'
import { eventIdPattern, idPattern } from '../../schema/scalars.ts'
import { hideKeys } from '../accounts/keyFormat.ts'
import { notFound, Problem } from '../problem.ts'
import type { App } from './context.ts'

/** A raw value; null when its percent-encoding is not UTF-8. */
type RawValue = string | null

/** A parsed query string: all values of each name, in order. */
export type RawQuery = Record<string, RawValue[]>

/** Result of a Fastify validator: the typed values or the error. */
type Validated = { value: unknown } | { error: Problem }

/** Parser of one parameter; `read` returns undefined for an invalid text. */
interface Parameter {
  readonly required: boolean
  readonly default: unknown
  /** Completes "… must be". */
  readonly allowed: string
  read(text: string): unknown
}

/**
 * Validates parameters with the schemas of the routes and rejects all others. Responses are serialized as they are: their
 * schemas serve the documentation and the tests and filter nothing.
 */
export function readParameters(app: App): void {
  app.removeContentTypeParser('text/plain')
  app.setValidatorCompiler<TSchema>(({ schema, httpPart }) => {
    if (httpPart === 'querystring') return queryValidator(schema)
    return httpPart === 'params' ? pathValidator(schema) : validateBody
  })
  app.setSerializerCompiler(() => JSON.stringify)
  app.addHook('onRoute', (route) => {
    if (route.config?.scope) route.schema = { querystring: noParameters, ...route.schema }
  })
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
 * Creates the validator of a query string from its schema, an object of integers, booleans, strings and unions of literals.
 * No other coercion and no clamping.
 * @throws Error at start when the schema has a type that a query string cannot express
 */
export function queryValidator(schema: TSchema): (query: RawQuery) => Validated {
  const parameters = new Map<string, Parameter>()
  for (const [name, property] of Object.entries<TSchema>(schema.properties ?? {})) {
    const required = (schema.required as string[] | undefined)?.includes(name) === true
    parameters.set(name, { required, default: property.default, ...readerOf(name, property) })
  }
  return (query) => {
    for (const name in query) if (!parameters.has(name)) return { error: unknownParameter(name, parameters) }
    const value: Record<string, unknown> = {}
    for (const [name, parameter] of parameters) {
      const raw = query[name]
      if (raw === undefined) {
        if (parameter.required) return { error: invalid(name, `is required: ${parameter.allowed}.`) }
        if (parameter.default !== undefined) value[name] = parameter.default
        continue
      }
      const [text] = raw
      if (raw.length > 1) return { error: invalid(name, 'was sent more than once.') }
      if (text === '') return { error: invalid(name, 'is empty; omit it or set a value.') }
      if (typeof text !== 'string') return { error: invalid(name, 'is not percent-encoded UTF-8.') }
      const read = parameter.read(text)
      if (read === undefined) return { error: invalid(name, `must be ${parameter.allowed}.`) }
      value[name] = read
    }
    return { value }
  }
}

/** Creates the validator of path parameters: an invalid id is `not_found`, as an unknown one. */
function pathValidator(schema: TSchema): (params: Record<string, string>) => Validated {
  const readers = Object.entries<TSchema>(schema.properties ?? {}).map(
    ([name, property]) => [name, readerOf(name, property)] as const,
  )
  return (params) => {
    const value: Record<string, unknown> = {}
    for (const [name, reader] of readers) {
      value[name] = reader.read(params[name] ?? '')
      if (value[name] === undefined) return { error: notFound() }
    }
    return { value }
  }
}

/**
 * Validates that a body is a JSON object; the route validates the fields, since each field has its own error code.
 * Fastify passes null when there is no body.
 */
function validateBody(body: unknown): Validated {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return { value: body }
  return { error: new Problem('invalid_body', 'The body must be a JSON object.') }
}

function decode(text: string): RawValue {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return null
  }
}

function unknownParameter(name: string, parameters: ReadonlyMap<string, Parameter>): Problem {
  const shown = hideKeys(name).slice(0, 64)
  const known = [...parameters.keys()].join(', ')
  const advice = known === '' ? 'this endpoint has no parameters' : `this endpoint has ${known}`
  return new Problem('unknown_parameter', `Unknown parameter ${JSON.stringify(shown)}; ${advice}.`, {
    param: shown,
  })
}

function invalid(name: string, rest: string): Problem {
  return new Problem(`invalid_${name}`, `${name} ${rest}`, { param: name })
}

function readerOf(name: string, schema: TSchema): Pick<Parameter, 'allowed' | 'read'> {
  const literals = literalsOf(schema)
  if (literals) {
    return {
      allowed: literals.length === 1 ? `${literals[0]}` : `one of ${literals.join(', ')}`,
      read: (text) => (literals.includes(text) ? text : undefined),
    }
  }
  if (schema.type === 'boolean') {
    const values = new Map([
      ['true', true],
      ['false', false],
    ])
    return { allowed: 'true or false', read: (text) => values.get(text) }
  }
  if (schema.type === 'integer') return integerReader(schema)
  if (schema.type === 'string') return stringReader(schema)
  throw new Error(`The schema of the parameter ${name} is not supported in a query string.`)
}

/** The literals of a union of strings or of `enum`; undefined for any other schema. */
function literalsOf(schema: TSchema): string[] | undefined {
  const literals: unknown[] | undefined =
    schema.enum ??
    (schema.anyOf as TSchema[] | undefined)?.map((member) => member.const) ??
    (schema.const && [schema.const])
  return literals?.every((literal) => typeof literal === 'string') ? (literals as string[]) : undefined
}

function integerReader({ minimum, maximum }: TSchema): Pick<Parameter, 'allowed' | 'read'> {
  const least: number = minimum ?? Number.MIN_SAFE_INTEGER
  const most: number = maximum ?? Number.MAX_SAFE_INTEGER
  return {
    allowed: `a whole number from ${least} to ${most}`,
    read: (text) => {
      const value = Number(text)
      return /^-?\d{1,16}$/.test(text) && value >= least && value <= most ? value : undefined
    },
  }
}

/** Descriptions of patterns for error messages. */
const patternTexts: Record<string, string> = {
  [eventNamesPattern]: 'one or more event names, separated by commas; a name has up to 64 letters, digits and _',
  [funnelStepsPattern]: 'two to eight steps, separated by commas: event names, click, conversion',
  [funnelWindowPattern]: 'a number of hours or days, 1h to 30d',
  [idPattern]: '1 to 64 letters, digits and _ . : -',
  [eventIdPattern]: '1 to 128 letters, digits and _ . : -',
  [datePattern]: 'a date such as 2026-11-01',
  [momentPattern]: 'a date such as 2026-11-01, or a timestamp with UTC offset such as 2026-11-01T00:00:00Z',
}

/** Describes a pattern in words, for error messages. */
function describePattern(pattern: string): string {
  const [, words, repeated] = /^\^\(([\w|]+)\)\(,\(\1\)\)(\*|\{0,2\})\$$/.exec(pattern) ?? []
  if (words) {
    return `one ${repeated === '*' ? 'or more' : 'to three'} of ${words.replaceAll('|', ', ')}, separated by commas`
  }
  return patternTexts[pattern] ?? `text that matches ${pattern}`
}

function stringReader({ pattern, minLength, maxLength }: TSchema): Pick<Parameter, 'allowed' | 'read'> {
  const least: number = minLength ?? 1
  const most: number = maxLength ?? Number.POSITIVE_INFINITY
  const expression = pattern === undefined ? undefined : new RegExp(pattern, 'u')
  const length = most === Number.POSITIVE_INFINITY ? `at least ${least} characters` : `${least} to ${most} characters`
  return {
    allowed: pattern === undefined ? length : describePattern(pattern),
    read: (text) => {
      // Postgres cannot store U+0000.
      if (text.includes('\0')) return undefined
      const count = text.length <= most ? text.length : [...text].length
      return count >= least && count <= most && (expression?.test(text) ?? true) ? text : undefined
    },
  }
}

import type { LightMyRequestResponse } from 'fastify'
import type { ProblemBody, ProblemCode } from '../../../schema/errorCodes.ts'
import type { RangeName } from '../../../schema/range.ts'
import type { ReportResponse } from '../../../schema/report.ts'
import { invalidParameter, Problem } from '../../problem.ts'
import { unitBefore } from '../../query/calendarRanges.ts'
import { boundedRange, type RangeQuery, rangeTexts } from '../../query/timeRange.ts'
import type { Schema } from '../docs/openapiDocument.ts'
import { unknownParameter } from '../validation.ts'
import { resultText } from './resultText.ts'
import type { Tool, ToolOperation } from './tools.ts'

type Given = Readonly<Record<string, unknown>>

/** What a response may say of its times, and of more rows. */
type Body = Partial<ReportResponse> & { nextCursor?: string | null }

/** How tools call the API. */
export interface Access {
  /** Calls a route. @param path with the query, without the prefix of the API */
  read(path: string): Promise<LightMyRequestResponse>
  /** Whether the key may call an operation: messages name no other. */
  mayCall(operation: ToolOperation): boolean
  /** Address of the API, which results name. */
  baseUrl: string
  nowMs: number
}

/** Characters of a result: about 12,000 tokens. */
const textMax = 40_000

/**
 * Calls a tool. Rows that are too long for one result are read again with a smaller limit, so the next page continues after the last row of
 * the result.
 * @returns the response as text, the GET that reproduces it, and how to get more rows
 * @throws Problem of an argument, or of the API
 */
export async function callTool(tool: Tool, args: Given, access: Access): Promise<string[]> {
  const { operation, given } = operationFor(tool, args, access)
  const schemas = new Map((operation.parameters ?? []).map(({ name, schema }) => [name, schema]))
  checkArguments(given, schemas)
  if (operation.path.includes('{id}') && (given.id ?? '') === '') throw invalidParameter('id', 'is required.')
  const { default: standard, maximum = 0 } = schemas.get('limit') ?? {}
  const { limit: wanted = standard } = given
  let limit = /^(number|string)$/.test(typeof wanted) ? Number(wanted) : undefined
  for (;;) {
    if (limit !== undefined && !(Number.isInteger(limit) && limit >= 1 && limit <= maximum))
      throw invalidParameter('limit', `must be a whole number from 1 to ${maximum}.`)
    const asked = limit === undefined ? given : { ...given, limit }
    const response = await access.read(pathOf(operation, asked))
    if (response.statusCode !== 200) throw problemOf(response)
    // A long body takes long to become text, which is shorter than half of it.
    const isLong = limit !== undefined && limit > 1 && response.payload.length > 4 * textMax
    const parts = isLong ? [] : partsOf(operation, asked, response.json<Body>(), access)
    const length = isLong ? response.payload.length / 2 : parts.join('\n').length
    if (length <= textMax) return parts
    if (limit === undefined || limit <= 1) throw tooLong
    limit = Math.max(1, Math.min(limit - 1, Math.floor((limit * textMax * 0.9) / length)))
  }
}

const tooLong = new Problem(
  'payload_too_large',
  `A result has at most ${textMax} characters; ask for fewer fields or metrics, a longer interval or a shorter range.`,
)

/** @throws Problem `invalid_resource` */
function operationFor({ operations }: Tool, args: Given, { mayCall }: Access) {
  const present = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null))
  const [first] = operations.values()
  if (operations.size === 1 && first) return { operation: first, given: present }
  const { resource, ...given } = present
  const operation = operations.get(resource as string)
  if (operation) return { operation, given }
  const names = [...operations].flatMap(([name, one]) => (mayCall(one) ? [name] : []))
  throw invalidParameter('resource', `must be one of ${names.join(', ')}.`)
}

/** @throws Problem `unknown_parameter`, or `invalid_<name>` for a number that may have lost digits, as a long id */
function checkArguments(given: Given, schemas: ReadonlyMap<string, Schema>): void {
  for (const [name, value] of Object.entries(given)) {
    const schema = schemas.get(name)
    if (!schema) throw unknownParameter(name, schemas)
    // The values of `filters` are texts, which the API checks, and its numbers are metrics.
    const isText = name !== 'filters' && schema.type !== 'integer'
    if (isText && [value].flat().some((one) => typeof one === 'number' && !Number.isSafeInteger(one)))
      throw invalidParameter(name, 'must be text in quotes: the number may have lost digits.')
  }
}

/** As long as the URL of a client can be. TRAP: `inject` has no limit. */
const pathMax = 16_000

/** @throws Problem `headers_too_large`, `invalid_<name>` */
function pathOf({ path }: ToolOperation, given: Given): string {
  const inQuery = Object.entries(given).filter(([name]) => !path.includes(`{${name}}`))
  const query = inQuery.map(([name, value]) => `${name}=${encoded(name, value)}`).join('&')
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encoded(name, given[name]))
  const text = query === '' ? filled : `${filled}?${query}`
  if (text.length <= pathMax) return text
  throw new Problem('headers_too_large', `The arguments have more than ${pathMax} characters in a URL.`)
}

/** Percent-encodes a value; lists and times stay legible. TRAP: half a character makes `encodeURIComponent` throw. */
const encoded = (name: string, value: unknown): string =>
  encodeURIComponent(valueText(name, value).toWellFormed()).replace(/%(2C|3A)/g, decodeURIComponent)

/** @returns conditions as JSON, and each other array as a list of literal values: also with a comma or a leading `!` */
function valueText(name: string, value: unknown): string {
  if (!Array.isArray(value) || name === 'filters') return plainText(name, value)
  const texts = value.map((one) => plainText(name, one).replace(/[\\,]/g, '\\$&'))
  return texts.join(',').replace(/^!/, '\\!')
}

function plainText(name: string, value: unknown): string {
  // Entities of this kind have two names in the API.
  if (typeof value === 'string') return name === 'group_by' ? value.replace(/\blanding_page\b/g, 'landing') : value
  try {
    return JSON.stringify(value)
  } catch {
    // TRAP: a value of a short body can be nested more deeply than the stack allows.
    throw invalidParameter(name, 'is nested too deeply.')
  }
}

function partsOf(operation: ToolOperation, asked: Given, body: Body, { baseUrl, nowMs }: Access): string[] {
  const { nextCursor, next, ...rest } = body
  const path = pathOf(operation, withTimes(operation, asked, body, nowMs))
  const parts = [resultText(rest), `Reproduce: GET ${baseUrl}${path}`]
  if (nextCursor) parts.push(`More rows: call again with the same arguments and cursor ${JSON.stringify(nextCursor)}.`)
  const more = next && JSON.stringify(Object.fromEntries(new URLSearchParams(next)))
  if (more) parts.push(`${body.data?.length} of ${body.bucketCount} rows. More rows: call again with ${more}.`)
  return parts
}

/** Names the times of a response: a later request with `days`, `range` or `compare` alone would read others. */
function withTimes({ parameters = [] }: ToolOperation, asked: Given, body: Body, nowMs: number): Given {
  const { from, to, previous, tz = 'UTC', asOf } = body
  const { days, range, compare, ...rest } = asked
  if (from !== undefined && asOf !== undefined && parameters.some(({ name }) => name === 'from')) {
    if (!previous || compare === undefined) return { ...rest, from, to }
    const times = { ...rest, from, to, previous_until: previous.to }
    if (range === undefined || `${compare}` !== 'previous_period') return { ...times, compare }
    // `from` and `to` do not say that a range is a month, which another month precedes. An array of one value is valid too.
    const { whole } = unitBefore(`${range}` as RangeName, Date.parse(from), tz, Date.parse(asOf))
    const { from: compare_from, to: compare_to } = rangeTexts(whole)
    return { ...times, compare_from, compare_to }
  }
  // A cursor has the times of the first page.
  if ((days === undefined && range === undefined) || asked.from !== undefined || asked.cursor !== undefined)
    return asked
  const query = { days, range } as RangeQuery
  return { ...rest, ...rangeTexts(boundedRange(query, 1, `${asked.tz ?? 'UTC'}`, nowMs)) }
}

function problemOf({ payload, headers }: LightMyRequestResponse): Problem {
  const { error, message, param } = JSON.parse(payload) as ProblemBody
  const retryAfterS = headers['retry-after']
  const details = { ...(param !== undefined && { param }), ...(retryAfterS && { retryAfterS: Number(retryAfterS) }) }
  return new Problem(error as ProblemCode, message, details)
}

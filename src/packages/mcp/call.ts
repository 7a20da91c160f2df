import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { type Tributary, TributaryError } from 'tributary-client'
import { failure, result, textMax } from './result.ts'
import type { ApiTool } from './tools.ts'

/** The parts of a response that say whether there is more. */
type Body = { data?: unknown[]; nextCursor?: string | null; next?: string | null; bucketCount?: number }

/**
 * Calls the operation of a tool. A list that is too long for one result is read again with a smaller limit, so that its
 * cursor continues after the last row of the result.
 * @returns the response as JSON, then a hint how to get the rest; errors of the API in its own words
 */
export async function callTool(
  tributary: Tributary,
  tool: ApiTool,
  given: Record<string, unknown>,
  signal: AbortSignal,
): Promise<CallToolResult> {
  const { parameters } = tool
  const unknown = Object.keys(given).filter((name) => !(name in parameters))
  if (unknown.length > 0)
    return failure(
      `unknown argument: ${unknown.join(', ')}. Arguments: ${Object.keys(parameters).join(', ') || 'none'}.`,
    )
  // The values of `filters` are texts, which the API checks, and its numbers are metrics.
  const isId = (name: string) => name !== 'filters' && parameters[name]?.type !== 'integer'
  const inexact = Object.keys(given).find((name) => isId(name) && isInexact(given[name]))
  if (inexact !== undefined) return failure(`${inexact} must be text in quotes: the number may have lost digits.`)
  const { limit: limitSchema } = parameters
  let limit = limitSchema && Number(given.limit ?? limitSchema.default)
  if (limitSchema && limit !== undefined && limit > Number(limitSchema.maximum)) {
    return failure(
      `limit may be ${limitSchema.maximum} at most; use the cursor, filters or a shorter range to get the rest.`,
    )
  }
  try {
    for (;;) {
      const body = await request(tributary, tool, { ...given, ...(limit !== undefined && { limit }) }, signal)
      const text = JSON.stringify(body)
      if (text.length <= textMax) return result(text, hint(tool, body))
      if (limit === undefined || limit <= 1) {
        return failure(`the response has ${text.length} characters; ${textMax} is the maximum. ${advice(tool)}`)
      }
      limit = Math.max(1, Math.min(limit - 1, Math.floor((limit * textMax * 0.9) / text.length)))
    }
  } catch (error) {
    return failure(apiErrorText(error))
  }
}

/** TRAP: a long id that a model writes as a number has been rounded to another id. */
function isInexact(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(isInexact)
  return typeof value === 'number' && !Number.isSafeInteger(value)
}

async function request(
  tributary: Tributary,
  { path, pathParameters }: ApiTool,
  given: Record<string, unknown>,
  signal: AbortSignal,
): Promise<Body> {
  const entries = Object.entries(given)
  const inPath = ([name]: [string, unknown]) => pathParameters.includes(name)
  // The path is any read path; the client's types know only constant ones.
  return (await tributary.get(path as '/campaigns/{id}', {
    path: Object.fromEntries(entries.filter(inPath)) as { id: string },
    query: Object.fromEntries(entries.filter((entry) => !inPath(entry))) as never,
    signal,
  })) as Body
}

function hint({ name, parameters }: ApiTool, { data, nextCursor, next, bucketCount }: Body) {
  if (nextCursor)
    return `More rows follow: call ${name} again with the same arguments and cursor ${JSON.stringify(nextCursor)}.`
  if (!next) return undefined
  const typed = (text: string, type: unknown) =>
    type === 'integer' ? Number(text) : type === 'array' ? text.split(',') : text
  const query = [...new URLSearchParams(next)].map(([one, text]) => [one, typed(text, parameters[one]?.type)])
  return `${data?.length} of ${bucketCount} rows: for the next ones call ${name} with ${JSON.stringify(Object.fromEntries(query))}, or use filters. totals include all.`
}

function advice({ parameters }: ApiTool): string {
  const ways = {
    fields: 'select fields',
    metrics: 'select metrics',
    from: 'use a shorter range',
    interval: 'use a longer interval',
  }
  const possible = Object.entries(ways).flatMap(([name, way]) => (name in parameters ? [way] : []))
  return possible.length > 0 ? `Try to ${possible.join(', or ')}.` : ''
}

function apiErrorText(error: unknown): string {
  if (error instanceof TributaryError) {
    const { code, message, param, requestId } = error
    const details = [param && `parameter ${param}`, requestId && `request id ${requestId}`].filter(Boolean).join(', ')
    return `${code}: ${message}${details && ` (${details})`}`
  }
  const { message } = error instanceof Error && error.cause instanceof Error ? error.cause : (error as Error)
  return `The API is not reachable: ${message}.`
}

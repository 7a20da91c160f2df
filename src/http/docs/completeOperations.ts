import exampleTable from './examples.json' with { type: 'json' }
import { type OpenApiDocument, type Operation, operationsOf, type Response } from './openapiDocument.ts'
import { headersOf, operationHeaders, rateLimitHeaders } from './responseHeaders.ts'

/** Request body, if any, and response of each operation; test/docs/examples.test.ts writes them from the responses to sample requests. */
const examples: Readonly<Record<string, { request?: unknown; response: unknown }>> = exampleTable

/** Adds error responses, headers and examples to every operation of the document. */
export function completeOperations(document: OpenApiDocument): void {
  for (const { operation } of operationsOf(document)) {
    // The schema of the body has the same description.
    delete operation.requestBody?.description
    const common = commonErrors(operation)
    // A route may declare an error of its own instead of a common one.
    for (const [status, response] of Object.entries(operation.responses)) {
      const own = status === '200' ? operationHeaders[operation.operationId] : {}
      response.headers = { ...common[status]?.headers, ...rateLimitHeaders, ...own, ...response.headers }
      if (status >= '400') response.content = problemContent
      // The generator's default where a schema has no description.
      if (response.description === 'Default Response') response.description = 'Successful response.'
    }
    addExamples(operation)
    // The names of a list are sent in one parameter.
    for (const parameter of operation.parameters ?? []) if (parameter.schema.items) parameter.explode = false
    operation.responses = { ...common, ...operation.responses }
  }
}

function addExamples({ operationId, requestBody, responses }: Operation): void {
  const { request, response } = examples[operationId] ?? {}
  const sent = requestBody?.content['application/json']
  const received = responses['200']?.content?.['application/json']
  if (sent && request) sent.example = request
  if (received && response) received.example = response
}

function commonErrors({ parameters = [], requestBody }: Operation): Record<string, Response> {
  const query = parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name)
  const hasRange = query.includes('from') && query.includes('to')
  return {
    400: problem('A parameter is invalid', [
      'invalid_authorization',
      'unknown_parameter',
      ...query.map((name) => `invalid_${name}`),
      ...(hasRange ? ['invalid_date_range'] : []),
      ...(requestBody ? ['invalid_json', 'invalid_body'] : []),
    ]),
    401: problem(
      'The API key is missing or not valid',
      ['missing_api_key', 'invalid_api_key', 'revoked_api_key', 'expired_api_key'],
      headersOf('WwwAuthenticate'),
    ),
    403: problem('The key may not', ['insufficient_scope', 'restricted_key', 'plan_required'], rateLimitHeaders),
    ...(parameters.some((parameter) => parameter.in === 'path') && {
      404: problem('The account has no such row', ['not_found'], rateLimitHeaders),
    }),
    ...(requestBody && {
      413: problem('The body is too large', ['payload_too_large'], rateLimitHeaders),
      415: problem('The body is not JSON, or is compressed', ['unsupported_media_type'], rateLimitHeaders),
    }),
    429: problem('A rate limit is exceeded', ['rate_limited'], { ...rateLimitHeaders, ...headersOf('RetryAfter') }),
    500: problem('Internal server error', ['internal_error']),
    503: problem(
      'A database is unavailable or the query timed out; retry',
      ['unavailable', 'query_timeout'],
      headersOf('RetryAfter'),
    ),
  }
}

function problem(reason: string, codes: readonly string[], headers: object = {}): Response {
  return {
    description: `${reason}: ${codes.map((code) => `\`${code}\``).join(', ')}.`,
    headers: { ...headersOf('RequestId'), ...headers },
    content: problemContent,
  }
}

const problemContent = { 'application/json': { schema: { $ref: '#/components/schemas/Problem' } } }

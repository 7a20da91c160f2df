import { type Static, Type } from '@sinclair/typebox'
import { optional } from './scalars.ts'

/**
 * Every error code that is not `invalid_<parameter>`, with its HTTP status and its condition in the documentation.
 * Codes are part of API v1: new ones may be added, existing ones are never renamed.
 */
export const problems = {
  invalid_date_range: [400, '`from` is not before `to`, or the range is too long.'],
  unknown_parameter: [400, 'The operation has no such parameter.'],
  invalid_authorization: [400, 'The `Authorization` header was sent more than once.'],
  invalid_json: [400, 'The body is not JSON in UTF-8.'],
  invalid_body: [400, 'The body is not an object.'],
  missing_identifier: [400, 'The event has neither `click_id` nor `visitor_id`.'],
  missing_api_key: [401, 'The request has no API key.'],
  invalid_api_key: [401, 'No such API key.'],
  revoked_api_key: [401, 'The API key was revoked.'],
  expired_api_key: [401, 'The API key has expired.'],
  insufficient_scope: [403, 'The key lacks a scope; `required` names it.'],
  forbidden_origin: [403, 'A page of this `Origin` may not use the server: `CORS_ORIGINS` does not name it.'],
  restricted_key: [403, 'The key sees a part of the account, which the endpoint cannot be limited to.'],
  plan_required: [403, 'The subscription plan of the account has no API access.'],
  not_found: [404, 'No such path, or no such row in the account.'],
  click_not_found: [404, 'The account has no such click, or not its campaign: import campaigns first.'],
  campaign_not_found: [404, 'The account has no such campaign.'],
  method_not_allowed: [405, 'The path does not support the method; the `Allow` header lists the supported methods.'],
  request_timeout: [408, 'The request took too long to arrive.'],
  payload_too_large: [413, 'The body is too large.'],
  unsupported_media_type: [415, 'The `Content-Type` or `Content-Encoding` of the body is not supported.'],
  rate_limited: [429, 'A rate limit is exceeded. Retry after the seconds in `Retry-After`.'],
  headers_too_large: [431, 'The headers are too large.'],
  internal_error: [500, 'A defect of the server. Report it with its `requestId`.'],
  unavailable: [
    503,
    'A database is unavailable, or has too little memory for the query. Retry after the seconds in `Retry-After`, or request a shorter range.',
  ],
  query_timeout: [503, 'The query took too long. Retry, or request a shorter range.'],
} as const

/** `invalid_<parameter>` has status 400; the others are listed in `problems`. */
export type ProblemCode = keyof typeof problems | `invalid_${string}`

/** @returns the HTTP status of a code, 400 for every `invalid_<parameter>` */
export const statusOfProblem = (code: ProblemCode): number =>
  code in problems ? problems[code as keyof typeof problems][0] : 400

/** Body of every error response. */
export const ProblemBody = Type.Object(
  {
    error: Type.String({ description: 'Error code in snake_case. Codes are stable; use them in your program.' }),
    message: Type.String({ description: 'Explanation for a person; the text may change.' }),
    requestId: Type.String({ description: 'Same as the `X-Request-Id` header; include it in support requests.' }),
    ...optional({
      param: Type.String({ description: 'Query parameter or body field that caused the error.' }),
      required: Type.String({ description: 'Scope that the key lacks.' }),
    }),
  },
  { $id: 'Problem', additionalProperties: false },
)
export type ProblemBody = Static<typeof ProblemBody>

import { type Static, Type } from '@sinclair/typebox'

/**
 * Every error code that is not `invalid_<parameter>`, with its HTTP status.
 * Codes are part of API v1: new ones may be added, existing ones are never renamed.
 */
export const problemStatus = {
  invalid_date_range: 400,
  unknown_parameter: 400,
  invalid_authorization: 400,
  invalid_json: 400,
  invalid_body: 400,
  missing_identifier: 400,
  missing_api_key: 401,
  invalid_api_key: 401,
  revoked_api_key: 401,
  expired_api_key: 401,
  insufficient_scope: 403,
  plan_required: 403,
  not_found: 404,
  click_not_found: 404,
  campaign_not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  payload_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  headers_too_large: 431,
  internal_error: 500,
  unavailable: 503,
  query_timeout: 503,
} as const

/** `invalid_<parameter>` has status 400; the others are listed in `problemStatus`. */
export type ProblemCode = keyof typeof problemStatus | `invalid_${string}`

/** @returns the HTTP status of a code, 400 for every `invalid_<parameter>` */
export function statusOfProblem(code: ProblemCode): number {
  return code in problemStatus ? problemStatus[code as keyof typeof problemStatus] : 400
}

/** Body of every error response. */
export const ProblemBody = Type.Object(
  {
    error: Type.String({ description: 'Error code in snake_case. Codes are stable; use them in your program.' }),
    message: Type.String({ description: 'Explanation for a person; the text may change.' }),
    requestId: Type.String({ description: 'Same as the `X-Request-Id` header; include it in support requests.' }),
    param: Type.Optional(Type.String({ description: 'Query parameter or body field that caused the error.' })),
    required: Type.Optional(Type.String({ description: 'Scope that the key lacks.' })),
  },
  { $id: 'Problem', additionalProperties: false },
)
export type ProblemBody = Static<typeof ProblemBody>

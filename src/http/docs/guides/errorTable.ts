import { problemStatus } from '../../../../schema/errorCodes.ts'

/** The condition of each error code. */
const conditions: Record<keyof typeof problemStatus, string> = {
  invalid_date_range: '`from` is not before `to`, or the range is too long.',
  unknown_parameter: 'The operation has no such parameter.',
  invalid_authorization: 'The `Authorization` header was sent more than once.',
  invalid_json: 'The body is not JSON.',
  invalid_body: 'The body is not an object.',
  missing_identifier: 'The event has neither `click_id` nor `visitor_id`.',
  missing_api_key: 'The request has no API key.',
  invalid_api_key: 'No such API key.',
  revoked_api_key: 'The API key was revoked.',
  expired_api_key: 'The API key has expired.',
  insufficient_scope: 'The key lacks a scope; `required` names it.',
  plan_required: 'The subscription plan of the account has no API access.',
  not_found: 'No such path, or no such row in the account.',
  click_not_found: 'The account has no such click, or not its campaign: import campaigns first.',
  campaign_not_found: 'The account has no such campaign.',
  method_not_allowed: 'The path does not support the method; the `Allow` header lists the supported methods.',
  request_timeout: 'The request took too long to arrive.',
  payload_too_large: 'The body is too large.',
  unsupported_media_type: 'The `Content-Type` of the body is not supported.',
  rate_limited: 'A rate limit is exceeded. Retry after the seconds in `Retry-After`.',
  headers_too_large: 'The headers are too large.',
  internal_error: 'A defect of the server. Report it with its `requestId`.',
  unavailable:
    'A database is unavailable, or has too little memory for the query. Retry after the seconds in `Retry-After`, or request a shorter range.',
  query_timeout: 'The query took too long. Retry, or request a shorter range.',
}

/** Every error code with its status and condition, as a table in Markdown. */
export function errorTable(): string {
  const named = Object.entries(conditions).map(
    ([code, condition]) => [code, problemStatus[code as keyof typeof problemStatus], condition] as const,
  )
  const rows = [['invalid_<parameter>', 400, 'The parameter or field is missing, malformed or out of range.'], ...named]
  return [
    '| status | `error` | condition |',
    '| --- | --- | --- |',
    ...rows.map(([code, status, condition]) => `| ${status} | \`${code}\` | ${condition} |`),
  ].join('\n')
}

/** Headers of responses, as components of the OpenAPI document. */
export const responseHeaders = {
  RequestId: {
    description: 'Id of this request; include it in support requests.',
    schema: { type: 'string', format: 'uuid' },
  },
  RateLimit: { description: 'Requests per minute that this key may send.', schema: { type: 'integer' } },
  RateLimitRemaining: { description: 'Requests left in this minute.', schema: { type: 'integer' } },
  RateLimitReset: { description: 'Seconds until the minute ends.', schema: { type: 'integer' } },
  RetryAfter: { description: 'Seconds to wait before the next attempt.', schema: { type: 'integer', minimum: 1 } },
  WwwAuthenticate: {
    description: 'The scheme of the Authorization header.',
    schema: { type: 'string', const: 'ApiKey' },
  },
} as const

const reference = (name: keyof typeof responseHeaders) => ({ $ref: `#/components/headers/${name}` })

/** Header of every response. */
export const requestIdHeader = { 'X-Request-Id': reference('RequestId') }

/** Headers of every response to a valid key. */
export const rateLimitHeaders = {
  ...requestIdHeader,
  'X-RateLimit-Limit': reference('RateLimit'),
  'X-RateLimit-Remaining': reference('RateLimitRemaining'),
  'X-RateLimit-Reset': reference('RateLimitReset'),
}

export const retryHeader = { 'Retry-After': reference('RetryAfter') }
export const authenticateHeader = { 'WWW-Authenticate': reference('WwwAuthenticate') }

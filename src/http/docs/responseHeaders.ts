import { noteCodesText } from '../../../schema/eventNote.ts'

const text = { type: 'string' }
const instant = { type: 'string', format: 'date-time' }

const header = (description: string, schema: object = text, example?: string) => ({
  description,
  schema,
  ...(example !== undefined && { example }),
})

export const responseHeaders = {
  RequestId: header('Id of this request; include it in support requests.', { type: 'string', format: 'uuid' }),
  RateLimit: header('Requests per minute that this key may send.', { type: 'integer' }),
  RateLimitRemaining: header('Requests left in this minute.', { type: 'integer' }),
  RateLimitReset: header('Seconds until the minute ends.', { type: 'integer' }),
  RetryAfter: header('Seconds to wait before the next attempt.', { type: 'integer', minimum: 1 }),
  WwwAuthenticate: header('The scheme of the Authorization header.', { type: 'string', const: 'ApiKey' }),
  AsOf: header('Of an export: the `updated_since` that reads all rows which it may have missed.', instant),
  RetainedFrom: header(
    'Of an export or CSV, if rows of its range were removed: the time of the first rows that are left.',
    instant,
  ),
  ContentDisposition: header(
    'Of an export or CSV: `attachment` and a file name of resource, range and account.',
    text,
    'attachment; filename="clicks_from_2026-11-01_to_2026-11-20_acme.csv"',
  ),
  BucketCount: header('Of CSV: the number of all buckets, as `bucketCount`.', { type: 'integer' }),
  Truncated: header('Of CSV: whether more buckets follow the rows, as `truncated`.', { type: 'boolean' }),
  NextRows: header(
    'Of CSV, if more buckets follow: the URL with the query `next`, with `rel="next"`. Absent beyond the largest `offset`.',
  ),
  EventNotes: header(
    `Values that are stored differently from the way they were sent: codes of notes, each once, separated by commas. \`dry_run=true\` explains them. Absent if there are none, and in a dry run. ${noteCodesText}`,
    text,
    'timestamp_clamped, field_ignored',
  ),
}

const reference = (name: keyof typeof responseHeaders) => ({ $ref: `#/components/headers/${name}` })

export const requestIdHeader = { 'X-Request-Id': reference('RequestId') }

export const rateLimitHeaders = {
  ...requestIdHeader,
  'X-RateLimit-Limit': reference('RateLimit'),
  'X-RateLimit-Remaining': reference('RateLimitRemaining'),
  'X-RateLimit-Reset': reference('RateLimitReset'),
}

const fileHeaders = { 'Content-Disposition': reference('ContentDisposition') }
const rangeFileHeaders = { ...fileHeaders, 'X-Retained-From': reference('RetainedFrom') }
const listHeaders = { ...rangeFileHeaders, 'X-As-Of': reference('AsOf') }

const forEach = (ids: readonly string[], headers: object) => Object.fromEntries(ids.map((id) => [id, headers]))

export const operationHeaders: Readonly<Record<string, object>> = {
  ...forEach(['getClicks', 'getConversions', 'getCosts', 'getEvents'], listHeaders),
  ...forEach(['getCampaigns', 'getOffers', 'getLandingPages', 'getTrafficSources'], fileHeaders),
  getStatsDaily: rangeFileHeaders,
  getReports: {
    ...rangeFileHeaders,
    'X-Bucket-Count': reference('BucketCount'),
    'X-Truncated': reference('Truncated'),
    Link: reference('NextRows'),
  },
  postEvents: { 'X-Event-Notes': reference('EventNotes') },
}

export const retryHeader = { 'Retry-After': reference('RetryAfter') }
export const authenticateHeader = { 'WWW-Authenticate': reference('WwwAuthenticate') }

const perOperation: object = Object.assign({}, ...Object.values(operationHeaders))

/** Names of the response headers that a web page of another origin may read. */
export const exposedHeaders = ['etag']
  .concat(Object.keys({ ...rateLimitHeaders, ...retryHeader, ...authenticateHeader, ...perOperation }))
  .map((name) => name.toLowerCase())
  .sort()

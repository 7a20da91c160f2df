import { noteCodesText } from '../../../schema/eventNote.ts'

const text = { type: 'string' }
const integer = { type: 'integer' }
const instant = { type: 'string', format: 'date-time' }

const header = (name: string, description: string, schema: object = text, example?: string) => ({
  name,
  described: { description, schema, ...(example !== undefined && { example }) },
})

/** The headers by their names in the document. */
const headers = {
  RequestId: header('X-Request-Id', 'Id of this request; include it in support requests.', { ...text, format: 'uuid' }),
  RateLimit: header('X-RateLimit-Limit', 'Requests per minute that this key may send.', integer),
  RateLimitRemaining: header('X-RateLimit-Remaining', 'Requests left in this minute.', integer),
  RateLimitReset: header('X-RateLimit-Reset', 'Seconds until the minute ends.', integer),
  RetryAfter: header('Retry-After', 'Seconds to wait before the next attempt.', { ...integer, minimum: 1 }),
  WwwAuthenticate: header('WWW-Authenticate', 'The scheme of the Authorization header.', { ...text, const: 'ApiKey' }),
  AsOf: header('X-As-Of', 'Of an export: the `updated_since` that reads all rows which it may have missed.', instant),
  RetainedFrom: header(
    'X-Retained-From',
    'Of an export or CSV, if rows of its range were removed: the time of the first rows that are left.',
    instant,
  ),
  ContentDisposition: header(
    'Content-Disposition',
    'Of an export or CSV: `attachment` and a file name of resource, range and account.',
    text,
    'attachment; filename="clicks_from_2026-11-01_to_2026-11-20_acme.csv"',
  ),
  BucketCount: header('X-Bucket-Count', 'Of CSV: the number of all buckets, as `bucketCount`.', integer),
  Truncated: header('X-Truncated', 'Of CSV: whether more buckets follow the rows, as `truncated`.', {
    type: 'boolean',
  }),
  NextRows: header(
    'Link',
    'Of CSV, if more buckets follow: the URL with the query `next`, with `rel="next"`. Absent beyond the largest `offset`.',
  ),
  EventNotes: header(
    'X-Event-Notes',
    `Values that are stored differently from the way they were sent: codes of notes, each once, separated by commas. \`dry_run=true\` explains them. Absent if there are none, and in a dry run. ${noteCodesText}`,
    text,
    'timestamp_clamped, field_ignored',
  ),
}

/** The headers as components of the document. */
export const responseHeaders = Object.fromEntries(Object.entries(headers).map(([id, { described }]) => [id, described]))

/** Headers of a response, which refer to the components. */
export const headersOf = (...ids: (keyof typeof headers)[]) =>
  Object.fromEntries(ids.map((id) => [headers[id].name, { $ref: `#/components/headers/${id}` }]))

export const rateLimitHeaders = headersOf('RequestId', 'RateLimit', 'RateLimitRemaining', 'RateLimitReset')
const fileHeaders = headersOf('ContentDisposition')
const rangeFileHeaders = headersOf('ContentDisposition', 'RetainedFrom')
const listHeaders = headersOf('ContentDisposition', 'RetainedFrom', 'AsOf')

const forEach = (ids: readonly string[], headers: object) => Object.fromEntries(ids.map((id) => [id, headers]))

export const operationHeaders: Readonly<Record<string, object>> = {
  ...forEach(['getClicks', 'getConversions', 'getCosts', 'getEvents'], listHeaders),
  ...forEach(['getCampaigns', 'getOffers', 'getLandingPages', 'getTrafficSources'], fileHeaders),
  getStatsDaily: rangeFileHeaders,
  getReports: headersOf('ContentDisposition', 'RetainedFrom', 'BucketCount', 'Truncated', 'NextRows'),
  postEvents: headersOf('EventNotes'),
}

/** Names of the response headers that a web page of another origin may read. */
export const exposedHeaders = ['etag', ...Object.values(headers).map(({ name }) => name.toLowerCase())].sort()

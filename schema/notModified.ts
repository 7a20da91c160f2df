import { Type } from '@sinclair/typebox'

/** Response to a matching `If-None-Match` on stats, reports, funnels, usage and checksums; it has no body. */
export const NotModified = Type.Null({
  description: 'The response has not changed since the response with the `ETag` that you sent.',
})

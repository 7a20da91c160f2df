import { Type } from '@sinclair/typebox'

/** The answer to `If-None-Match` on stats and reports; it has no body. */
export const NotModified = Type.Null({ description: 'The numbers are those of the answer whose `ETag` you named.' })

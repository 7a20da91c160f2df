import type { FastifyReply } from 'fastify'
import type { RetainedFrom } from '../query/retained.ts'

/** Sets `X-Retained-From` of a response without a JSON body, if it reads rows from before the rows that are retained. */
export function setRetainedFrom(reply: FastifyReply, { retainedFrom }: RetainedFrom): void {
  if (retainedFrom !== undefined) reply.header('x-retained-from', retainedFrom)
}

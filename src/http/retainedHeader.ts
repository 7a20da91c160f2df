import type { FastifyReply } from 'fastify'

/** Sets `X-Retained-From` of a response without a JSON body, if it reads rows from before the rows that are retained. */
export function setRetainedFrom(reply: FastifyReply, { retainedFrom }: { retainedFrom?: string | null }): void {
  if (retainedFrom) reply.header('x-retained-from', retainedFrom)
}

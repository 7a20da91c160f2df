import type { FastifyReply } from 'fastify'
import { type IncomingEvent, type RequestEvent, unsettled } from '../../events/incomingEvent.ts'
import type { Intake } from '../../events/intake.ts'
import { identifierOf } from '../../events/validate.ts'
import type { Caller } from '../../http/caller.ts'
import type { EventLimits } from '../../http/rateLimit.ts'
import { groupBy } from '../../writer/tables/groupBy.ts'

export interface AcceptContext {
  intake: Intake
  eventLimits: EventLimits
  caller: Caller
  isDryRun: boolean
  /** Set for a single event: gets the headers of the limit of its click or visitor. */
  reply?: FastifyReply
}

/**
 * Settles the events of a request: those above the limit of their click or visitor, then all others.
 * @throws Problem `unavailable`: any of the events may be stored or not
 */
export async function acceptEvents(
  { intake, eventLimits, caller: { accountId, subscription }, isDryRun, reply }: AcceptContext,
  events: readonly RequestEvent[],
): Promise<void> {
  const byIdentifier = groupBy(unsettled(events), ({ row }) => `${accountId} ${identifierOf(row)}`)
  const limit = async ([identifier, sent]: [string, IncomingEvent[]]) => {
    const perMinute = subscription.identifierEventsPerMinute
    const { allowed, exceeded } = await eventLimits.countIdentifier(identifier, perMinute, sent.length, reply)
    for (const event of sent.slice(allowed)) event.outcome = exceeded()
  }
  await Promise.all([...byIdentifier].map(limit))
  await intake.accept(unsettled(events), isDryRun)
}

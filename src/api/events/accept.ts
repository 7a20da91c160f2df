import type { FastifyReply } from 'fastify'
import { type IncomingEvent, type RequestEvent, unsettled } from '../../events/incomingEvent.ts'
import type { Intake } from '../../events/intake.ts'
import { identifierOf } from '../../events/validate.ts'
import type { Caller } from '../../http/caller.ts'
import { ConcurrencyLimiter } from '../../http/concurrencyLimiter.ts'
import type { EventLimits } from '../../http/rateLimit.ts'
import { Problem } from '../../problem.ts'
import { groupBy } from '../../writer/tables/groupBy.ts'

/** Maximum number of events in flight in this process; more get 503 at once, which limits memory. */
const inFlightMax = 10_000

/** An account may have this many times as many events in flight as remain free: one busy account 8,000, two 4,444 each. */
const shareOfFree = 4

/** Opens the limit of the events in flight: sent, and without a response. */
export function openInFlightLimit(): ConcurrencyLimiter {
  const message = 'Limit of concurrent events of this account reached; retry.'
  const refuse = () => new Problem('unavailable', message, { retryAfterS: 1 })
  return new ConcurrencyLimiter({ perAccountMax: (total) => shareOfFree * (inFlightMax - total), waitMs: 0, refuse })
}

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

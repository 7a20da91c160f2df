import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Problem } from '../problem.ts'

/** How many events of a click or visitor are within its limit. */
interface IdentifierEvents {
  allowed: number
  /** Creates the Problem `rate_limited` of another one. */
  exceeded(): Problem
}

/** The limits that routes of events count by themselves. */
export interface EventLimits {
  /**
   * Counts the events of a batch beyond the first one, which `countRequest` counted, against the limit of the key: all of
   * them, or none if they exceed it.
   * @throws Problem `rate_limited`
   */
  countFurtherEvents(request: FastifyRequest, reply: FastifyReply, events: number): Promise<void>
  /**
   * Counts events of one click or visitor.
   * @param identifier of the account and the click or visitor
   * @param reply of a single event: gets the headers when fewer events remain than for the key
   * @returns how many of them are within the limit
   * @throws Problem `unavailable`
   */
  countIdentifier(
    identifier: string,
    perMinute: number,
    events: number,
    reply?: FastifyReply,
  ): Promise<IdentifierEvents> | IdentifierEvents
}

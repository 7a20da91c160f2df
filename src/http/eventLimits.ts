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
   * Counts an event against the limit of its click or visitor, and sets the headers when fewer requests remain than for
   * the key.
   * @throws Problem `rate_limited` when the limit is exceeded
   */
  countIdentifier(request: FastifyRequest, reply: FastifyReply, identifier: string, perMinute: number): Promise<void>
  /**
   * Counts the events of a batch beyond the first one, which `countRequest` counted, against the limit of the key: all of
   * them, or none if they exceed it.
   * @throws Problem `rate_limited`
   */
  countFurtherEvents(request: FastifyRequest, reply: FastifyReply, events: number): Promise<void>
  /**
   * Counts several events of one click or visitor.
   * @returns how many of them are within the limit
   * @throws Problem `unavailable`
   */
  countIdentifierEvents(
    identifier: string,
    perMinute: number,
    events: number,
  ): Promise<IdentifierEvents> | IdentifierEvents
}

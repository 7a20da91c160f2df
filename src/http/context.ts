import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import type { Registry } from 'prom-client'
import type { NameCache } from '../rows/nameCache.ts'
import type { Stores } from '../stores/open.ts'
import type { ResponseCache } from './responseCache.ts'
import type { Streaming } from './streaming.ts'

/** The server as routes see it: types of parameters and answers come from their TypeBox schemas. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

/** What a room (one folder of `src` a subject) is given; it reaches for nothing else. */
export interface RouteContext {
  readonly stores: Pick<Stores, 'clickhouse' | 'postgres' | 'postgresReader'>
  readonly nameCache: NameCache
  readonly responseCache: ResponseCache
  readonly streaming: Streaming
  /** The present moment in epoch milliseconds; handed in, so that tests choose it. */
  readonly now: () => number
  /** Where a room publishes figures of its own; undefined where nobody asks for them. */
  readonly registry: Registry | undefined
  /**
   * Counts an event against the minute of its click or visitor, and tells that budget where it is the one that ends first.
   * @param identifier of the click or visitor, with its account
   * @throws Problem `rate_limited` when it was one too many
   */
  readonly countIdentifierUse: (
    request: FastifyRequest,
    reply: FastifyReply,
    identifier: string,
    perMinute: number,
  ) => Promise<void>
}

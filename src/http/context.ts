import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { RouteOptions } from 'fastify'
import type { Registry } from 'prom-client'
import type { RowContext } from '../rows/nameCache.ts'
import type { EventLimits } from './rateLimit.ts'
import type { ResponseCache } from './responseCache.ts'
import type { Streaming } from './streaming.ts'

/** The Fastify instance; types of parameters and responses come from TypeBox schemas. */
export type App = Parameters<FastifyPluginAsyncTypebox>[0]

export interface RouteContext extends Omit<RowContext, 'signal'> {
  readonly responseCache: ResponseCache
  readonly streaming: Streaming
  /** The current time, epoch milliseconds; injected so that tests can set it. */
  readonly now: () => number
  /** Registry for the metrics of routes; undefined when metrics are off. */
  readonly registry: Registry | undefined
  readonly eventLimits: EventLimits
  /** Each route for GET, by its path with the prefix. Later routes are added. */
  readonly querySchemas: ReadonlyMap<string, RouteOptions>
}

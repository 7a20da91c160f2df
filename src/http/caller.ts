import type { RowFormat } from '../../schema/rowFormat.ts'
import type { Scope } from '../../schema/scopes.ts'
import type { KeyRecord } from '../accounts/lookUpKeys.ts'
import type { SubscriptionPlan } from '../accounts/plans.ts'
import type { Problem } from '../problem.ts'

/** The account and API key of a request. What the request may read depends on `accountId` alone. */
export interface Caller extends KeyRecord {
  readonly subscription: SubscriptionPlan
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by access control before any handler runs, on every route that declares a scope. */
    caller: Caller
    /** The error of a request above the limit of its key, on a route that `answersLimit`. */
    tooMany: Problem | undefined
  }
  interface FastifyContextConfig {
    /**
     * The scope that a key needs; `any` for a route that reads nothing but the key. Every route under /api/v1 declares one;
     * access control and the OpenAPI document use it.
     */
    scope?: Scope | 'any'
    /** Whether the route itself responds to requests above the limit of their key. */
    answersLimit?: boolean
    /** Response formats other than JSON, for the OpenAPI document. */
    formats?: readonly RowFormat[]
  }
}

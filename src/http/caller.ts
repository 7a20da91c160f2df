import type { RowFormat } from '../../schema/rowFormat.ts'
import type { Scope } from '../../schema/scopes.ts'
import type { KeyRecord } from '../accounts/lookUpKeys.ts'
import type { SubscriptionPlan } from '../accounts/plans.ts'
import type { Problem } from '../problem.ts'
import type { ValuesByDimension } from '../query/entityValues.ts'
import type { View } from '../query/keyView.ts'

/** The account and API key of a request. What the request may read depends on `accountId` and `view` alone. */
export interface Caller extends KeyRecord {
  /** The part of the account that the key sees; null: all of it. */
  readonly view: View | null
  /** Whose slots the reads and exports of the key take: its account's; its own, if it sees a part. */
  readonly slotsOf: string
  readonly subscription: SubscriptionPlan
  /** Of the entity dimensions that a read names, from the start of its handler. */
  entityValues?: ValuesByDimension
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
    /** Whether the route limits its response to a view. Without it, keys that see a part of their account get 403. */
    servesView?: (view: View) => boolean
    /** Response formats other than JSON, for the OpenAPI document. */
    formats?: readonly RowFormat[]
  }
}

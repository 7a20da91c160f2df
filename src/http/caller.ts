import type { RowFormat } from '../../schema/rowFormat.ts'
import type { Scope } from '../../schema/scopes.ts'
import type { SubscriptionPlan } from '../accounts/plans.ts'

/** Who asks: the owner of the key, as the gate found it. Everything that a request may see follows from `accountId`. */
export interface Caller {
  readonly accountId: string
  readonly accountName: string
  /** ISO 4217; every amount in stats and reports is in it. */
  readonly currency: string
  /** Names the key without being it; fit for logs. */
  readonly keyId: string
  readonly scopes: ReadonlySet<Scope>
  readonly plan: SubscriptionPlan
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the gate before anything else sees the request, on every route that declares a scope. */
    caller: Caller
  }
  interface FastifyContextConfig {
    /** What a key needs to be let in. Every route under /api/v1 declares one; the gate and the OpenAPI document read it. */
    scope?: Scope
    /** In which forms beside JSON its rows leave; the OpenAPI document names them. */
    formats?: readonly RowFormat[]
  }
}

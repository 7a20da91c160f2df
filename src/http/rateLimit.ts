import rateLimit, { type FastifyRateLimitStore, type FastifyRateLimitStoreCtor, normalizeIP } from '@fastify/rate-limit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { KeyRecord } from '../accounts/keyLookups.ts'
import { Problem } from '../problem.ts'
import type { Redis } from '../stores/redis.ts'
import type { App } from './context.ts'
import { FixedWindowCounters, minuteMs, type WindowCount } from './fixedWindowCounters.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What this request is counted against next, and how many of its kind a minute may have. */
    budget: { counter: string; perMinute: number } | null
  }
}

/** What requests are counted by. */
export const limitKinds = ['key', 'address', 'identifier', 'queries'] as const
export type LimitKind = (typeof limitKinds)[number]

/** What the gate counts. A minute begins with the first request in it. */
export interface RateLimits {
  /**
   * Counts a request of a key against the budget of its plan, reads and events apart, and tells the budget in the
   * headers. A plan without API has a budget of 0.
   * @returns Problem `rate_limited` when it was one too many
   */
  countRequest(request: FastifyRequest, reply: FastifyReply, record: KeyRecord): Promise<Problem | undefined>
  /**
   * Counts an event against the budget of its click or visitor, and tells that budget where it is the one that ends first.
   * @throws Problem `rate_limited` when it was one too many
   */
  countIdentifier(request: FastifyRequest, reply: FastifyReply, identifier: string, perMinute: number): Promise<void>
  /**
   * Counts a malformed or an unknown key against the address that it came from, each kind apart. Keys that exist are
   * never refused because of them.
   * @returns Problem `rate_limited` when it was one too many
   */
  countRefusedKey(
    request: FastifyRequest,
    reply: FastifyReply | undefined,
    reason: 'malformed' | 'unknown',
  ): Promise<Problem | undefined>
  /**
   * Counts a request of a key that is revoked or expired, apart from the budget of its plan.
   * @returns Problem `rate_limited` when it was one too many
   */
  countEndedKey(
    request: FastifyRequest,
    reply: FastifyReply | undefined,
    record: KeyRecord,
  ): Promise<Problem | undefined>
}

/** Where and how it is counted. */
export interface RateLimitOptions {
  /** Counts for all instances together; without it each one counts for itself. */
  redis?: Redis | undefined
  /** While Redis is away: `open` counts in each instance alone, `closed` answers 503. */
  withoutRedis: 'open' | 'closed'
  /** The present moment in epoch milliseconds. */
  now: () => number
  /** Told of every request that was one too many. */
  onDenied?: ((kind: LimitKind) => void) | undefined
}

/** Requests a minute that are told why their key is refused, by address or by key: far above what a forgotten script makes. */
const refusalsPerMinute = 120

/**
 * Counters in memory, by kind: keys exist, so nobody invents them; an address costs its sender a connection; an identifier
 * costs a request of a key, and a machine takes some 17,000 of those a second.
 */
const countersMax = { key: 200_000, address: 200_000, identifier: 1_000_000 }

/** An IPv6 network of this size counts as one address: it is what a single customer is given. */
const ipv6Prefix = 64

/** Opens the counters: of keys, of addresses and of identifiers, each kind in a space of its own. */
export async function openRateLimits(app: App, options: RateLimitOptions): Promise<RateLimits> {
  const { onDenied = () => {} } = options
  await app.register(rateLimit, { global: false, store: storeOf(options) })
  app.decorateRequest('budget', null)
  const countBudget = app.createRateLimit({
    timeWindow: minuteMs,
    keyGenerator: ({ budget }) => budget?.counter ?? '',
    max: ({ budget }) => budget?.perMinute ?? 0,
  })

  async function countRefusal(
    request: FastifyRequest,
    reply: FastifyReply | undefined,
    { kind, counter, reason }: { kind: LimitKind; counter: string; reason: string },
  ): Promise<Problem | undefined> {
    request.budget = { counter: `${kind}:${counter}`, perMinute: refusalsPerMinute }
    const state = await countBudget(request)
    if (state.isAllowed || !state.isExceeded) return undefined
    const resetS = secondsOf(state.ttl)
    if (reply) setBudgetHeaders(reply, state.max, state.remaining, resetS)
    onDenied(kind)
    return tooMany(reason, resetS)
  }

  return {
    async countRequest(request, reply, { keyId, plan }) {
      const isEvent = request.routeOptions.config.scope === 'write:events'
      const perMinute = (isEvent ? plan?.eventsPerMinute : plan?.requestsPerMinute) ?? 0
      request.budget = { counter: `key:${keyId}:${isEvent ? 'events' : 'requests'}`, perMinute }
      const state = await countBudget(request)
      if (state.isAllowed) return undefined
      const resetS = secondsOf(state.ttl)
      setBudgetHeaders(reply, state.max, state.remaining, resetS)
      if (!state.isExceeded) return undefined
      onDenied('key')
      return tooMany(`This key may send ${state.max} ${isEvent ? 'events' : 'requests'} a minute`, resetS)
    },
    async countIdentifier(request, reply, identifier, perMinute) {
      request.budget = { counter: `identifier:${identifier}`, perMinute }
      const state = await countBudget(request)
      if (state.isAllowed) return
      const resetS = secondsOf(state.ttl)
      if (state.isExceeded || state.remaining < Number(reply.getHeader('x-ratelimit-remaining'))) {
        setBudgetHeaders(reply, state.max, state.remaining, resetS)
      }
      if (!state.isExceeded) return
      onDenied('identifier')
      throw tooMany(`A click or visitor may have ${state.max} events a minute`, resetS)
    },
    countRefusedKey(request, reply, reason) {
      // TRAP: a request whose connection was reset has no address any more.
      const address = normalizeIP((request.ip as string | undefined) ?? '', ipv6Prefix)
      return countRefusal(request, reply, {
        ...{ kind: 'address', counter: `${reason}:${address}` },
        reason: `Too many ${reason} API keys came from this address`,
      })
    },
    countEndedKey: (request, reply, { keyId }) =>
      countRefusal(request, reply, {
        ...{ kind: 'key', counter: `${keyId}:ended` },
        reason: 'Too many requests came with this API key, which is revoked or expired',
      }),
  }
}

/** Makes the store that the library counts in: Redis where there is one, this process's memory otherwise. */
function storeOf({ redis, withoutRedis, now }: RateLimitOptions): FastifyRateLimitStoreCtor {
  const memory = new Map(Object.entries(countersMax).map(([kind, max]) => [kind, new FixedWindowCounters(max)]))

  /** The kind is what a counter's name begins with. */
  function memoryOf(name: string): FixedWindowCounters {
    const counters = memory.get(name.slice(0, name.indexOf(':')))
    if (!counters) throw new Error(`${name} is of no kind.`)
    return counters
  }

  function settle(shared: Promise<WindowCount> | undefined, alone: () => WindowCount, tell: Tell): void {
    if (!shared) {
      answer(tell, alone())
      return
    }
    shared.then(
      (counted) => answer(tell, counted),
      () => (withoutRedis === 'open' ? answer(tell, alone()) : tell(uncounted())),
    )
  }

  return class Store implements FastifyRateLimitStore {
    incr(name: string, tell: Tell): void {
      settle(redis?.add(name, minuteMs), () => memoryOf(name).add(name, now()), tell)
    }

    child(): Store {
      return this
    }
  }
}

type Tell = (error: Error | null, result?: { current: number; ttl: number }) => void

function answer(tell: Tell, { count, endsInMs }: WindowCount): void {
  tell(null, { current: count, ttl: endsInMs })
}

function uncounted(): Problem {
  return new Problem('unavailable', 'Requests cannot be counted at the moment; try again.', { retryAfterS: 2 })
}

function setBudgetHeaders(reply: FastifyReply, limit: number, remaining: number, resetS: number): void {
  reply.header('x-ratelimit-limit', limit)
  reply.header('x-ratelimit-remaining', remaining)
  reply.header('x-ratelimit-reset', resetS)
}

function secondsOf(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000))
}

function tooMany(reason: string, resetS: number): Problem {
  return new Problem('rate_limited', `${reason}; try again in ${resetS} s.`, { retryAfterS: resetS })
}

import rateLimit, { type FastifyRateLimitStore, type FastifyRateLimitStoreCtor, normalizeIP } from '@fastify/rate-limit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { KeyRecord } from '../accounts/keyLookups.ts'
import { Problem } from '../problem.ts'
import type { Redis } from '../stores/redis.ts'
import type { App } from './context.ts'
import { FixedWindowCounters, minuteMs, type WindowCount } from './fixedWindowCounters.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The counter for the next count of this request, and its limit per minute. */
    budget: { counter: string; perMinute: number } | null
  }
}

/** Kinds of limits, as telemetry names them. */
export const limitKinds = ['key', 'address', 'identifier', 'queries'] as const
export type LimitKind = (typeof limitKinds)[number]

/** Counters of requests. A window of a minute starts with its first request. */
export interface RateLimits {
  /**
   * Counts a request of a key against the limit of its subscription plan, reads and events separately, and sets the rate
   * limit headers. A plan without API access has a limit of 0.
   * @returns Problem `rate_limited` when the limit is exceeded
   */
  countRequest(request: FastifyRequest, reply: FastifyReply, record: KeyRecord): Promise<Problem | undefined>
  /**
   * Counts an event against the limit of its click or visitor, and sets the headers when fewer requests remain than for
   * the key.
   * @throws Problem `rate_limited` when the limit is exceeded
   */
  countIdentifier(request: FastifyRequest, reply: FastifyReply, identifier: string, perMinute: number): Promise<void>
  /**
   * Counts a malformed or unknown key against the client address, each kind separately. Existing keys are not affected.
   * @returns Problem `rate_limited` when the limit is exceeded
   */
  countRefusedKey(
    request: FastifyRequest,
    reply: FastifyReply | undefined,
    reason: 'malformed' | 'unknown',
  ): Promise<Problem | undefined>
  /**
   * Counts a request of a revoked or expired key, separately from the limit of its plan.
   * @returns Problem `rate_limited` when the limit is exceeded
   */
  countEndedKey(
    request: FastifyRequest,
    reply: FastifyReply | undefined,
    record: KeyRecord,
  ): Promise<Problem | undefined>
}

export interface RateLimitOptions {
  /** Shares the counters among all instances; without it each instance counts alone. */
  redis?: Redis | undefined
  /** While Redis is unavailable: `open` counts in each instance alone, `closed` responds 503. */
  withoutRedis: 'open' | 'closed'
  /** The current time, epoch milliseconds. */
  now: () => number
  /** Called for every request above a limit. */
  onDenied?: ((kind: LimitKind) => void) | undefined
}

/** Requests per minute that get the reason why their key is rejected, by address or by key; more get 429. A forgotten script sends far fewer. */
const refusalsPerMinute = 120

/**
 * Limits of the counters in memory, by kind. Keys cannot be invented; an address costs its client a connection; an
 * identifier costs a request with a valid key, and a process handles about 17,000 of those per second.
 */
const countersMax = { key: 200_000, address: 200_000, identifier: 1_000_000 }

/** An IPv6 network of this prefix counts as one address: providers assign one per customer. */
const ipv6Prefix = 64

/** Opens the counters of keys, addresses and identifiers, each kind with its own memory limit. */
export async function openRateLimits(app: App, options: RateLimitOptions): Promise<RateLimits> {
  const { onDenied = () => {} } = options
  await app.register(rateLimit, { global: false, store: storeOf(options) })
  app.decorateRequest('budget', null)
  const countBudget = app.createRateLimit({
    timeWindow: minuteMs,
    keyGenerator: ({ budget }) => budget?.counter ?? '',
    max: ({ budget }) => budget?.perMinute ?? 0,
  })

  async function countRejected(
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
      return tooMany(
        `Limit of ${state.max} ${isEvent ? 'events' : 'requests'} per minute for this API key reached`,
        resetS,
      )
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
      throw tooMany(`Limit of ${state.max} events per minute for a click or visitor reached`, resetS)
    },
    countRefusedKey(request, reply, reason) {
      // TRAP: a request has no address after its connection was reset.
      const address = normalizeIP((request.ip as string | undefined) ?? '', ipv6Prefix)
      return countRejected(request, reply, {
        ...{ kind: 'address', counter: `${reason}:${address}` },
        reason: `Too many ${reason} API keys from this address`,
      })
    },
    countEndedKey: (request, reply, { keyId }) =>
      countRejected(request, reply, {
        ...{ kind: 'key', counter: `${keyId}:ended` },
        reason: 'Too many requests with this API key, which is revoked or expired',
      }),
  }
}

/** Creates the store of @fastify/rate-limit: Redis where configured, else memory. */
function storeOf({ redis, withoutRedis, now }: RateLimitOptions): FastifyRateLimitStoreCtor {
  const memory = new Map(Object.entries(countersMax).map(([kind, max]) => [kind, new FixedWindowCounters(max)]))

  /** The name of a counter starts with its kind. */
  function memoryOf(name: string): FixedWindowCounters {
    const counters = memory.get(name.slice(0, name.indexOf(':')))
    if (!counters) throw new Error(`Counter ${name} has an unknown kind.`)
    return counters
  }

  function settle(shared: Promise<WindowCount> | undefined, local: () => WindowCount, done: Callback): void {
    if (!shared) {
      succeed(done, local())
      return
    }
    shared.then(
      (count) => succeed(done, count),
      () => (withoutRedis === 'open' ? succeed(done, local()) : done(unavailable())),
    )
  }

  return class Store implements FastifyRateLimitStore {
    incr(name: string, done: Callback): void {
      settle(redis?.add(name, minuteMs), () => memoryOf(name).add(name, now()), done)
    }

    child(): Store {
      return this
    }
  }
}

type Callback = (error: Error | null, result?: { current: number; ttl: number }) => void

function succeed(done: Callback, { count, endsInMs }: WindowCount): void {
  done(null, { current: count, ttl: endsInMs })
}

function unavailable(): Problem {
  return new Problem('unavailable', 'Rate limits are temporarily unavailable; retry.', { retryAfterS: 2 })
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

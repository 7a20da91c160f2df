import rateLimit, { type FastifyRateLimitStore, type FastifyRateLimitStoreCtor, normalizeIP } from '@fastify/rate-limit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { KeyRecord } from '../accounts/keyLookups.ts'
import { Problem } from '../problem.ts'
import type { Redis } from '../stores/redis.ts'
import type { App } from './context.ts'
import type { EventLimits } from './eventLimits.ts'
import { FixedWindowCounters, minuteMs, type WindowCount } from './fixedWindowCounters.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The limit that the next count of this request applies: the name of its counter, and the maximum per minute. */
    appliedLimit: { counter: string; perMinute: number } | null
  }
}

/** Kinds of limits, as the metrics name them. */
export const limitKinds = ['key', 'address', 'identifier', 'queries'] as const
export type LimitKind = (typeof limitKinds)[number]

/** Counters of requests. A window of a minute starts with its first request. */
export interface RateLimits extends EventLimits {
  /**
   * Counts a request of a key against the limit of its subscription plan, reads and events separately, and sets the rate
   * limit headers. A plan without API access has a limit of 0.
   * @returns Problem `rate_limited` when the limit is exceeded
   */
  countRequest(request: FastifyRequest, reply: FastifyReply, record: KeyRecord): Promise<Problem | undefined>
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
 * Limits of the counters in memory, by kind. Keys cannot be invented, so their counters are never forgotten. An address
 * costs its client a connection; an identifier costs an event with a valid key.
 */
const countersMax = { key: Number.POSITIVE_INFINITY, address: 200_000, identifier: 1_000_000 }

/** An IPv6 network of this prefix counts as one address: providers assign one per customer. */
const ipv6Prefix = 64

/** Opens the counters of keys, addresses and identifiers, each kind with its own memory limit. */
export async function openRateLimits(app: App, options: RateLimitOptions): Promise<RateLimits> {
  const { onDenied = () => {} } = options
  const counters = openCounters(options)
  await app.register(rateLimit, { global: false, store: storeOf(counters) })
  app.decorateRequest('appliedLimit', null)
  const countNext = app.createRateLimit({
    timeWindow: minuteMs,
    keyGenerator: ({ appliedLimit }) => appliedLimit?.counter ?? '',
    max: ({ appliedLimit }) => appliedLimit?.perMinute ?? 0,
  })

  async function countRejected(
    request: FastifyRequest,
    reply: FastifyReply | undefined,
    { kind, counter, reason }: { kind: LimitKind; counter: string; reason: string },
  ): Promise<Problem | undefined> {
    request.appliedLimit = { counter: `${kind}:${counter}`, perMinute: refusalsPerMinute }
    const state = await countNext(request)
    if (state.isAllowed || !state.isExceeded) return undefined
    const resetS = secondsOf(state.ttl)
    if (reply) setLimitHeaders(reply, state.max, state.remaining, resetS)
    onDenied(kind)
    return tooMany(reason, resetS)
  }

  return {
    async countRequest(request, reply, { keyId, plan }) {
      const isEvent = request.routeOptions.config.scope === 'write:events'
      const perMinute = (isEvent ? plan?.eventsPerMinute : plan?.requestsPerMinute) ?? 0
      request.appliedLimit = { counter: `key:${keyId}:${isEvent ? 'events' : 'requests'}`, perMinute }
      const state = await countNext(request)
      if (state.isAllowed) return undefined
      const resetS = secondsOf(state.ttl)
      setLimitHeaders(reply, state.max, state.remaining, resetS)
      if (!state.isExceeded) return undefined
      onDenied('key')
      return tooMany(
        `Limit of ${state.max} ${isEvent ? 'events' : 'requests'} per minute for this API key reached`,
        resetS,
      )
    },
    async countIdentifier(request, reply, identifier, perMinute) {
      request.appliedLimit = { counter: `identifier:${identifier}`, perMinute }
      const state = await countNext(request)
      if (state.isAllowed) return
      const resetS = secondsOf(state.ttl)
      if (state.isExceeded || state.remaining < Number(reply.getHeader('x-ratelimit-remaining'))) {
        setLimitHeaders(reply, state.max, state.remaining, resetS)
      }
      if (!state.isExceeded) return
      onDenied('identifier')
      throw tooManyOfIdentifier(state.max, resetS)
    },
    async countFurtherEvents({ caller }, reply, events) {
      const { keyId, plan } = caller
      const max = plan.eventsPerMinute
      const { count, endsInMs, isAdded } = await counters.addWithin(`key:${keyId}:events`, events, max)
      const resetS = secondsOf(endsInMs)
      setLimitHeaders(reply, max, Math.max(0, max - count), resetS)
      if (isAdded) return
      onDenied('key')
      throw tooMany(`The batch exceeds the limit of ${max} events per minute for this API key`, resetS)
    },
    countIdentifierEvents(identifier, perMinute, events) {
      const compare = ({ count, endsInMs }: WindowCount) => {
        const allowed = Math.min(events, Math.max(0, perMinute - (count - events)))
        if (allowed < events) onDenied('identifier')
        return { allowed, exceeded: () => tooManyOfIdentifier(perMinute, secondsOf(endsInMs)) }
      }
      const counted = counters.add(`identifier:${identifier}`, events)
      // Counts in memory need no promise.
      return counted instanceof Promise ? counted.then(compare) : compare(counted)
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

/** Counters of a minute: in Redis where configured, else in memory. */
interface Counters {
  /** @throws Problem `unavailable` */
  add(name: string, amount: number): Promise<WindowCount> | WindowCount
  /** Adds an amount, or nothing if the counter would exceed `max`. @throws Problem `unavailable` */
  addWithin(
    name: string,
    amount: number,
    max: number,
  ): Promise<WindowCount & { isAdded: boolean }> | (WindowCount & { isAdded: boolean })
}

function openCounters({ redis, withoutRedis, now }: RateLimitOptions): Counters {
  const memory = new Map(Object.entries(countersMax).map(([kind, max]) => [kind, new FixedWindowCounters(max)]))

  /** The name of a counter starts with its kind. */
  function memoryOf(name: string): FixedWindowCounters {
    const counters = memory.get(name.slice(0, name.indexOf(':')))
    if (!counters) throw new Error(`Counter ${name} has an unknown kind.`)
    return counters
  }

  function settle<Count>(shared: Promise<Count> | undefined, local: () => Count): Promise<Count> | Count {
    if (!shared) return local()
    return shared.catch(() => {
      if (withoutRedis === 'open') return local()
      throw new Problem('unavailable', 'Rate limits are temporarily unavailable; retry.', { retryAfterS: 2 })
    })
  }

  return {
    add: (name, amount) => settle(redis?.add(name, minuteMs, amount), () => memoryOf(name).add(name, now(), amount)),
    addWithin: (name, amount, max) =>
      settle(redis?.addWithin(name, minuteMs, amount, max), () => memoryOf(name).addWithin(name, now(), amount, max)),
  }
}

/** Creates the store of @fastify/rate-limit. */
function storeOf(counters: Counters): FastifyRateLimitStoreCtor {
  return class Store implements FastifyRateLimitStore {
    incr(name: string, done: Callback): void {
      const counted = counters.add(name, 1)
      // Counts in memory need no promise.
      if (counted instanceof Promise) counted.then((count) => succeed(done, count), done)
      else succeed(done, counted)
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

function setLimitHeaders(reply: FastifyReply, limit: number, remaining: number, resetS: number): void {
  reply.header('x-ratelimit-limit', limit)
  reply.header('x-ratelimit-remaining', remaining)
  reply.header('x-ratelimit-reset', resetS)
}

function secondsOf(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000))
}

function tooManyOfIdentifier(perMinute: number, resetS: number): Problem {
  return tooMany(`Limit of ${perMinute} events per minute for a click or visitor reached`, resetS)
}

function tooMany(reason: string, resetS: number): Problem {
  return new Problem('rate_limited', `${reason}; try again in ${resetS} s.`, { retryAfterS: resetS })
}

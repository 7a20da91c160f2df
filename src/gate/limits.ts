import rateLimit, { type CreateRateLimitOptions, normalizeIP } from '@fastify/rate-limit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../problem.ts'
import type { App } from '../room.ts'
import type { KeyRecord } from './keys.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What this request is counted against, and how many of its kind a minute may have. */
    budget: { counter: string; perMinute: number } | null
  }
}

/** What the gate counts. A minute begins with the first request in it. */
export interface Limits {
  /**
   * Counts a request of a key against the budget of its plan, reads and events apart, and tells the budget in the
   * headers. A plan without API has a budget of 0.
   * @returns Problem `rate_limited` when it was one too many
   */
  countRequest(request: FastifyRequest, reply: FastifyReply, record: KeyRecord): Promise<Problem | undefined>
  /** @returns Problem `rate_limited` when the address of this request has sent too many wrong keys */
  checkAddress(request: FastifyRequest): Promise<Problem | undefined>
  /**
   * Counts a wrong key against the address it came from.
   * @returns Problem `rate_limited` when it was one too many
   */
  countWrongKey(request: FastifyRequest): Promise<Problem | undefined>
}

const windowMs = 60_000

/** Far above what a forgotten script makes, far below what would keep Postgres busy. */
const wrongKeysPerMinute = 120

/** Counters are made for keys that exist and for addresses, so an invented key can't push another one's out. */
const countersMax = 100_000

/** An IPv6 network of this size counts as one address: it is what a single customer is given. */
const ipv6Prefix = 64

/** Opens the counters, in this process's memory. */
export async function openLimits(app: App): Promise<Limits> {
  await app.register(rateLimit, { global: false })
  app.decorateRequest('budget', null)
  const keys: CreateRateLimitOptions & { cache: number } = {
    cache: countersMax,
    timeWindow: windowMs,
    keyGenerator: ({ budget }) => budget?.counter ?? '',
    max: ({ budget }) => budget?.perMinute ?? 0,
  }
  const addresses: CreateRateLimitOptions & { cache: number } = {
    cache: countersMax,
    timeWindow: windowMs,
    keyGenerator: ({ ip }) => `address:${normalizeIP(ip, ipv6Prefix)}`,
    max: wrongKeysPerMinute,
  }
  const countKey = app.createRateLimit(keys)
  const countAddress = app.createRateLimit(addresses)

  async function askAddress(request: FastifyRequest, increment: boolean): Promise<Problem | undefined> {
    const state = await countAddress(request, { increment })
    return !state.isAllowed && state.isExceeded
      ? tooMany('Too many wrong API keys came from this address', state.ttlInSeconds)
      : undefined
  }

  return {
    async countRequest(request, reply, { keyId, plan }) {
      const isEvent = request.routeOptions.config.scope === 'write:events'
      const perMinute = (isEvent ? plan?.eventsPerMinute : plan?.requestsPerMinute) ?? 0
      request.budget = { counter: `${isEvent ? 'events' : 'requests'}:${keyId}`, perMinute }
      const state = await countKey(request)
      if (state.isAllowed) return undefined
      reply.header('x-ratelimit-limit', state.max)
      reply.header('x-ratelimit-remaining', state.remaining)
      reply.header('x-ratelimit-reset', state.ttlInSeconds)
      return state.isExceeded
        ? tooMany(`This key may send ${state.max} ${isEvent ? 'events' : 'requests'} a minute`, state.ttlInSeconds)
        : undefined
    },
    checkAddress: (request) => askAddress(request, false),
    countWrongKey: (request) => askAddress(request, true),
  }
}

function tooMany(reason: string, resetS: number): Problem {
  const retryAfterS = Math.max(1, resetS)
  return new Problem('rate_limited', `${reason}; try again in ${retryAfterS} s.`, { retryAfterS })
}

import type { FastifyReply, FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'
import type { KeyRecord } from '../accounts/lookUpKeys.ts'
import { Problem } from '../problem.ts'
import type { Redis } from '../stores/redis.ts'
import { FixedWindowCounters, minuteMs, type WindowCount } from './fixedWindowCounters.ts'

export const limitKinds = ['key', 'address', 'identifier', 'queries'] as const
export type LimitKind = (typeof limitKinds)[number]

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

export type RateLimits = ReturnType<typeof openRateLimits>
export type EventLimits = Pick<RateLimits, 'countFurtherEvents' | 'countIdentifier'>

/**
 * Opens the counters of requests of keys, addresses and identifiers, each kind with its own memory limit. A window of a
 * minute starts with its first request.
 */
export function openRateLimits(options: RateLimitOptions) {
  const { onDenied = () => {} } = options
  const add = openCounters(options)

  async function countRejected(reply: FastifyReply | undefined, kind: CountedKind, name: string, reason: string) {
    const window = await add(kind, name, 1)
    if (window.count <= refusalsPerMinute) return undefined
    if (reply) setLimitHeaders(reply, refusalsPerMinute, window)
    onDenied(kind)
    return tooMany(reason, window)
  }

  return {
    /**
     * Counts a request of a key against the limit of its subscription plan, reads and events separately, and sets the rate
     * limit headers. A plan without API access has a limit of 0.
     * @returns Problem `rate_limited` when the limit is exceeded
     */
    async countRequest(request: FastifyRequest, reply: FastifyReply, { keyId, subscription }: KeyRecord) {
      const isEvent = request.routeOptions.config.scope === 'write:events'
      const perMinute = (isEvent ? subscription?.eventsPerMinute : subscription?.requestsPerMinute) ?? 0
      const kind = isEvent ? 'events' : 'requests'
      const window = await add('key', `${keyId}:${kind}`, 1)
      setLimitHeaders(reply, perMinute, window)
      if (window.count <= perMinute) return undefined
      onDenied('key')
      return tooMany(`Limit of ${perMinute} ${kind} per minute for this API key reached`, window)
    },
    /**
     * Counts the events of a batch beyond the first one, which `countRequest` counted, against the limit of the key: all of
     * them, or none if they exceed it.
     * @throws Problem `rate_limited`
     */
    async countFurtherEvents({ caller }: FastifyRequest, reply: FastifyReply, events: number) {
      const { keyId, subscription } = caller
      const max = subscription.eventsPerMinute
      const window = await add('key', `${keyId}:events`, events, max)
      setLimitHeaders(reply, max, window)
      if (window.isAdded) return
      onDenied('key')
      throw tooMany(`The batch exceeds the limit of ${max} events per minute for this API key`, window)
    },
    /**
     * Counts events of one click or visitor.
     * @param identifier of the account and the click or visitor
     * @param reply of a single event: gets the headers when fewer events remain than for the key
     * @returns how many of them are within the limit, and the error of the others
     * @throws Problem `unavailable`
     */
    async countIdentifier(identifier: string, perMinute: number, events: number, reply?: FastifyReply) {
      const window = await add('identifier', identifier, events)
      const allowed = Math.min(events, Math.max(0, perMinute - (window.count - events)))
      if (allowed < events) onDenied('identifier')
      if (reply && perMinute - window.count < Number(reply.getHeader('x-ratelimit-remaining'))) {
        setLimitHeaders(reply, perMinute, window)
      }
      const exceeded = () => tooMany(`Limit of ${perMinute} events per minute for a click or visitor reached`, window)
      return { allowed, exceeded }
    },
    /**
     * Counts a malformed or unknown key against the client address, each kind separately. Existing keys are not affected.
     * @returns Problem `rate_limited` when the limit is exceeded
     */
    countRefusedKey(request: FastifyRequest, reply: FastifyReply | undefined, reason: 'malformed' | 'unknown') {
      // TRAP: a request has no address after its connection was reset.
      const name = `${reason}:${networkOf((request.ip as string | undefined) ?? '')}`
      return countRejected(reply, 'address', name, `Too many ${reason} API keys from this address`)
    },
    /**
     * Counts a request of a revoked or expired key, separately from the limit of its plan.
     * @returns Problem `rate_limited` when the limit is exceeded
     */
    countEndedKey: (reply: FastifyReply | undefined, { keyId }: KeyRecord) =>
      countRejected(reply, 'key', `${keyId}:ended`, 'Too many requests with this API key, which is revoked or expired'),
  }
}

type CountedKind = Exclude<LimitKind, 'queries'>

/** @returns a function that adds an amount to a counter, or nothing if it would exceed `max`; it throws Problem `unavailable` */
function openCounters({ redis, withoutRedis, now }: RateLimitOptions) {
  const memory: Record<CountedKind, FixedWindowCounters> = {
    // Keys cannot be invented, so their counters are never forgotten.
    key: new FixedWindowCounters(Number.POSITIVE_INFINITY),
    // A new address costs its client a connection.
    address: new FixedWindowCounters(200_000),
    // A new identifier costs an event with a valid key.
    identifier: new FixedWindowCounters(1_000_000),
  }
  return (kind: CountedKind, name: string, amount: number, max?: number): Promise<WindowCount> | WindowCount => {
    const addLocally = () => memory[kind].add(name, now(), amount, max)
    if (!redis) return addLocally()
    return redis.add(`${kind}:${name}`, minuteMs, amount, max).catch(() => {
      if (withoutRedis === 'open') return addLocally()
      throw new Problem('unavailable', 'Rate limits are temporarily unavailable; retry.', { retryAfterS: 2 })
    })
  }
}

/** @returns the counted address of a client; of IPv6 the first 64 bits, which providers assign to one customer */
function networkOf(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip
  const address = ipaddr.process(ip)
  return address instanceof ipaddr.IPv6 ? address.parts.slice(0, 4).join(':') : address.toString()
}

function setLimitHeaders(reply: FastifyReply, limit: number, window: WindowCount): void {
  reply.header('x-ratelimit-limit', limit)
  reply.header('x-ratelimit-remaining', Math.max(0, limit - window.count))
  reply.header('x-ratelimit-reset', resetS(window))
}

function tooMany(reason: string, window: WindowCount): Problem {
  const retryAfterS = resetS(window)
  return new Problem('rate_limited', `${reason}; try again in ${retryAfterS} s.`, { retryAfterS })
}

/** @returns whole seconds until the window ends, at least 1 */
const resetS = ({ endsInMs }: WindowCount): number => Math.max(1, Math.ceil(endsInMs / 1000))

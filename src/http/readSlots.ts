import type { FastifyRequest } from 'fastify'
import { Problem } from '../problem.ts'
import { ConcurrencyLimiter } from './concurrencyLimiter.ts'
import type { App } from './context.ts'
import { releaseAfter } from './disconnection.ts'
import type { RateLimitOptions } from './rateLimit.ts'

/** Makes each read wait for a slot of its account, or of its key, after its validation. */
export function addReadSlots(app: App, perAccountMax: number, onDenied: RateLimitOptions['onDenied']): void {
  const reads = openReadSlots(perAccountMax)
  /** The function that releases the slot of a read. */
  const slots = new WeakMap<FastifyRequest, () => void>()

  app.addHook('preHandler', async (request) => {
    const { scope } = request.routeOptions.config
    if (!scope || scope === 'any' || scope === 'write:events') return
    const release = await reads.acquire(request.caller.slotsOf, request.signal).catch((error: unknown) => {
      if (!request.signal.aborted) onDenied?.('queries')
      throw error
    })
    slots.set(request, release)
  })

  // Not before: the query of a client that has disconnected may still run.
  app.addHook('onSend', (request, reply, payload, done) => {
    const release = slots.get(request)
    if (release) releaseAfter(reply, release)
    done(null, payload)
  })
}

/**
 * Limits the concurrent reads per account, so that no account takes all database connections.
 * @param perAccountMax concurrent reads per account, at least 1
 */
export function openReadSlots(perAccountMax: number): ConcurrencyLimiter {
  const message = `Limit of ${perAccountMax} concurrent reads per account reached; retry when one has finished.`
  const refuse = () => new Problem('rate_limited', message, { retryAfterS: 1 })
  return new ConcurrencyLimiter({ perAccountMax: () => perAccountMax, waitMs: 5_000, refuse })
}

import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify'
import { openKeyCache } from '../accounts/keyCache.ts'
import { lacksScope, Problem } from '../problem.ts'
import { viewOf } from '../query/keyView.ts'
import type { Stores } from '../stores/open.ts'
import type { Postgres } from '../stores/postgres/connection.ts'
import type { Caller } from './caller.ts'
import type { App } from './context.ts'
import { outerRequest } from './innerRequest.ts'
import { openKeyCheck } from './keyCheck.ts'
import { isUnknownPath } from './notFound.ts'
import { type EventLimits, openRateLimits, type RateLimitOptions } from './rateLimit.ts'
import { addReadSlots } from './readSlots.ts'
import { type RawQuery, viewOfCaller } from './validation.ts'

/** Path prefix of the API. Every route below it, except the documentation, declares a scope. */
export const apiPrefix = '/api/v1'
export const docsPrefix = `${apiPrefix}/docs`

export interface AccessControlOptions extends RateLimitOptions {
  postgres: Postgres
  /** Subscribes to changes of keys, where Postgres supports LISTEN. */
  listen?: Stores['listen']
  readsPerAccount: number
}

/**
 * Adds access control to every route that declares a scope. Errors are reported in this order: API key, plan, scope, view, rate limit. A
 * request with a valid key is counted as soon as the key is found, so that its response has the rate limit headers, errors too. An
 * unknown path is counted as well, but is 404 with any key. After validation, a read waits for a slot of its account.
 * @returns the rate limits of events
 * @throws Error at start when a route under /api/v1 declares no scope
 */
export function addAccessControl(app: App, options: AccessControlOptions): EventLimits {
  const keys = openKeyCache(options.postgres, options.now)
  options.listen?.('tributary_keys', (hash) => keys.expire(hash === '*' ? undefined : hash))
  const limits = openRateLimits(options)
  const findKey = openKeyCheck(keys, limits, options.now)
  // TRAP: a decorator's initial value cannot be an object; the hook below sets it before any handler runs.
  app.decorateRequest('caller', null as unknown as Caller)
  app.decorateRequest('tooMany', undefined)

  app.addHook('onRoute', ({ url, config }) => {
    const isApi = url === apiPrefix || url.startsWith(`${apiPrefix}/`)
    const isDocs = url === docsPrefix || url.startsWith(`${docsPrefix}/`)
    if (isApi && !isDocs && !config?.scope) throw new Error(`The route ${url} declares no scope.`)
  })

  app.addHook('onRequest', async (request, reply) => {
    const { config } = request.routeOptions
    if (isUnknownPath(request)) return await countUnknownPath(request, reply)
    if (!config.scope) return
    // The key of an outer request is known and counted.
    const known = outerRequest()?.caller
    const key = known ?? (await findKey(request, reply))
    const tooMany = known ? undefined : await limits.countRequest(request, reply, key)
    const { subscription } = key
    if (!subscription) throw new Problem('plan_required', noApi)
    const view = viewOf(key.view)
    request.caller = { ...key, subscription, view, slotsOf: view ? key.keyId : key.accountId }
    const refusal = refusalOf(request.caller, config) ?? (config.answersLimit ? undefined : tooMany)
    if (refusal) throw refusal
    if (view) (request.query as RawQuery)[viewOfCaller] = view
    request.tooMany = tooMany
    if (!known) keys.recordUse(key)
  })

  addReadSlots(app, options.readsPerAccount, options.onDenied)

  // With an `ETag` clients may cache a response and must revalidate it before each use; without one it must not be cached.
  app.addHook('onSend', (request, reply, payload, done) => {
    if (request.routeOptions.config.scope || isUnknownPath(request) || reply.statusCode === 404) {
      reply.header('cache-control', reply.hasHeader('etag') ? 'private, no-cache' : 'private, no-store')
    }
    done(null, payload)
  })

  /** The response is 404 in any case. A key that is not valid counts as on a known path, against its address. */
  async function countUnknownPath(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (request.headers.authorization === undefined) return
    try {
      await limits.countRequest(request, reply, await findKey(request))
    } catch (error) {
      if (!(error instanceof Problem)) throw error
    }
  }
  return limits
}

const noApi = 'The subscription plan of this account has no API access; ask the operator for another plan.'

/** Decides whether a key may call a route. @returns why it may not */
export function refusalOf({ scopes, view }: Caller, { scope = 'any', servesView }: FastifyContextConfig) {
  if (scope !== 'any' && !scopes.has(scope)) return lacksScope(scope)
  if (!view || servesView?.(view)) return undefined
  return new Problem('restricted_key', 'This key sees a part of the account, which this endpoint cannot be limited to.')
}

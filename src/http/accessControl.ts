import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Scope } from '../../schema/scopes.ts'
import { openKeyCache } from '../accounts/keyCache.ts'
import { hashOfKey, isKeyText } from '../accounts/keyFormat.ts'
import type { KeyRecord } from '../accounts/lookUpKeys.ts'
import { Problem } from '../problem.ts'
import type { Stores } from '../stores/open.ts'
import type { Postgres } from '../stores/postgres/connection.ts'
import type { Caller } from './caller.ts'
import { ConcurrencyLimiter } from './concurrencyLimiter.ts'
import type { App } from './context.ts'
import { releaseAfter } from './disconnection.ts'
import { isUnknownPath } from './notFound.ts'
import { type EventLimits, openRateLimits, type RateLimitOptions } from './rateLimit.ts'

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
 * Adds access control to every route that declares a scope. Errors are reported in this order: API key, plan, scope, rate limit. The
 * request is counted as soon as its key is known, so that every response to a key has the rate limit headers, errors too. An
 * unknown path is counted as well, but is 404 with any key. After validation, a read waits for a slot of its account.
 * @returns the rate limits of events
 * @throws Error at start when a route under /api/v1 declares no scope
 */
export function addAccessControl(app: App, options: AccessControlOptions): EventLimits {
  const { postgres, now, onDenied } = options
  const keys = openKeyCache(postgres, now)
  options.listen?.('tributary_keys', (hash) => keys.expire(hash === '*' ? undefined : hash))
  const limits = openRateLimits(options)
  const reads = openReadSlots(options.readsPerAccount)
  /** The function that releases the slot of a read. */
  const slots = new WeakMap<FastifyRequest, () => void>()
  // TRAP: a decorator's initial value cannot be an object; `authorize` sets it before any handler runs.
  app.decorateRequest('caller', null as unknown as Caller)

  app.addHook('onRoute', ({ url, config }) => {
    const isApi = url === apiPrefix || url.startsWith(`${apiPrefix}/`)
    const isDocs = url === docsPrefix || url.startsWith(`${docsPrefix}/`)
    if (isApi && !isDocs && !config?.scope) throw new Error(`The route ${url} declares no scope.`)
  })

  app.addHook('onRequest', async (request, reply) => {
    const { scope } = request.routeOptions.config
    if (isUnknownPath(request)) await countUnknownPath(request, reply)
    else if (scope) await authorize(request, reply, scope)
  })

  app.addHook('preHandler', async (request) => {
    const { scope } = request.routeOptions.config
    if (!scope || scope === 'any' || scope === 'write:events') return
    const release = await reads.acquire(request.caller.accountId, request.signal).catch((error: unknown) => {
      if (!request.signal.aborted) onDenied?.('queries')
      throw error
    })
    slots.set(request, release)
  })

  // With an `ETag` clients may cache a response and must revalidate it before each use; without one it must not be cached.
  app.addHook('onSend', (request, reply, payload, done) => {
    // Not before: the query of a client that has disconnected may still run.
    const release = slots.get(request)
    if (release) releaseAfter(reply, release)
    if (request.routeOptions.config.scope || isUnknownPath(request)) {
      reply.header('cache-control', reply.hasHeader('etag') ? 'private, no-cache' : 'private, no-store')
    }
    done(null, payload)
  })

  async function authorize(request: FastifyRequest, reply: FastifyReply, scope: Scope | 'any'): Promise<void> {
    const record = await identify(request, reply)
    const tooMany = await limits.countRequest(request, reply, record)
    const { subscription } = record
    if (!subscription)
      throw new Problem(
        'plan_required',
        'The subscription plan of this account has no API access; ask the operator for another plan.',
      )
    if (scope !== 'any' && !record.scopes.has(scope)) {
      throw new Problem('insufficient_scope', `This API key lacks the scope ${scope}.`, { required: scope })
    }
    if (tooMany) throw tooMany
    request.caller = { ...record, subscription }
    keys.recordUse(record)
  }

  /** The response is 404 in any case; a request without a valid key is not counted. */
  async function countUnknownPath(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (request.headers.authorization === undefined) return
    try {
      await limits.countRequest(request, reply, await identify(request))
    } catch (error) {
      if (!(error instanceof Problem)) throw error
    }
  }

  /**
   * Finds the API key of a request. A well-formed key is looked up even when its address has exceeded its limit.
   * @throws Problem `invalid_authorization`, 401, `rate_limited` after too many invalid keys
   */
  async function identify(request: FastifyRequest, reply?: FastifyReply): Promise<KeyRecord> {
    const { headers, raw } = request
    const { authorization = '' } = headers
    // TRAP: Node keeps the first of several headers; a proxy in front of this server may use another.
    const isAuthorization = (text: string, index: number) => index % 2 === 0 && text.toLowerCase() === 'authorization'
    if (raw.rawHeaders.filter(isAuthorization).length > 1) {
      throw new Problem('invalid_authorization', 'The Authorization header was sent more than once; send one API key.')
    }
    const text = keyIn(authorization)
    if (text === '') throw new Problem('missing_api_key', 'No API key; send the header Authorization: ApiKey <key>.')
    const isWellFormed = text !== undefined && isKeyText(text)
    const record = isWellFormed ? await keys.find(hashOfKey(text)) : undefined
    if (!record) {
      const tooMany = await limits.countRefusedKey(request, reply, isWellFormed ? 'unknown' : 'malformed')
      throw tooMany ?? invalidKey(authorization)
    }
    const ended = endedKey(record)
    if (ended) throw (await limits.countEndedKey(reply, record)) ?? ended
    return record
  }

  function endedKey({ isRevoked, expiresAtMs }: KeyRecord): Problem | undefined {
    if (isRevoked) return new Problem('revoked_api_key', 'This API key was revoked.')
    if (expiresAtMs === null || expiresAtMs > now()) return undefined
    return new Problem('expired_api_key', 'This API key has expired.')
  }
  return limits
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

/**
 * Finds the key in a value of the header `Authorization`: alone, after a scheme, or as the password of Basic, for tools that
 * know nothing else. Basic is never offered to a client: a browser would ask its user for a password.
 * @returns an empty text if there is no key: a program sends only the scheme when its variable for the key is empty
 */
function keyIn(authorization: string): string | undefined {
  if (authorization.length > authorizationMax) return undefined
  const words = authorization.split(' ').filter((word) => word !== '')
  const scheme = /^(ApiKey|Bearer|Basic)$/i.test(words[0] ?? '') ? words.shift()?.toLowerCase() : undefined
  if (words.length > 1) return undefined
  const [text = ''] = words
  if (!text || scheme !== 'basic') return text
  return /^[^:]*:(.*)$/s.exec(Buffer.from(text, 'base64').toString())?.[1]
}

/** Characters of `Authorization` that are read: a key as the password of Basic, after a long user name. */
const authorizationMax = 512

function invalidKey(authorization: string): Problem {
  if (authorization.length > authorizationMax) {
    const message = `The Authorization header is longer than ${authorizationMax} characters; send Authorization: ApiKey <key>.`
    return new Problem('invalid_api_key', message)
  }
  const advice = /^Basic /i.test(authorization)
    ? 'send it as the password of Basic, with any user name'
    : 'send the header Authorization: ApiKey <key>'
  return new Problem('invalid_api_key', `The API key is not valid; ${advice}.`)
}

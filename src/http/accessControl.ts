import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Scope } from '../../schema/scopes.ts'
import { openKeyCache } from '../accounts/keyCache.ts'
import { hashOfKey, isKeyText } from '../accounts/keyFormat.ts'
import type { KeyRecord } from '../accounts/keyLookups.ts'
import { Problem } from '../problem.ts'
import type { Stores } from '../stores/open.ts'
import type { Postgres } from '../stores/postgres/connection.ts'
import { addCacheControl } from './cacheControl.ts'
import type { Caller } from './caller.ts'
import { ConcurrencyLimiter } from './concurrencyLimit.ts'
import type { App } from './context.ts'
import { releaseAfter } from './disconnection.ts'
import { isUnknownPath } from './notFound.ts'
import { openRateLimits, type RateLimitOptions, type RateLimits } from './rateLimit.ts'

/** Where the API lives; every route below it declares a scope, but for its documentation. */
export const apiPrefix = '/api/v1'
export const docsPrefix = `${apiPrefix}/docs`

/** What the gate decides by. */
export interface AccessControlOptions extends RateLimitOptions {
  postgres: Postgres
  /** Tells of changed keys at once, where Postgres can. */
  listen?: Stores['listen']
  /** Reads of one account at a time. */
  readsPerAccount: number
}

/**
 * Puts the gate before every route that declares a scope: key, scope, rate limit, in this order. The request is
 * counted before its scope is judged, so that every answer to a key tells its budget, refusals too.
 * An unknown path tells a valid key its budget as well, but is 404 whatever the key. Once its parameters are found
 * right, a read waits for its account's turn.
 * @returns what rooms count by
 * @throws Error at start when a route under /api/v1 declares no scope
 */
export async function addAccessControl(
  app: App,
  options: AccessControlOptions,
): Promise<Pick<RateLimits, 'countIdentifier'>> {
  const { postgres, now, onDenied } = options
  const keys = openKeyCache(postgres, now)
  options.listen?.('tributary_keys', (hash) => keys.expire(hash === '*' ? undefined : hash))
  const limits = await openRateLimits(app, options)
  const turns = new ConcurrencyLimiter(options.readsPerAccount)
  addCacheControl(app)
  // TRAP: a decorator can't start as an object; `admit` fills it in before any handler sees the request.
  app.decorateRequest('caller', null as unknown as Caller)

  app.addHook('onRoute', ({ url, config }) => {
    const isApi = url === apiPrefix || url.startsWith(`${apiPrefix}/`)
    const isDocs = url === docsPrefix || url.startsWith(`${docsPrefix}/`)
    if (isApi && !isDocs && !config?.scope) throw new Error(`The route ${url} declares no scope.`)
  })

  app.addHook('onRequest', async (request, reply) => {
    const { scope } = request.routeOptions.config
    if (isUnknownPath(request)) await greet(request, reply)
    else if (scope) await admit(request, reply, scope)
  })

  app.addHook('preHandler', async (request, reply) => {
    const { scope } = request.routeOptions.config
    if (!scope || scope === 'write:events') return
    const { accountId } = request.caller
    try {
      await turns.acquire(accountId, request.signal)
    } catch (error) {
      if (!request.signal.aborted) onDenied?.('queries')
      throw error
    }
    releaseAfter(reply, () => turns.release(accountId))
  })

  async function admit(request: FastifyRequest, reply: FastifyReply, scope: Scope): Promise<void> {
    const record = await identify(request, reply)
    const tooMany = await limits.countRequest(request, reply, record)
    const { plan } = record
    if (!plan) throw new Problem('plan_required', 'The plan of this account has no API access.')
    if (!record.scopes.has(scope)) {
      throw new Problem('insufficient_scope', `This key lacks the scope ${scope}.`, { required: scope })
    }
    if (tooMany) throw tooMany
    const { accountId, accountName, currency, keyId, scopes } = record
    request.caller = { accountId, accountName, currency, keyId, scopes, plan }
    keys.recordUse(record)
  }

  /** Nobody is refused here, so a key that can't be identified is nobody's. */
  async function greet(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (request.headers.authorization === undefined) return
    try {
      await limits.countRequest(request, reply, await identify(request))
    } catch (error) {
      if (!(error instanceof Problem)) throw error
    }
  }

  /**
   * Finds the key of a request. A well-formed key is looked up whatever else came from its address.
   * @throws Problem `invalid_authorization`, 401, `rate_limited` when too many such refusals came before, `unavailable`
   */
  async function identify(request: FastifyRequest, reply?: FastifyReply): Promise<KeyRecord> {
    const { headers, raw } = request
    // TRAP: of several headers Node keeps the first one, and what stands before this server may judge by another.
    if (countHeader(raw.rawHeaders, 'authorization') > 1) {
      throw new Problem('invalid_authorization', 'The header Authorization was sent more than once; send one key.')
    }
    if (!headers.authorization) {
      throw new Problem('missing_api_key', 'Send your API key in the header Authorization: ApiKey <key>.')
    }
    const text = /^ApiKey +(\S+) *$/i.exec(headers.authorization)?.[1]
    if (!text || !isKeyText(text)) throw (await limits.countRefusedKey(request, reply, 'malformed')) ?? invalidKey()
    const record = await keys.find(hashOfKey(text))
    if (!record) throw (await limits.countRefusedKey(request, reply, 'unknown')) ?? invalidKey()
    const ended = endOf(record)
    if (ended) throw (await limits.countEndedKey(request, reply, record)) ?? ended
    return record
  }

  function endOf({ isRevoked, expiresAtMs }: KeyRecord): Problem | undefined {
    if (isRevoked) return new Problem('revoked_api_key', 'This API key was revoked.')
    if (expiresAtMs === null || expiresAtMs > now()) return undefined
    return new Problem('expired_api_key', 'This API key has expired.')
  }
  return limits
}

function invalidKey(): Problem {
  return new Problem('invalid_api_key', 'This is no valid API key; send it as Authorization: ApiKey <key>.')
}

/** @param rawHeaders names and values in turns, as they came */
function countHeader(rawHeaders: readonly string[], name: string): number {
  return rawHeaders.filter((header, index) => index % 2 === 0 && header.toLowerCase() === name).length
}

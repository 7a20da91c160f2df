import type { FastifyReply, FastifyRequest } from 'fastify'
import type { KeyCache } from '../accounts/keyCache.ts'
import { hashOfKey, isKeyText } from '../accounts/keyFormat.ts'
import type { KeyRecord } from '../accounts/lookUpKeys.ts'
import { Problem } from '../problem.ts'
import type { RateLimits } from './rateLimit.ts'
import { headerCount } from './requestForm.ts'

/**
 * Opens the check of API keys, which finds the key of a request. A well-formed key is looked up even when its address has exceeded
 * its limit. It throws Problem `invalid_authorization`, 401, or `rate_limited` after too many invalid keys.
 */
export function openKeyCheck(keys: KeyCache, limits: RateLimits, now: () => number) {
  return async (request: FastifyRequest, reply?: FastifyReply): Promise<KeyRecord> => {
    const { authorization = '' } = request.headers
    // TRAP: Node keeps the first of several headers; a proxy in front of this server may use another.
    if (headerCount(request.raw, 'authorization') > 1) {
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
    const ended = endedKey(record, now())
    if (ended) throw (await limits.countEndedKey(reply, record)) ?? ended
    return record
  }
}

function endedKey({ isRevoked, expiresAtMs }: KeyRecord, nowMs: number): Problem | undefined {
  if (isRevoked) return new Problem('revoked_api_key', 'This API key was revoked.')
  if (expiresAtMs === null || expiresAtMs > nowMs) return undefined
  return new Problem('expired_api_key', 'This API key has expired.')
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

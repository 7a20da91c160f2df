import { LRUCache } from 'lru-cache'
import { Problem } from '../problem.ts'
import { atMost } from '../stores/entryLimit.ts'
import { isPostgresUnreachable, type Postgres } from '../stores/postgres/connection.ts'
import { openKeyUses } from './keyUses.ts'
import { type KeyRecord, type LookUpKey, openKeyLookUps, tooLate } from './lookUpKeys.ts'

export type KeyCache = ReturnType<typeof openKeyCache>

/** From `refreshMs` on, a record is refreshed in the background; from `ttlMs` on, before it is returned. */
const refreshMs = 2_000
const ttlMs = 4_500
/** Maximum age of a record while Postgres is unavailable. */
const ttlWithoutPostgresMs = 60_000
/** After a failed look-up Postgres counts as unavailable for this time, with one attempt per `retryMs`. */
const unavailableMs = 3_000
const retryMs = 500
/** Timeouts of a look-up: of a cached key, and of any other. */
const lookUpTimeoutMs = 2_000
const firstLookUpTimeoutMs = 5_000
const unknownTtlMs = 2_000

const knownMax = 20_000
const unknownMax = 20_000

interface Entry {
  record: KeyRecord
  /** Start of the look-up, so that no later change is missed. */
  readAtMs: number
}

/**
 * Opens the cache of keys. Unknown hashes have a cache of their own, so that invented keys cannot evict existing keys. What
 * `find` does depends on the age of the record:
 *
 * | age           | Postgres is available                            | Postgres is unavailable                      |
 * | ------------- | ------------------------------------------------ | -------------------------------------------- |
 * | below 2 s     | returns it                                       | returns it                                   |
 * | 2 to 4.5 s    | returns it, reads it again in the background     | returns it, tries twice a second             |
 * | 4.5 to 60 s   | reads it first; returns it if that fails         | returns it, tries twice a second             |
 * | above, none   | reads it first                                   | throws `unavailable`, tries twice a second   |
 * | unknown key   | returns null for 2 s, then reads it              | the same, then throws `unavailable`          |
 *
 * @param now the current time, epoch milliseconds
 */
export function openKeyCache(postgres: Postgres, now: () => number) {
  const known = new LRUCache<string, Entry>(atMost(knownMax))
  /** When each unknown hash was read. */
  const unknown = new LRUCache<string, number>(atMost(unknownMax))
  const inFlight = new Map<string, Promise<KeyRecord | null>>()
  const recordUseOf = openKeyUses(postgres, now)
  // Separate queues, so that look-ups of unknown keys never delay a key in use.
  const lookUpNew = openKeyLookUps(postgres, firstLookUpTimeoutMs)
  const lookUpKnown = openKeyLookUps(postgres, lookUpTimeoutMs)
  let failedAtMs = Number.NEGATIVE_INFINITY
  let triedAtMs = Number.NEGATIVE_INFINITY

  /** Infinite when the clock was set back. */
  function ageOf(readAtMs: number): number {
    const age = now() - readAtMs
    return age >= 0 ? age : Number.POSITIVE_INFINITY
  }

  /**
   * Finds a key by its hash, SHA-256 in hexadecimal. Concurrent look-ups of one key share one query.
   * @returns a record of the age in the table above; null when the key does not exist
   * @throws Problem `unavailable` when Postgres is unavailable and the key was not read in the last 60 seconds
   */
  async function find(hash: string): Promise<KeyRecord | null> {
    const entry = known.get(hash)
    const isUnavailable = ageOf(failedAtMs) < unavailableMs
    const mayTry = !isUnavailable || ageOf(triedAtMs) >= retryMs
    if (!entry) {
      if (ageOf(unknown.get(hash) ?? Number.NEGATIVE_INFINITY) < unknownTtlMs) return null
      if (!mayTry) throw keysUnavailable()
      return lookUp(hash, lookUpNew)
    }
    const age = ageOf(entry.readAtMs)
    if (age < refreshMs) return entry.record
    if (age < ttlMs || (isUnavailable && age < ttlWithoutPostgresMs)) {
      // An error is reported to the next request that waits for a look-up.
      if (mayTry) lookUp(hash, lookUpKnown).catch(() => {})
      return entry.record
    }
    if (age >= ttlWithoutPostgresMs && !mayTry) throw keysUnavailable()
    try {
      return await lookUp(hash, lookUpKnown)
    } catch (error) {
      if (age < ttlWithoutPostgresMs && error instanceof Problem) return entry.record
      throw error
    }
  }

  function lookUp(hash: string, lookUpKey: LookUpKey): Promise<KeyRecord | null> {
    const running = inFlight.get(hash)
    if (running) return running
    const started = readKey(hash, lookUpKey).finally(() => inFlight.delete(hash))
    inFlight.set(hash, started)
    return started
  }

  async function readKey(hash: string, lookUpKey: LookUpKey): Promise<KeyRecord | null> {
    const readAtMs = now()
    triedAtMs = readAtMs
    let record: KeyRecord | null
    try {
      record = await lookUpKey(hash)
    } catch (error) {
      if (error !== tooLate && !isPostgresUnreachable(error)) throw error
      failedAtMs = now()
      throw keysUnavailable()
    }
    failedAtMs = Number.NEGATIVE_INFINITY
    if (record) {
      known.set(hash, { record, readAtMs })
      unknown.delete(hash)
    } else {
      known.delete(hash)
      unknown.set(hash, readAtMs)
    }
    return record
  }

  /** Expires a changed key, so that its next use reads it again; all keys when `hash` is undefined. */
  function expire(hash: string | undefined): void {
    const entries = hash === undefined ? known.values() : [known.peek(hash)]
    // While Postgres is unavailable, an expired record is used as long as any other.
    for (const entry of entries) if (entry) entry.readAtMs = Math.min(entry.readAtMs, now() - ttlMs)
  }

  /** Records the use of a key in the background: at most one write per minute and key, several keys in one statement. */
  const recordUse = ({ keyId }: KeyRecord) => recordUseOf(keyId)
  return { find, expire, recordUse }
}

function keysUnavailable(): Problem {
  return new Problem('unavailable', 'API keys cannot be checked at the moment; retry.', { retryAfterS: 2 })
}

import { LRUCache } from 'lru-cache'
import { Problem } from '../problem.ts'
import { atMost } from '../stores/entryLimit.ts'
import { isPostgresUnreachable, type Postgres } from '../stores/postgres/connection.ts'
import { RefreshingCache } from '../stores/refreshingCache.ts'
import { openKeyUses } from './keyUses.ts'
import { type KeyRecord, openKeyLookUps, tooLate } from './lookUpKeys.ts'

export type KeyCache = ReturnType<typeof openKeyCache>

/** Ages of records: below 2 s, up to 4.5 s, and up to 60 s while Postgres is unavailable. */
const ages = { freshMs: 2_000, staleWhileRevalidateMs: 2_500, staleIfErrorMs: 58_000 }
const unknownTtlMs = 2_000
/** After a failed look-up Postgres counts as unavailable for this time, with one attempt per `retryMs`. */
const unavailableMs = 3_000
const retryMs = 500
/** Timeouts of a look-up: of a cached key, and of any other. */
const lookUpTimeoutMs = 2_000
const firstLookUpTimeoutMs = 5_000

const knownMax = 20_000
const unknownMax = 20_000
/** More than the look-ups of unknown keys that wait and run at a time. */
const lookUpsMax = 6_000

/**
 * Opens the cache of keys: `find` finds a key by its hash, SHA-256 in hexadecimal. What it does depends on the age of the record:
 *
 * | age           | Postgres is available                            | Postgres is unavailable                      |
 * | ------------- | ------------------------------------------------ | -------------------------------------------- |
 * | below 2 s     | returns it                                       | returns it                                   |
 * | 2 to 4.5 s    | returns it, reads it again in the background     | returns it, tries twice a second             |
 * | 4.5 to 60 s   | reads it first; returns it if that fails         | returns it, tries twice a second             |
 * | above, none   | reads it first                                   | throws `unavailable`, tries twice a second   |
 * | unknown key   | returns undefined for 2 s, then reads it         | the same, then throws `unavailable`          |
 *
 * @param now the current time, epoch milliseconds
 */
export function openKeyCache(postgres: Postgres, now: () => number) {
  const recordUseOf = openKeyUses(postgres, now)
  /** When each unknown hash was read. */
  const unknown = new LRUCache<string, number>(atMost(unknownMax))
  // Separate queues, so that look-ups of unknown keys never delay a key in use.
  const lookUpNew = openKeyLookUps(postgres, firstLookUpTimeoutMs)
  const lookUpKnown = openKeyLookUps(postgres, lookUpTimeoutMs)
  let failedAtMs = Number.NEGATIVE_INFINITY
  let triedAtMs = Number.NEGATIVE_INFINITY
  /** False when the clock was set back. */
  const isWithin = (ms: number, sinceMs: number) => sinceMs <= now() && now() < sinceMs + ms
  const isFailing = () => isWithin(unavailableMs, failedAtMs)

  const keys = new RefreshingCache<string, KeyRecord>({
    ...ages,
    // A key that is being looked up takes an entry too: invented keys never evict one of the `knownMax` keys that were used last.
    max: knownMax + lookUpsMax,
    retryMs,
    isFailing,
    now,
    keyOf: (hash) => hash,
    async read(hash, known) {
      const readAtMs = now()
      if (isWithin(unknownTtlMs, unknown.get(hash) ?? Number.NEGATIVE_INFINITY)) return undefined
      if (isFailing() && isWithin(retryMs, triedAtMs)) throw keysUnavailable()
      triedAtMs = readAtMs
      let record: KeyRecord | null
      try {
        record = await (known ? lookUpKnown : lookUpNew)(hash)
      } catch (error) {
        if (error !== tooLate && !isPostgresUnreachable(error)) throw error
        failedAtMs = now()
        throw keysUnavailable()
      }
      failedAtMs = Number.NEGATIVE_INFINITY
      if (record) unknown.delete(hash)
      else unknown.set(hash, readAtMs)
      return record ?? undefined
    },
  })
  return {
    find: (hash: string) => keys.find(hash),
    /** Expires a changed key, so that its next use reads it again; all keys when `hash` is undefined. */
    expire: (hash: string | undefined) => keys.expire(hash),
    /** Records the use of a key in the background: at most one write per minute and key, several keys in one statement. */
    recordUse: ({ keyId }: KeyRecord) => recordUseOf(keyId),
  }
}

function keysUnavailable(): Problem {
  return new Problem('unavailable', 'API keys cannot be checked at the moment; retry.', { retryAfterS: 2 })
}

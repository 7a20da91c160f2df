import { LRUCache } from 'lru-cache'
import { Problem } from '../problem.ts'
import { isPostgresUnreachable, type Postgres } from '../stores/postgres/connection.ts'
import { type KeyRecord, type LookUpKey, openKeyLookUps, tooLate, within } from './keyLookups.ts'

/** The keys of every account, for the most part from memory. */
export interface KeyCache {
  /**
   * Finds a key by its hash. What is returned is at most 5 seconds old while Postgres answers, at most 60 while it does
   * not; look-ups of one key that run at the same time share one query.
   * @param hash SHA-256 in hexadecimal
   * @returns null when there is no such key
   * @throws Problem `unavailable` when Postgres does not answer and the key was not seen in the last 60 seconds
   */
  find(hash: string): Promise<KeyRecord | null>
  /** Reads a key again before it is used next, since something about it has changed; every key when none is named. */
  expire(hash: string | undefined): void
  /** Notes that a key let a request in. At most one write a minute and key, and nobody waits for it. */
  recordUse(record: KeyRecord): void
}

/** From this age on, a record is read again beside the answer; from `lifeMs` on, before it. */
const refreshMs = 2_000
const ttlMs = 4_500
/** How long a record is good for when Postgres does not answer. */
const ttlWithoutPostgresMs = 60_000
/** After a failed look-up Postgres counts as away for this long, and is tried once in `retryMs` meanwhile. */
const unavailableMs = 3_000
const retryMs = 500
/** A look-up that takes longer has failed: of a key at hand, and of a new one. */
const deadlineMs = 2_000
const firstLookupDeadlineMs = 5_000
const unknownTtlMs = 2_000
const useMs = 60_000

const knownMax = 20_000
const unknownMax = 20_000

interface Entry {
  record: KeyRecord
  /** When it was asked for, so that no change after that moment can be missed. */
  readAtMs: number
}

/**
 * Opens the cache of keys. Hashes that are no key's are kept apart from those that are, so that inventing keys can't
 * push real ones out.
 * @param now the present moment in epoch milliseconds
 */
export function openKeyCache(postgres: Postgres, now: () => number): KeyCache {
  const known = new LRUCache<string, Entry>({ max: knownMax })
  const unknown = new LRUCache<string, { readAtMs: number }>({ max: unknownMax })
  const underWay = new Map<string, Promise<KeyRecord | null>>()
  const usedAtMs = new LRUCache<string, number>({ max: knownMax })
  // Apart, so that keys that do not exist, however many are tried, never delay a key in use.
  const lookUpNew = openKeyLookUps(postgres, firstLookupDeadlineMs)
  const lookUpKnown = openKeyLookUps(postgres, deadlineMs)
  let failedAtMs = Number.NEGATIVE_INFINITY
  let triedAtMs = Number.NEGATIVE_INFINITY

  /** How old something is; a clock that was set back makes it infinitely old. */
  function ageOf(readAtMs: number): number {
    const age = now() - readAtMs
    return age >= 0 ? age : Number.POSITIVE_INFINITY
  }

  async function find(hash: string): Promise<KeyRecord | null> {
    const entry = known.get(hash)
    const isAway = ageOf(failedAtMs) < unavailableMs
    const mayTry = !isAway || ageOf(triedAtMs) >= retryMs
    if (!entry) {
      const refused = unknown.get(hash)
      if (refused && ageOf(refused.readAtMs) < unknownTtlMs) return null
      if (!mayTry) throw unavailable()
      return lookUp(hash, lookUpNew, firstLookupDeadlineMs)
    }
    const age = ageOf(entry.readAtMs)
    if (age < refreshMs) return entry.record
    if (age < ttlMs || (isAway && age < ttlWithoutPostgresMs)) {
      // A failure shows at the next request that has to wait.
      if (mayTry) lookUp(hash, lookUpKnown, deadlineMs).catch(() => {})
      return entry.record
    }
    if (age >= ttlWithoutPostgresMs && !mayTry) throw unavailable()
    try {
      return await lookUp(hash, lookUpKnown, deadlineMs)
    } catch (error) {
      if (age < ttlWithoutPostgresMs && error instanceof Problem) return entry.record
      throw error
    }
  }

  function lookUp(hash: string, lookUpKey: LookUpKey, withinMs: number): Promise<KeyRecord | null> {
    const running = underWay.get(hash)
    if (running) return running
    const started = ask(hash, lookUpKey, withinMs).finally(() => underWay.delete(hash))
    underWay.set(hash, started)
    return started
  }

  async function ask(hash: string, lookUpKey: LookUpKey, withinMs: number): Promise<KeyRecord | null> {
    const readAtMs = now()
    triedAtMs = readAtMs
    let record: KeyRecord | null
    try {
      record = await within(withinMs, lookUpKey(hash))
    } catch (error) {
      if (error !== tooLate && !isPostgresUnreachable(error)) throw error
      failedAtMs = now()
      throw unavailable()
    }
    failedAtMs = Number.NEGATIVE_INFINITY
    if (record) {
      known.set(hash, { record, readAtMs })
      unknown.delete(hash)
    } else {
      known.delete(hash)
      unknown.set(hash, { readAtMs })
    }
    return record
  }

  function noteUse({ keyId }: KeyRecord): void {
    const before = usedAtMs.get(keyId)
    if (before !== undefined && ageOf(before) < useMs) return
    const usedAt = now()
    usedAtMs.set(keyId, usedAt)
    const minute = new Date(usedAt - (usedAt % 60_000))
    // It tells people which keys are still needed; a minute that is missing harms nobody.
    postgres`
      UPDATE api_keys
      SET last_used_at = ${minute}
      WHERE id = ${keyId} AND (last_used_at IS NULL OR last_used_at < ${minute})`.catch(() => {})
  }

  function distrust(hash: string | undefined): void {
    const entries = hash === undefined ? known.values() : [known.peek(hash)]
    // While Postgres is away it is good for as long as any other.
    for (const entry of entries) if (entry) entry.readAtMs = Math.min(entry.readAtMs, now() - ttlMs)
  }

  return { find, expire: distrust, recordUse: noteUse }
}

function unavailable(): Problem {
  return new Problem('unavailable', 'Keys cannot be checked at the moment; try again.', { retryAfterS: 2 })
}

import { LRUCache } from 'lru-cache'
import { atMost } from '../stores/entryLimit.ts'
import type { Postgres } from '../stores/postgres/connection.ts'

/** Minimum time between two writes of the last use of a key. */
const useMs = 60_000
const knownMax = 20_000

/**
 * Records the last use of keys in the background, at most once a minute per key. One statement at a time writes all keys since
 * the previous one, so their number does not grow with requests. A failed write is lost.
 * @param now the current time, epoch milliseconds
 */
export function openKeyUses(postgres: Postgres, now: () => number): (keyId: string) => void {
  const usedAtMs = new LRUCache<string, number>(atMost(knownMax))
  /** Start of the minute of the last use, ISO 8601, by key. */
  const pending = new Map<string, string>()
  let isWriting = false

  async function write(): Promise<void> {
    isWriting = true
    while (pending.size > 0) {
      const [ids, minutes] = [[...pending.keys()], [...pending.values()]]
      pending.clear()
      await postgres`
        UPDATE api_keys
        SET last_used_at = used.minute
        FROM unnest(${ids}::text[], ${minutes}::timestamptz[]) AS used (id, minute)
        WHERE api_keys.id = used.id AND (last_used_at IS NULL OR last_used_at < used.minute)`.catch(() => {})
    }
    isWriting = false
  }

  return (keyId) => {
    const nowMs = now()
    const ageMs = nowMs - (usedAtMs.get(keyId) ?? Number.NEGATIVE_INFINITY)
    // Below 0 the clock was set back.
    if (ageMs >= 0 && ageMs < useMs) return
    usedAtMs.set(keyId, nowMs)
    pending.set(keyId, new Date(nowMs - (nowMs % useMs)).toISOString())
    if (!isWriting) void write()
  }
}

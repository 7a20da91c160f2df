import { LRUCache } from 'lru-cache'
import { duplicateWindowMs } from '../../../schema/event.ts'
import { type QueryTarget, selectRows } from '../../stores/clickhouse/select.ts'
import { acceptancesSql, type OwnedId } from './sql.ts'

/** Outcome of a valid event that belongs to the caller. */
export type Outcome = 'stored' | 'duplicate' | 'over_ceiling'

/** Outcomes of events in flight, by account and id. */
export type InFlight = Map<string, Promise<Outcome>>

/** The last time that an event id was accepted as a new event. */
export interface Acceptance {
  /** 0 at first; 1 more each time the id was sent again after its window. */
  generation: number
  /** Epoch milliseconds; the earliest of concurrent calls. */
  receivedAtMs: number
}

/**
 * ClickHouse searches the ids of one statement on one core. For a thousand ids two concurrent statements are faster; for a
 * few hundred they are not worth the 5 ms that each statement costs.
 */
const idsPerStatement = 640

/** Cached ids; older ones and those of other instances are looked up in ClickHouse. */
const recentMax = 100_000

/** Detects duplicates by event id: among events in flight in this process, recent ones, and stored ones. */
export class Duplicates {
  readonly #clickhouse: QueryTarget
  readonly #inFlight: InFlight = new Map()
  readonly #recentAtMs = new LRUCache<string, number>({ max: recentMax })

  constructor(clickhouse: QueryTarget) {
    this.#clickhouse = clickhouse
  }

  /**
   * Processes the first of concurrent calls with one id. The others wait for it: they are duplicates if it is stored;
   * otherwise they get its outcome or error.
   * @param first stores the event; must call `remember` before it resolves; called synchronously or not at all
   * @param inFlight separate calls of a dry run, which must not affect other calls
   */
  async once(
    event: OwnedId,
    receivedAtMs: number,
    first: () => Promise<Outcome>,
    inFlight: InFlight = this.#inFlight,
  ): Promise<Outcome> {
    const key = keyOf(event)
    const recentAtMs = this.#recentAtMs.get(key)
    if (recentAtMs !== undefined && isWithinWindow(recentAtMs, receivedAtMs)) return 'duplicate'
    const running = this.#inFlight.get(key) ?? inFlight.get(key)
    if (running) {
      const outcome = await running
      return outcome === 'stored' ? 'duplicate' : outcome
    }
    const started = first().finally(() => inFlight.delete(key))
    inFlight.set(key, started)
    return started
  }

  /**
   * Reads the last acceptance of each event from ClickHouse.
   * @returns one for each event, in their order; undefined for an id that was never accepted
   * @throws Problem `unavailable`, `query_timeout`
   */
  async findLast(events: readonly OwnedId[], signal: AbortSignal): Promise<(Acceptance | undefined)[]> {
    const options = { label: 'events.duplicates', signal }
    const results = await Promise.all(
      splitEvenly(events).map((part) =>
        selectRows<OwnedId & Acceptance>(this.#clickhouse, acceptancesSql(part), options),
      ),
    )
    const last = new Map<string, Acceptance>()
    for (const row of results.flat()) {
      const known = last.get(keyOf(row))
      if (!known || isBefore(known, row)) last.set(keyOf(row), row)
    }
    for (const [key, { receivedAtMs }] of last) this.#recentAtMs.set(key, receivedAtMs)
    return events.map((event) => last.get(keyOf(event)))
  }

  /** Caches a stored event, so that a duplicate soon after needs no query. */
  remember(event: OwnedId, receivedAtMs: number): void {
    this.#recentAtMs.set(keyOf(event), receivedAtMs)
  }

  /** Clears the cache: every id is looked up in ClickHouse again. */
  forget(): void {
    this.#recentAtMs.clear()
  }
}

/** Splits a list into parts of about equal size, of at most `idsPerStatement` items. */
function splitEvenly<Item>(items: readonly Item[]): Item[][] {
  const parts = Math.ceil(items.length / idsPerStatement)
  const size = Math.ceil(items.length / parts)
  return Array.from({ length: parts }, (_, part) => items.slice(part * size, (part + 1) * size))
}

/** @returns the generation to store an event as, or undefined for a duplicate */
export function generationAfter(last: Acceptance | undefined, receivedAtMs: number): number | undefined {
  if (!last) return 0
  return isWithinWindow(last.receivedAtMs, receivedAtMs) ? undefined : last.generation + 1
}

function isWithinWindow(firstAtMs: number, receivedAtMs: number): boolean {
  return receivedAtMs - firstAtMs <= duplicateWindowMs
}

/** Whether row `b` replaces row `a` of the same id: it has a later generation, or the same one received earlier. */
function isBefore(a: Acceptance, b: Acceptance): boolean {
  if (a.generation !== b.generation) return a.generation < b.generation
  return a.receivedAtMs > b.receivedAtMs
}

/** Ids contain no spaces, so keys are unique. */
function keyOf({ accountId, id }: OwnedId): string {
  return `${accountId} ${id}`
}

import { LRUCache } from 'lru-cache'
import { duplicateWindowMs } from '../../../schema/event.ts'
import { type QueryTarget, selectRows } from '../../stores/clickhouse/select.ts'
import { acceptancesSql, type OwnedId } from './sql.ts'

/** What an event that is the caller's own came to. */
export type Outcome = 'stored' | 'duplicate' | 'over_ceiling'

/** The last time that an event's id was accepted as a new event. */
export interface Acceptance {
  /** 0 at first; one more each time the id came back after its window. */
  generation: number
  /** Epoch milliseconds; of several that raced, the earliest. */
  receivedAtMs: number
}

/**
 * ClickHouse finds the ids of a statement on one core. Two statements at once answer a thousand sooner than one; for some
 * hundred it is not worth the 5 ms that every statement costs.
 */
const idsPerStatement = 640

/** Ids that were accepted lately; ClickHouse knows the older ones, and those of other instances. */
const recentMax = 100_000

/** Recognises events by their ids: among those under way here, those of late, and those stored. */
export class Duplicates {
  readonly #clickhouse: QueryTarget
  readonly #inFlight = new Map<string, Promise<Outcome>>()
  readonly #recentAtMs = new LRUCache<string, number>({ max: recentMax })

  constructor(clickhouse: QueryTarget) {
    this.#clickhouse = clickhouse
  }

  /**
   * Lets the first of concurrent calls with one id through. The others wait for it: once it is stored they are
   * duplicates, and anything else that it comes to, an error too, is theirs as well.
   * @param first stores the event; must `remember` it before it answers
   */
  async once(event: OwnedId, receivedAtMs: number, first: () => Promise<Outcome>): Promise<Outcome> {
    const key = keyOf(event)
    const recentAtMs = this.#recentAtMs.get(key)
    if (recentAtMs !== undefined && isWithinWindow(recentAtMs, receivedAtMs)) return 'duplicate'
    const underWay = this.#inFlight.get(key)
    if (underWay) {
      const outcome = await underWay
      return outcome === 'stored' ? 'duplicate' : outcome
    }
    const started = first().finally(() => this.#inFlight.delete(key))
    this.#inFlight.set(key, started)
    return started
  }

  /**
   * Asks ClickHouse for the last acceptance of each event.
   * @returns one for each event, in their order; undefined for an id that was never accepted
   * @throws Problem `unavailable`, `query_timeout`
   */
  async findLast(events: readonly OwnedId[], signal: AbortSignal): Promise<(Acceptance | undefined)[]> {
    const options = { label: 'events.duplicates', signal }
    const answers = await Promise.all(
      inParts(events).map((part) => selectRows<OwnedId & Acceptance>(this.#clickhouse, acceptancesSql(part), options)),
    )
    const last = new Map<string, Acceptance>()
    for (const row of answers.flat()) {
      const known = last.get(keyOf(row))
      if (!known || isBefore(known, row)) last.set(keyOf(row), row)
    }
    for (const [key, { receivedAtMs }] of last) this.#recentAtMs.set(key, receivedAtMs)
    return events.map((event) => last.get(keyOf(event)))
  }

  /** Notes that an event is stored, so that nobody need ask ClickHouse when it comes again soon. */
  remember(event: OwnedId, receivedAtMs: number): void {
    this.#recentAtMs.set(keyOf(event), receivedAtMs)
  }

  /** Drops what is remembered: ClickHouse is asked for every id again. */
  forget(): void {
    this.#recentAtMs.clear()
  }
}

/** Equal parts of a list, none of them larger than one statement is to ask for. */
function inParts<Item>(items: readonly Item[]): Item[][] {
  const parts = Math.ceil(items.length / idsPerStatement)
  const size = Math.ceil(items.length / parts)
  return Array.from({ length: parts }, (_, part) => items.slice(part * size, (part + 1) * size))
}

/** @returns the generation that an event is to be stored as, or undefined when it is a duplicate */
export function generationAfter(last: Acceptance | undefined, receivedAtMs: number): number | undefined {
  if (!last) return 0
  return isWithinWindow(last.receivedAtMs, receivedAtMs) ? undefined : last.generation + 1
}

function isWithinWindow(firstAtMs: number, receivedAtMs: number): boolean {
  return receivedAtMs - firstAtMs <= duplicateWindowMs
}

/** Whether the first of two rows with one id tells less: an older generation, or a later call of the same one. */
function isBefore(one: Acceptance, other: Acceptance): boolean {
  if (one.generation !== other.generation) return one.generation < other.generation
  return one.receivedAtMs > other.receivedAtMs
}

/** Ids hold no space, so no two events make the same key. */
function keyOf({ accountId, id }: OwnedId): string {
  return `${accountId} ${id}`
}

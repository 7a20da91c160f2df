import { LRUCache } from 'lru-cache'
import { duplicateWindowMs } from '../../../schema/event.ts'
import { type QueryTarget, selectRows } from '../../stores/clickhouse/select.ts'
import { acceptancesSql, type OwnedId } from './sql.ts'

/** Outcome of a valid event that belongs to the caller. */
export type Outcome = 'stored' | 'duplicate' | 'over_ceiling'

/** Events in flight, by account and id: the step that processes each, and its position among the events of the step. */
export type InFlight = Map<string, { ran: Promise<readonly (Outcome | Error)[]>; index: number }>

/** An event with the id that it is stored under. */
interface IdentifiedEvent extends OwnedId {
  event: { eventId: string | undefined; receivedAtMs: number }
}

/** The last time that an event id was accepted as a new event. */
export interface Acceptance {
  /** 0 at first; 1 more each time the id was sent again after its window. */
  generation: number
  /** Epoch milliseconds by the clock of the instance; the earliest of concurrent calls. */
  receivedAtMs: number
  /** Time since it was stored, by the clock of ClickHouse, which all instances share. */
  storedForMs: number
}

/** No projection serves a look-up by id, and considering them takes a fifth of its time. */
const lookUpSettings = { optimize_use_projections: 0 } as const

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
   * Processes events in one step, of each id the first of all concurrent calls. The other events with the id wait for it: they
   * are duplicates if it is stored; otherwise they get its outcome or error.
   * @param run stores the events that are the first ones, and those without an id; must call `remember` before it resolves
   * @param inFlight separate calls of a dry run, which must not affect other calls
   * @returns one outcome per event, in their order
   * @throws the error of `run`, or of one of the events
   */
  async once<Event extends IdentifiedEvent>(
    events: readonly Event[],
    run: (firsts: readonly Event[]) => Promise<readonly (Outcome | Error)[]>,
    inFlight: InFlight = this.#inFlight,
  ): Promise<Outcome[]> {
    const firsts: Event[] = []
    const keys: string[] = []
    // In a microtask: the loop below collects all events before.
    const ran = Promise.resolve().then(() => run(firsts))
    // A number is the position of a first event. A promise per event would cost more than storing it.
    const positions = events.map((event) => {
      const { eventId, receivedAtMs } = event.event
      if (eventId === undefined) return firsts.push(event) - 1
      const key = keyOf(event)
      const recentAtMs = this.#recentAtMs.get(key)
      if (recentAtMs !== undefined && isWithinWindow(recentAtMs, receivedAtMs)) return 'duplicate'
      const running = this.#inFlight.get(key) ?? inFlight.get(key)
      if (running) return running
      const index = firsts.push(event) - 1
      inFlight.set(key, { ran, index })
      keys.push(key)
      return index
    })
    const own = await ran.finally(() => {
      for (const key of keys) inFlight.delete(key)
    })
    const outcomes: Outcome[] = []
    for (const position of positions) {
      if (typeof position === 'number') outcomes.push(thrown(own[position]))
      else if (position === 'duplicate') outcomes.push(position)
      else {
        const outcome = thrown((await position.ran)[position.index])
        outcomes.push(outcome === 'stored' ? 'duplicate' : outcome)
      }
    }
    return outcomes
  }

  /**
   * Reads the last acceptance of each event from ClickHouse.
   * @returns a function that returns it; undefined for an id that was never accepted
   * @throws Problem `unavailable`, `query_timeout`
   */
  async findLast(events: readonly OwnedId[], signal: AbortSignal): Promise<(event: OwnedId) => Acceptance | undefined> {
    const options = { label: 'events.duplicates', signal, settings: lookUpSettings }
    const rows =
      events.length === 0
        ? []
        : await selectRows<OwnedId & Acceptance>(this.#clickhouse, acceptancesSql(events), options)
    const last = new Map<string, Acceptance>()
    for (const row of rows) {
      const known = last.get(keyOf(row))
      if (!known || isBefore(known, row)) last.set(keyOf(row), row)
    }
    for (const [key, { receivedAtMs }] of last) this.#recentAtMs.set(key, receivedAtMs)
    return (event) => (last.size === 0 ? undefined : last.get(keyOf(event)))
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

/** @throws an outcome that is an Error */
function thrown(outcome: Outcome | Error | undefined): Outcome {
  if (outcome instanceof Error) throw outcome
  return outcome as Outcome
}

/**
 * Clocks of instances may be wrong, so an event is also a duplicate if ClickHouse stored the last one in the window.
 * @returns the generation to store an event as, or undefined for a duplicate
 */
export function generationAfter(last: Acceptance | undefined, receivedAtMs: number): number | undefined {
  if (!last) return 0
  const isDuplicate = isWithinWindow(last.receivedAtMs, receivedAtMs) || last.storedForMs <= duplicateWindowMs
  return isDuplicate ? undefined : last.generation + 1
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

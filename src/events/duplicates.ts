import { duplicateWindowMs } from '../../schema/event.ts'
import { type QueryTarget, selectRows } from '../stores/clickhouse/select.ts'
import type { IncomingEvent } from './incomingEvent.ts'
import { acceptancesSql, type OwnedId, ownedKey } from './sql.ts'

/*
 * An `event_id` is stored once within 24 hours of its first acceptance. The event `e1` of one account, sent several times:
 *
 * | sent       | to         | what decides                                            | stored as    | outcome                    |
 * | ---------- | ---------- | ------------------------------------------------------- | ------------ | -------------------------- |
 * | Mon 10:00  | instance 1 | ClickHouse has no row of it                             | generation 0 | stored                     |
 * | Mon 10:00  | instance 1 | `InFlightEvents`: it waits for the first                | –            | duplicate, or the error of the first |
 * | Mon 10:00  | instance 2 | ClickHouse has no row of it yet                         | generation 0 | stored; the rows have equal keys, and the one received first stays |
 * | Mon 12:00  | any        | the row in ClickHouse is not older than 24 hours        | –            | duplicate                  |
 * | Tue 10:01  | any        | the row is older than 24 hours                          | generation 1 | stored                     |
 *
 * No cache has ids of stored events: each is looked up, so an event that a restore of ClickHouse lost is stored again.
 */

export type Outcome = 'stored' | 'duplicate' | 'over_ceiling'

/** The first event of an id in flight: its call, and its position among the `firsts` of the call. */
interface First {
  call: { ran: Promise<readonly (Outcome | Error)[]> }
  position: number
}

/** The events in flight in this process by account and id. */
export class InFlightEvents {
  readonly #firsts = new Map<string, First>()

  /**
   * Processes the first events of their ids and the events without an id, and waits for first events in other calls.
   * @param process one outcome or error per given event, in their order
   * @param isDryRun has no effect on other calls
   * @returns one outcome per event, in their order: an event whose first one is stored is a duplicate
   * @throws the error of `process`, or of one of the events
   */
  async run(
    events: readonly IncomingEvent[],
    process: (firsts: IncomingEvent[]) => Promise<readonly (Outcome | Error)[]>,
    isDryRun = false,
  ): Promise<Outcome[]> {
    const own = isDryRun ? new Map<string, First>() : this.#firsts
    const firsts: IncomingEvent[] = []
    const keys: string[] = []
    const call: First['call'] = { ran: Promise.resolve([]) }
    // The position of a first event, or the first event to wait for. A promise per event would cost more than storing it.
    const places = events.map((event): number | First => {
      if (event.event.eventId === undefined) return firsts.push(event) - 1
      const key = ownedKey(event)
      const first = this.#firsts.get(key) ?? own.get(key)
      if (first) return first
      const position = firsts.push(event) - 1
      own.set(key, { call, position })
      keys.push(key)
      return position
    })
    call.ran = process(firsts)
    const results = await call.ran.finally(() => {
      for (const key of keys) own.delete(key)
    })
    const outcomes: Outcome[] = []
    for (const place of places) {
      if (typeof place === 'number') outcomes.push(outcomeOrThrow(results[place]))
      else {
        const outcome = outcomeOrThrow((await place.call.ran)[place.position])
        outcomes.push(outcome === 'stored' ? 'duplicate' : outcome)
      }
    }
    return outcomes
  }
}

/** @throws a result that is an Error */
function outcomeOrThrow(result: Outcome | Error | undefined): Outcome {
  if (result instanceof Error) throw result
  return result as Outcome
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

/** The last acceptance of each event in ClickHouse; undefined without one. @throws Problem `unavailable`, `query_timeout` */
export async function findAcceptances(
  clickhouse: QueryTarget,
  events: readonly OwnedId[],
  signal: AbortSignal,
): Promise<(event: OwnedId) => Acceptance | undefined> {
  const last = new Map<string, Acceptance>()
  if (events.length > 0) {
    const options = { label: 'events.duplicates', signal, settings: lookUpSettings }
    for (const row of await selectRows<OwnedId & Acceptance>(clickhouse, acceptancesSql(events), options)) {
      const known = last.get(ownedKey(row))
      if (!known || isReplacedBy(known, row)) last.set(ownedKey(row), row)
    }
  }
  return (event) => (last.size === 0 ? undefined : last.get(ownedKey(event)))
}

/** The generation to store an event as; undefined for a duplicate. As clocks may be wrong, the time of storage counts too. */
export function generationAfter(last: Acceptance | undefined, receivedAtMs: number): number | undefined {
  if (!last) return 0
  const isDuplicate = receivedAtMs - last.receivedAtMs <= duplicateWindowMs || last.storedForMs <= duplicateWindowMs
  return isDuplicate ? undefined : last.generation + 1
}

/** Whether row `b` replaces row `a` of the same id: it has a later generation, or the same one received earlier. */
function isReplacedBy(a: Acceptance, b: Acceptance): boolean {
  if (a.generation !== b.generation) return a.generation < b.generation
  return a.receivedAtMs > b.receivedAtMs
}

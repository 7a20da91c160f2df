import { duplicateWindowMs } from '../../schema/event.ts'
import { Problem } from '../problem.ts'
import { columnName } from '../stores/clickhouse/columnKinds.ts'
import type { ClickHouse } from '../stores/cluster/connection.ts'
import { selectOnReplicas } from '../stores/cluster/replicas.ts'
import { type AccountKey, keyText } from '../writer/tables/accountKeys.ts'
import type { IncomingEvent, StoredValues } from './incomingEvent.ts'
import { acceptancesSql } from './sql.ts'

/*
 * An `event_id` is stored once within 24 hours of its first acceptance. The event `e1` of one account, sent several times:
 *
 * | sent       | to         | what decides                                            | stored as    | outcome                    |
 * | ---------- | ---------- | ------------------------------------------------------- | ------------ | -------------------------- |
 * | Mon 10:00  | instance 1 | ClickHouse has no row of it                             | generation 0 | stored                     |
 * | Mon 10:00  | instance 1 | `FirstByKey`: it waits for the first                    | –            | duplicate, or the error of the first |
 * | Mon 10:00  | instance 2 | ClickHouse has no row of it yet                         | generation 0 | stored; the rows have equal keys, and the one received first stays |
 * | Mon 12:00  | any        | the row in ClickHouse is not older than 24 hours        | –            | duplicate                  |
 * | Tue 10:01  | any        | the row is older than 24 hours                          | generation 1 | stored                     |
 * | Tue 12:00  | any        | only one of two replicas has that row, after a failure  | generation 1 | stored; the rows have equal keys |
 *
 * No cache has ids of stored events: each is looked up, so an event that a restore of ClickHouse lost is stored again.
 */

/** Of the events in flight in this process, the first one with each key. */
export class FirstByKey {
  readonly #firsts = new Map<string, IncomingEvent>()

  /**
   * Sets `first` of each event whose key is in flight or earlier in the list, and adds the others. A dry run adds none.
   * @returns the events that come first and the events without a key, in their order
   */
  add(events: readonly IncomingEvent[], isDryRun: boolean): IncomingEvent[] {
    const added = isDryRun ? new Map<string, IncomingEvent>() : this.#firsts
    return events.filter((event) => {
      const { key } = event
      if (key === undefined) return true
      event.first = this.#firsts.get(key) ?? added.get(key)
      if (!event.first) added.set(key, event)
      return !event.first
    })
  }

  remove(firsts: readonly IncomingEvent[]): void {
    for (const event of firsts) {
      if (event.key !== undefined && this.#firsts.get(event.key) === event) this.#firsts.delete(event.key)
    }
  }
}

/**
 * Settles events that are not the first ones with their key, each once its first event is settled.
 * @throws the error of a first event, or the Problem that is the outcome of an event
 */
export async function settleLikeFirst(events: readonly IncomingEvent[]): Promise<void> {
  for (const event of events) {
    if (event.first) {
      await event.first.flushed
      const { outcome } = event.first
      event.outcome = outcome === 'stored' ? 'duplicate' : outcome
      if (event.outcome === 'duplicate') noteDifference(event, event.first.stored ?? event.first.row)
    }
    if (event.outcome instanceof Problem) throw event.outcome
  }
}

const comparedFields = ['eventName', 'value', 'currency'] as const

/** Notes the first field in which a duplicate differs from the stored event. */
export function noteDifference({ row, note }: IncomingEvent, stored: StoredValues): void {
  const name = comparedFields.find((field) => row[field] !== stored[field])
  if (name === undefined) return
  note('duplicate_differs', columnName(name), `The stored event has ${JSON.stringify(stored[name])}, and keeps it.`)
}

/** The last time that an event id was accepted as a new event. */
export interface Acceptance extends StoredValues {
  /** 0 at first; 1 more each time the id was sent again after its window. */
  generation: number
  /** Epoch milliseconds by the clock of the instance; the earliest of concurrent calls. */
  receivedAtMs: number
  /** Time since it was stored, by the clock of ClickHouse, which all instances share. */
  storedForMs: number
  /** Whether every replica has it, or another row with its key: if only one replica has a row, it may still be discarded. */
  isConfirmed: boolean
}

type AcceptanceRow = AccountKey & Omit<Acceptance, 'isConfirmed'> & { storedAtMs: number }

/** No projection serves a look-up by id, and considering them takes a fifth of its time. */
const lookUpSettings = { optimize_use_projections: 0 } as const

/** The last acceptance of each event in ClickHouse, on any replica; undefined without one. */
export async function findAcceptances(
  clickhouse: Pick<ClickHouse, 'client' | 'cluster' | 'onQuery'>,
  events: readonly AccountKey[],
  signal: AbortSignal,
): Promise<(event: AccountKey) => Acceptance | undefined> {
  const last = new Map<string, Acceptance>()
  if (events.length > 0) {
    const options = { label: 'events.duplicates', signal, settings: lookUpSettings }
    // Two attempts to store an event may have left one row on each replica, so equal keys are not enough.
    const keyOf = (row: AcceptanceRow) => `${keyText(row)} ${row.generation} ${row.receivedAtMs} ${row.storedAtMs}`
    for (const { row, isOnAll } of await selectOnReplicas(clickhouse, acceptancesSql(events), keyOf, options)) {
      const known = last.get(keyText(row))
      const isConfirmed = isOnAll || (known?.generation === row.generation && known.isConfirmed)
      if (!known || isReplacedBy(known, row)) last.set(keyText(row), { ...row, isConfirmed })
      else if (known.generation === row.generation) known.isConfirmed = isConfirmed
    }
  }
  return (event) => last.get(keyText(event))
}

/**
 * The generation to store an event as; undefined for a duplicate. As clocks may be wrong, the time of storage counts too. A duplicate
 * of a row that may be discarded is stored with the same key.
 */
export function generationAfter(last: Acceptance | undefined, receivedAtMs: number): number | undefined {
  if (!last) return 0
  const isDuplicate = receivedAtMs - last.receivedAtMs <= duplicateWindowMs || last.storedForMs <= duplicateWindowMs
  if (!isDuplicate) return last.generation + 1
  return last.isConfirmed ? undefined : last.generation
}

/** Whether row `b` replaces row `a` of the same id: it has a later generation, or the same one received earlier. */
function isReplacedBy(a: Acceptance, b: AcceptanceRow): boolean {
  if (a.generation !== b.generation) return a.generation < b.generation
  return a.receivedAtMs > b.receivedAtMs
}

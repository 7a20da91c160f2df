import type { Registry } from 'prom-client'
import { v7 as uuidv7 } from 'uuid'
import { untilAnswered } from '../patience.ts'
import { Problem } from '../problem.ts'
import type { Asked } from '../sql/rows.ts'
import { startOfUtcMonth } from '../storedEvents.ts'
import type { ClickHouse } from '../stores/clickhouse.ts'
import type { Stores } from '../stores/open.ts'
import type { PixelEvent } from '../writing/pixelEvent.ts'
import { Batches } from './batches.ts'
import { type AccountMonth, Ceiling, type TakenPlace } from './ceiling.ts'
import { Duplicates, generationAfter, type Outcome } from './deduplicate.ts'
import { openFigures } from './figures.ts'
import { openAttribution, type Place } from './resolve.ts'
import { storeEvents } from './store.ts'
import type { ValidEvent } from './validate.ts'

/** Whose event it is. */
export interface Sender {
  accountId: string
  /** Tracked clicks a UTC month of the account's plan. */
  clickAllowance: number
}

/** A well-formed event of the account's own, with the id that it will be stored under. */
interface Call extends Sender {
  event: ValidEvent
  place: Place
  id: string
}

/** Where events come in. */
export interface Intake {
  /**
   * Accepts an event: resolves, deduplicates, holds it against the ceiling and stores it, in this order. When it returns
   * `stored` the event is on disk; when it throws, no later answer counts on it.
   * @throws Problem `click_not_found`, `campaign_not_found`, `unavailable`
   */
  accept(event: ValidEvent, sender: Sender): Promise<Outcome>
  /** Resolves when no event is on its way to the store, those of callers who have hung up included. */
  idle(): Promise<void>
}

/** Calls under way in this process; more are refused at once, so that memory stays bounded whatever the stores do. */
const callsMax = 10_000

/** A flush is one look-up of duplicates and one insert; while two run, the next one gathers. */
const flushOptions = {
  itemsMax: 4_000,
  underWayMax: 2,
  deadlineMs: 10_000,
  // Each flush makes one part: 25 a second at most, which merges keep up with. Three may follow each other at once, so
  // that a lone caller waits at every third event only.
  pace: { starts: 3, withinMs: 120 },
  // At 25 a second, callers split over two flushes wait twice as long, and two halves cost more than one whole: they are
  // put together again, unless there are so many that one half can be read while the other is stored. Reading a thousand
  // calls takes 70 ms.
  gather: { quietMs: 5, mostMs: 20, mostMsPerItem: 0.1, beside: { items: 1_000, mostMs: 100 } },
}

/** What the intake is given. */
export interface IntakeParts {
  stores: Pick<Stores, 'clickhouse' | 'postgres'>
  /** The present moment in epoch milliseconds. */
  now: () => number
  /** Where it says that events are waiting, or could not be stored, and why. */
  log: { warn: (text: string) => void; error: (error: unknown, text: string) => void }
  /** Where its figures are published. */
  registry: Registry | undefined
}

export function openIntake({ stores, now, log, registry }: IntakeParts): Intake {
  const clickhouse = asWriter(stores.clickhouse)
  const attribution = openAttribution({ clickhouse, postgres: stores.postgres }, now)
  const duplicates = new Duplicates(clickhouse)
  const ceiling = new Ceiling(clickhouse)
  const flushes = new Batches<Call, Outcome>({ ...flushOptions, run: flush })
  let callsUnderWay = 0
  const figures = openFigures(registry, { underWay: () => callsUnderWay, waiting: () => flushes.waiting })

  async function accept(event: ValidEvent, sender: Sender): Promise<Outcome> {
    if (callsUnderWay === callsMax) throw new Problem('unavailable', 'Too many events at once.', { retryAfterS: 1 })
    callsUnderWay += 1
    try {
      const place = await attribution.resolve(sender.accountId, event.of)
      const call = { ...sender, event, place, id: event.eventId ?? uuidv7() }
      const first = () => flushes.add(call)
      const isNamed = event.eventId !== undefined
      const outcome = await (isNamed ? duplicates.once(call, event.receivedAtMs, first) : first())
      figures.outcomes[outcome] += 1
      return outcome
    } finally {
      callsUnderWay -= 1
    }
  }

  /** Decides calls together, each on its own; what the insert comes to concerns only those that are in it. */
  async function flush(calls: readonly Call[], signal: AbortSignal): Promise<(Outcome | Error)[]> {
    const startedAtMs = performance.now()
    const recognisable = calls.filter(({ event }) => event.eventId !== undefined)
    const patience = { say: (line: string) => log.warn(line), signal, patienceMs: flushOptions.deadlineMs }
    const [acceptances] = await untilAnswered(
      'looking up events',
      () => Promise.all([duplicates.findLast(recognisable, signal), ceiling.prepare(calls.map(monthOf))]),
      patience,
    )
    const lookedUpAtMs = performance.now()
    const lastOf = new Map(recognisable.map((call, index) => [call, acceptances[index]]))
    const storing: { call: Call; place: TakenPlace; row: PixelEvent }[] = []
    const outcomes = calls.map((call): Outcome => {
      const generation = generationAfter(lastOf.get(call), call.event.receivedAtMs)
      if (generation === undefined) return 'duplicate'
      const place = ceiling.take(monthOf(call), call.clickAllowance)
      if (!place) return 'over_ceiling'
      storing.push({ call, place, row: rowOf(call, generation) })
      return 'stored'
    })
    const lookUp = (lookedUpAtMs - startedAtMs) / 1000
    if (storing.length === 0) {
      figures.countFlush(calls.length, { lookUp, insert: undefined })
      return outcomes
    }
    try {
      const rows = storing.map(({ row }) => row)
      await storeEvents(stores.clickhouse, rows, patience)
    } catch (error) {
      for (const { place } of storing) place.giveBack()
      if (!signal.aborted) log.error(error, `${storing.length} events could not be stored`)
      const problem = error instanceof Problem ? error : notStored()
      return outcomes.map((outcome) => (outcome === 'stored' ? problem : outcome))
    }
    for (const { call, place } of storing) {
      place.keep()
      if (call.event.eventId !== undefined) duplicates.remember(call, call.event.receivedAtMs)
    }
    figures.countFlush(calls.length, { lookUp, insert: (performance.now() - lookedUpAtMs) / 1000 })
    return outcomes
  }

  return { accept, idle: () => flushes.idle() }
}

/** What events ask must not wait until callers' reads have ended, so it goes by the connections of writes. */
function asWriter(clickhouse: ClickHouse): Asked {
  return {
    get reader() {
      return clickhouse.client
    },
    get onQuery() {
      return clickhouse.onQuery
    },
  }
}

function monthOf({ accountId, event }: Call): AccountMonth {
  return { accountId, monthMs: startOfUtcMonth(event.receivedAtMs) }
}

function rowOf({ accountId, id, event, place }: Call, generation: number): PixelEvent {
  const { eventName, of, visitorId, value, currency, properties, occurredAtMs, receivedAtMs } = event
  return {
    accountId,
    origin: 'server',
    id,
    generation,
    eventName,
    clickId: 'clickId' in of ? of.clickId : '',
    visitorId,
    ...place,
    value,
    currency,
    properties,
    occurredAt: occurredAtMs,
    receivedAt: receivedAtMs,
  }
}

function notStored(): Problem {
  return new Problem('unavailable', 'The event could not be stored; send it again.', { retryAfterS: 2 })
}

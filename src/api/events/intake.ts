import type { Registry } from 'prom-client'
import { v7 as uuidv7 } from 'uuid'
import { Problem } from '../../problem.ts'
import { startOfUtcMonth } from '../../query/monthlyEvents.ts'
import type { ClickHouse } from '../../stores/clickhouse/connection.ts'
import type { QueryTarget } from '../../stores/clickhouse/select.ts'
import type { Stores } from '../../stores/open.ts'
import { type RetryOptions, retryWhileUnavailable } from '../../stores/retry.ts'
import type { PixelEvent } from '../../writer/tables/pixelEvent.ts'
import { type EventCampaign, openAttribution } from './attribution.ts'
import { Batcher } from './batcher.ts'
import { watchContinuity } from './continuity.ts'
import { Duplicates, generationAfter, type Outcome } from './duplicates.ts'
import { type AccountMonth, FairUseCeiling, type Reservation } from './fairUseCeiling.ts'
import { recordRetries } from './retriedEvents.ts'
import { storeEvents } from './store.ts'
import { openEventTelemetry } from './telemetry.ts'
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
  place: EventCampaign
  id: string
}

/** An event that is to be stored, and its place under the ceiling. */
interface Storing {
  call: Call
  place: Reservation
  row: PixelEvent
}

/** Where events come in. */
export interface Intake {
  /**
   * Accepts an event: resolves, deduplicates, holds it against the ceiling and stores it, in this order. When it returns
   * `stored` the event is on disk. When it throws `unavailable` the event may be stored or not, and nothing that is kept in
   * memory says either.
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
  concurrentMax: 2,
  // Each flush makes one part: 25 a second at most, which merges keep up with. Three may follow each other at once, so
  // that a lone caller waits at every third event only.
  pace: { starts: 3, withinMs: 120 },
  // At 25 a second, callers split over two flushes wait twice as long, and two halves cost more than one whole: they are
  // put together again, unless there are so many that one half can be read while the other is stored. Reading a thousand
  // calls takes 70 ms.
  gather: { quietMs: 5, mostMs: 20, mostMsPerItem: 0.1, beside: { items: 1_000, mostMs: 100 } },
}

/** Share of the time until the deadline that an insert has; the rest is for looking up what it stored. */
const insertShare = 0.8

/** What the intake is given. */
export interface IntakeParts {
  stores: Pick<Stores, 'clickhouse' | 'postgres'>
  /** The present moment in epoch milliseconds. */
  now: () => number
  /** Where it says that events are waiting, or could not be stored, and why. */
  log: { warn: (text: string) => void; error: (error: unknown, text: string) => void }
  /** Where its telemetry are published. */
  registry: Registry | undefined
  /** How long a flush may take, milliseconds; an event that is not known to be stored by then is answered with 503. */
  deadlineMs?: number
}

export function openIntake({ stores, now, log, registry, deadlineMs = 10_000 }: IntakeParts): Intake {
  const clickhouse = asWriter(stores.clickhouse)
  const attribution = openAttribution({ clickhouse, postgres: stores.postgres }, now)
  const duplicates = new Duplicates(clickhouse)
  const ceiling = new FairUseCeiling(clickhouse)
  const continuity = watchContinuity(stores.clickhouse, deadlineMs, () => {
    for (const memory of [attribution, duplicates, ceiling]) memory.forget()
    log.warn('ClickHouse was restarted or restored; event ids, clicks and counts kept in memory are read again.')
  })
  const flushes = new Batcher<Call, Outcome>({ ...flushOptions, deadlineMs, run: flush })
  let callsInFlight = 0
  const telemetry = openEventTelemetry(registry, { inFlight: () => callsInFlight, waiting: () => flushes.queued })

  async function accept(event: ValidEvent, sender: Sender): Promise<Outcome> {
    if (callsInFlight === callsMax) throw new Problem('unavailable', 'Too many events at once.', { retryAfterS: 1 })
    callsInFlight += 1
    try {
      await continuity.confirm()
      const place = await attribution.resolve(sender.accountId, event.identifiers)
      const call = { ...sender, event, place, id: event.eventId ?? uuidv7() }
      const first = () => flushes.add(call)
      const isNamed = event.eventId !== undefined
      const outcome = await (isNamed ? duplicates.once(call, event.receivedAtMs, first) : first())
      telemetry.outcomes[outcome] += 1
      return outcome
    } finally {
      callsInFlight -= 1
    }
  }

  /** Decides calls together, each on its own; a failed insert concerns only the events that are in it. */
  async function flush(calls: readonly Call[], signal: AbortSignal): Promise<(Outcome | Error)[]> {
    const startedAtMs = performance.now()
    const recognisable = calls.filter(({ event }) => event.eventId !== undefined)
    const retry: RetryOptions & { signal: AbortSignal } = {
      onMessage: (line: string) => log.warn(line),
      signal,
      giveUpAfterMs: deadlineMs,
    }
    const [acceptances] = await retryWhileUnavailable(
      'looking up events',
      () => Promise.all([duplicates.findLast(recognisable, signal), ceiling.prepare(calls.map(monthOf))]),
      retry,
    )
    const lookedUpAtMs = performance.now()
    const lastOf = new Map(recognisable.map((call, index) => [call, acceptances[index]]))
    const storing: Storing[] = []
    const outcomes = calls.map((call): Outcome | Error => {
      const generation = generationAfter(lastOf.get(call), call.event.receivedAtMs)
      if (generation === undefined) return 'duplicate'
      const place = ceiling.reserve(monthOf(call), call.clickAllowance)
      if (!place) return 'over_ceiling'
      storing.push({ call, place, row: rowOf(call, generation) })
      return 'stored'
    })
    const lookUp = (lookedUpAtMs - startedAtMs) / 1000
    if (storing.length === 0) {
      telemetry.countFlush(calls.length, { lookUp, insert: undefined })
      return outcomes
    }
    const remainingMs = deadlineMs - (lookedUpAtMs - startedAtMs)
    const stored = new Map<Call, Outcome | Error>()
    for (const [index, outcome] of (await store(storing, remainingMs, retry)).entries()) {
      const { call, place } = storing[index] as Storing
      stored.set(call, outcome)
      if (outcome !== 'stored') place.cancel()
      else {
        place.confirm()
        if (call.event.eventId !== undefined) duplicates.remember(call, call.event.receivedAtMs)
      }
    }
    telemetry.countFlush(calls.length, { lookUp, insert: (performance.now() - lookedUpAtMs) / 1000 })
    return calls.map((call, index) => stored.get(call) ?? (outcomes[index] as Outcome))
  }

  /**
   * Stores events. Those whose insert fails, or is not confirmed in time, are looked up once more as soon as ClickHouse
   * answers: they may be stored all the same.
   * @param remainingMs until the deadline of the flush
   * @returns the outcome of each event, in their order; a Problem for each that is not known to be stored
   */
  async function store(
    storing: readonly Storing[],
    remainingMs: number,
    retry: RetryOptions & { signal: AbortSignal },
  ): Promise<(Outcome | Error)[]> {
    const rows = storing.map(({ row }) => row)
    const late = AbortSignal.timeout(Math.max(0, Math.round(remainingMs * insertShare)))
    try {
      await storeEvents(stores.clickhouse, rows, { ...retry, signal: AbortSignal.any([retry.signal, late]) })
      return storing.map(() => 'stored')
    } catch (error) {
      const outcomes = await findUnconfirmed(storing, retry).catch(() => storing.map(notStored))
      const failed = outcomes.filter((outcome) => outcome instanceof Problem).length
      if (failed > 0) log.error(error, `${failed} events are not known to be stored; their callers are asked to retry`)
      return outcomes
    }
  }

  /** @throws Problem `unavailable`, or the signal's reason */
  async function findUnconfirmed(
    storing: readonly Storing[],
    retry: RetryOptions & { signal: AbortSignal },
  ): Promise<(Outcome | Problem)[]> {
    const { signal } = retry
    const found = await retryWhileUnavailable(
      'looking up unconfirmed events',
      () =>
        duplicates.findLast(
          storing.map(({ call }) => call),
          signal,
        ),
      retry,
    )
    const outcomes = storing.map(({ row }, index): Outcome | Problem => {
      const last = found[index]
      if (!last || last.generation < row.generation) return notStored()
      return last.receivedAtMs === row.receivedAt ? 'stored' : 'duplicate'
    })
    const unconfirmed = storing.filter((_, index) => outcomes[index] instanceof Problem).map(({ row }) => row)
    // An insert that is still running may store them beside the caller's retry. The error is discarded: without the record
    // the count of the month is too high until a merge.
    if (unconfirmed.length > 0) await recordRetries(stores.clickhouse, unconfirmed, signal).catch(() => {})
    return outcomes
  }

  return { accept, idle: () => flushes.idle() }
}

/** What events ask must not wait until callers' reads have ended, so it goes by the connections of writes. */
function asWriter(clickhouse: ClickHouse): QueryTarget {
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
  const { eventName, identifiers: of, visitorId, value, currency, properties, occurredAtMs, receivedAtMs } = event
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
  return new Problem('unavailable', 'The event is not acknowledged; retry with the same event_id.', { retryAfterS: 2 })
}

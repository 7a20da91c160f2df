import type { EventNote } from '../../schema/eventNote.ts'
import { Problem } from '../problem.ts'
import type { PixelEvent } from '../writer/tables/pixelEvent.ts'
import type { CountedEvent } from './fairUseCeiling.ts'
import type { Note } from './notes.ts'

export type Outcome = 'stored' | 'duplicate' | 'over_ceiling'

export interface Sender {
  accountId: string
  /** Tracked clicks per UTC month of the subscription plan. */
  clickAllowance: number
}

/**
 * A valid event between its request and its response. Each step takes a list of events and settles some of them by setting
 * their outcome; the next step takes the others. The first failure is the outcome:
 *
 * | step                       | outcomes that it sets                 | other fields that it sets           |
 * | -------------------------- | ------------------------------------- | ----------------------------------- |
 * | `readEvent`                | the Problem of an invalid field       | all fields that the request has     |
 * | limit of a click, visitor  | Problem `rate_limited`                |                                     |
 * | `findCampaigns`            | Problem `click_not_found`, `campaign_not_found` | campaign and user of the row |
 * | `FirstByKey`               | none                                  | `first`                             |
 * | `decideEvents`             | `duplicate`, `over_ceiling`           | generation of the row, `monthCount` |
 * | `flushEvents`              | `stored`, Problem `unavailable`       |                                     |
 * | `settleLikeFirst`          | of a repeated event: as its first one |                                     |
 */
export interface IncomingEvent extends CountedEvent {
  /** Undefined until a step settles the event; a Problem rejects it. */
  outcome: Outcome | Problem | undefined
  /** The row to store, under the `event_id` or a generated id. */
  readonly row: PixelEvent
  /** Account and `event_id`; undefined without an `event_id`. */
  readonly key: string | undefined
  readonly notes: readonly EventNote[]
  readonly note: Note
  readonly clickAllowance: number
  /** When the server received it, by the monotonic clock of the process, milliseconds: the wall clock may be set. */
  readonly sinceMs: number
  /** The event in flight that has the same key and came first; undefined if this one came first. */
  first?: IncomingEvent | undefined
  /** Of a duplicate that came first: the row that is stored under its key. */
  stored?: StoredValues | undefined
  /** Of an event that came first: the flush that sets its outcome. */
  flushed?: Promise<void>
}

/** What a duplicate is compared with. */
export type StoredValues = Pick<PixelEvent, 'eventName' | 'value' | 'currency'>

/** An item of a request that is not a valid event. */
export type InvalidEvent = { readonly outcome: Problem }

/** An item of a request. */
export type RequestEvent = IncomingEvent | InvalidEvent

export type AcknowledgedEvent = Omit<IncomingEvent, 'outcome'> & { readonly outcome: Outcome }

/** @returns the events without an outcome, in their order */
export function unsettled(events: readonly RequestEvent[]): IncomingEvent[] {
  return events.filter((event): event is IncomingEvent => event.outcome === undefined)
}

/** Whether an event, which is settled, gets a 200 response: stored, a duplicate, or above the ceiling. */
export function isAcknowledged(event: RequestEvent): event is AcknowledgedEvent {
  return !(event.outcome instanceof Problem)
}

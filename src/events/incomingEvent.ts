import type { PixelEvent } from '../writer/tables/pixelEvent.ts'
import type { EventCampaign } from './eventCampaigns.ts'
import type { ValidEvent } from './validate.ts'

export interface Sender {
  accountId: string
  /** Tracked clicks per UTC month of the subscription plan. */
  clickAllowance: number
}

/** A valid event that belongs to its sender, with the id that it is stored under. */
export interface IncomingEvent extends Sender {
  event: ValidEvent
  campaign: EventCampaign
  id: string
  /** When the server received it, by the monotonic clock of the process, milliseconds: the wall clock may be set. */
  sinceMs: number
}

export function rowOf({ accountId, id, event, campaign }: IncomingEvent, generation: number): PixelEvent {
  const { identifiers, eventId: _eventId, occurredAtMs, receivedAtMs, ...fields } = event
  const clickId = 'clickId' in identifiers ? identifiers.clickId : ''
  const times = { occurredAt: occurredAtMs, receivedAt: receivedAtMs }
  return { accountId, origin: 'server', id, generation, clickId, ...fields, ...campaign, ...times }
}

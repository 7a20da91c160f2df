import { startOfUtcMonth } from '../query/countMonthlyEvents.ts'
import type { PixelEvent } from '../writer/tables/pixelEvent.ts'
import type { EventCampaign } from './attribution.ts'
import type { AccountMonth } from './fairUseCeiling.ts'
import type { ValidEvent } from './validate.ts'

/** The account that sends an event. */
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
}

/** @returns the month of each event, in their order; one object for consecutive events of the same account and time */
export function monthsOf(events: readonly IncomingEvent[]): AccountMonth[] {
  let last: { accountId: string; receivedAtMs: number; month: AccountMonth } | undefined
  return events.map(({ accountId, event: { receivedAtMs } }) => {
    if (last?.accountId !== accountId || last.receivedAtMs !== receivedAtMs) {
      last = { accountId, receivedAtMs, month: { accountId, monthMs: startOfUtcMonth(receivedAtMs) } }
    }
    return last.month
  })
}

export function rowOf({ accountId, id, event, campaign }: IncomingEvent, generation: number): PixelEvent {
  const { eventName, identifiers, visitorId, value, currency, properties, occurredAtMs, receivedAtMs } = event
  return {
    accountId,
    origin: 'server',
    id,
    generation,
    eventName,
    clickId: 'clickId' in identifiers ? identifiers.clickId : '',
    visitorId,
    ...campaign,
    value,
    currency,
    properties,
    occurredAt: occurredAtMs,
    receivedAt: receivedAtMs,
  }
}

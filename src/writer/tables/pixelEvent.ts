import { type Column, columnsOf } from '../../stores/clickhouse/columns.ts'

/** A pixel event as it is stored: absent text is empty, times are epoch milliseconds UTC. */
export interface PixelEvent {
  accountId: string
  origin: string
  id: string
  generation: number
  eventName: string
  clickId: string
  visitorId: string
  campaignId: string
  /** Owner of the campaign. */
  userId: string
  value: number | null
  currency: string
  /** JSON of an object, or empty. */
  properties: string
  occurredAt: number
  receivedAt: number
}

const { text, uint32, floatOrNull, instant } = columnsOf<PixelEvent>()

/** The columns of `pixel_events` that are written; other columns have defaults. */
export const pixelEventColumns: readonly Column<PixelEvent>[] = [
  text('account_id', (event) => event.accountId),
  text('origin', (event) => event.origin),
  text('id', (event) => event.id),
  uint32('generation', (event) => event.generation),
  text('event_name', (event) => event.eventName),
  text('click_id', (event) => event.clickId),
  text('visitor_id', (event) => event.visitorId),
  text('campaign_id', (event) => event.campaignId),
  text('user_id', (event) => event.userId),
  floatOrNull('value', (event) => event.value),
  text('currency', (event) => event.currency),
  text('properties', (event) => event.properties),
  instant('occurred_at', (event) => event.occurredAt),
  instant('received_at', (event) => event.receivedAt),
]

import type { EventOrigin, EventRow, StoredEventFields } from '../../schema/event.ts'
import { toInstantText } from '../query/timeRange.ts'
import { ch } from '../stores/clickhouse/sql.ts'
import { pixelEventFields } from '../stores/clickhouse/tableFields.ts'
import { exportField, type RowField } from './exportFields.ts'
import type { NameCache } from './nameCache.ts'
import { toText } from './values.ts'

/** An event as stored: absent text is empty, times are epoch milliseconds. */
export interface StoredEvent {
  id: string
  origin: string
  generation: number
  eventName: string
  clickId: string
  visitorId: string
  campaignId: string
  userId: string
  value: number | null
  currency: string
  /** JSON of an object, or empty. */
  properties: string
  occurredAt: number
  receivedAt: number
}

/** The same with the time of storage, as `eventColumns` select it. */
export type StoredEventRow = StoredEvent & { storedAt: number }

/** The select list of `StoredEventRow`. */
export const eventColumns = ch`
  id, origin, generation, event_name AS eventName, click_id AS clickId, visitor_id AS visitorId,
  campaign_id AS campaignId, user_id AS userId, value, currency, properties,
  toUnixTimestamp64Milli(occurred_at) AS occurredAt, toUnixTimestamp64Milli(received_at) AS receivedAt,
  toUnixTimestamp64Milli(stored_at) AS storedAt`

/**
 * Adds the names of campaigns.
 * @returns rows of the API, in the same order
 * @throws Problem `unavailable`
 */
export async function toEventRows(
  names: NameCache,
  accountId: string,
  rows: readonly StoredEventRow[],
): Promise<EventRow[]> {
  const campaigns = await names.find(
    accountId,
    'campaigns',
    rows.map(({ campaignId }) => campaignId),
  )
  return rows.map((row) => {
    const { userId, value, currency, properties, occurredAt, receivedAt, ...identity } = toEvent(row)
    return {
      ...identity,
      campaignName: campaigns.get(row.campaignId) ?? null,
      ...{ userId, value, currency, properties, occurredAt, receivedAt },
      storedAt: toInstantText(row.storedAt),
    }
  })
}

/**
 * The fields of an event in an export, in the order of the API.
 * @param campaign id and name of the campaign
 */
export function eventExportFields(campaign: readonly RowField[]): RowField[] {
  const stored = Object.entries(pixelEventFields).flatMap(([name, kind]) =>
    name === 'campaignId' ? campaign : [exportField(name, kind)],
  )
  return [...stored, { name: 'storedAt', value: ch`stored_at` }]
}

/** @returns the fields of the API */
export function toEvent(stored: StoredEvent): StoredEventFields {
  return {
    id: stored.id,
    origin: stored.origin as EventOrigin,
    generation: stored.generation,
    eventName: stored.eventName,
    clickId: toText(stored.clickId),
    visitorId: toText(stored.visitorId),
    campaignId: toText(stored.campaignId),
    userId: toText(stored.userId),
    value: stored.value,
    currency: toText(stored.currency),
    properties: stored.properties === '' ? null : JSON.parse(stored.properties),
    occurredAt: toInstantText(stored.occurredAt),
    receivedAt: toInstantText(stored.receivedAt),
  }
}

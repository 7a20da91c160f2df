import type { EventOrigin, EventRow, StoredEventFields } from '../../schema/event.ts'
import { toInstantText } from '../query/timeRange.ts'
import { selectFields } from '../stores/clickhouse/columnKinds.ts'
import { ch } from '../stores/clickhouse/sql.ts'
import { pixelEventFields, type Selected } from '../stores/clickhouse/tableColumns.ts'
import { exportField, type RowField } from './exportFields.ts'
import type { NameCache } from './nameCache.ts'

const selected = { ...pixelEventFields, storedAt: 'instant' } as const

/** The select list of events, and the rows that it returns: absent text is empty, instants are epoch milliseconds. */
export const eventColumns = selectFields(selected)
export type StoredEventRow = Selected<typeof selected>

/** Adds the names of campaigns. @returns rows of the API, in the same order @throws Problem `unavailable` */
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
      userId,
      value,
      currency,
      properties,
      occurredAt,
      receivedAt,
      storedAt: toInstantText(row.storedAt),
    }
  })
}

/** The fields of an event in an export, in the order of the API. @param campaign id and name of the campaign */
export function eventExportFields(campaign: readonly RowField[]): RowField[] {
  const stored = Object.entries(pixelEventFields).flatMap(([name, kind]) =>
    name === 'campaignId' ? campaign : [exportField(name, kind)],
  )
  return [...stored, { name: 'storedAt', value: ch`stored_at` }]
}

/** @returns the fields of the API */
export function toEvent(stored: Selected<typeof pixelEventFields>): StoredEventFields {
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

/** @param stored absent text is the empty string */
function toText(stored: string): string | null {
  return stored || null
}

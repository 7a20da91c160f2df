import { subIdNames } from '../../schema/subIds.ts'
import { toInstantText } from '../query/timeRange.ts'
import type { Fields } from '../stores/clickhouse/columnKinds.ts'
import { entityIdFields, subIdFields } from '../stores/clickhouse/tableFields.ts'
import type { EntityNames } from './entityNames.ts'

/** A stored value: absent text is empty, instants are epoch milliseconds, amounts are decimal text. */
export type StoredValue = string | number | boolean | null

/**
 * Converts the stored fields of a click or a conversion to those of the response, in the order of the API.
 * @param row values by field, as ClickHouse returns columns, or all of them as text
 * @param entities ids and names of the row's entities
 */
export function toResponseFields(
  fields: Fields,
  row: Readonly<Record<string, StoredValue>>,
  { entities, baseCurrency }: { entities: EntityNames; baseCurrency: string },
): Record<string, unknown> {
  const response: Record<string, unknown> = {}
  for (const [name, kind] of Object.entries(fields)) {
    const value = row[name] ?? null
    if (name in entityIdFields) {
      if (name === 'campaignId') Object.assign(response, entities)
    } else if (name in subIdFields) {
      if (name === 'sub1') response.subIds = Object.fromEntries(subIdNames.map((subId) => [subId, row[subId] || null]))
    } else if (kind === 'flag') response[name] = value === true || value === 'true'
    else if (value === null || value === '') response[name] = null
    else if (kind === 'moneyOrNull') response[name] = Number(value)
    else if (kind === 'instant' || kind === 'instantOrNull') response[name] = toInstantText(Number(value))
    else response[name] = value
    if (name === 'costBase' || name === 'revenueBase') response.baseCurrency = baseCurrency
  }
  return response
}

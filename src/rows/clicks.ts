import type { Click } from '../../schema/click.ts'
import { toInstantText } from '../query/timeRange.ts'
import { selectFields } from '../stores/clickhouse/columnKinds.ts'
import { clickFields, type Selected } from '../stores/clickhouse/tableColumns.ts'
import type { EntityNames } from './entityNames.ts'
import { responseFields } from './responseFields.ts'

const selected = { ...clickFields, storedAt: 'instant' } as const

/** The select list of clicks, and the rows that it returns: absent text is empty, instants are epoch milliseconds. */
export const clickColumns = selectFields(selected)
export type StoredClick = Selected<typeof selected>

const toFields = responseFields(clickFields)

/** @returns the click of a response */
export function toClick(
  row: StoredClick,
  { conversionCount, ...shown }: { entities: EntityNames; baseCurrency: string; conversionCount: number },
): Click {
  // The fields of the list are those of the schema, which a test compares.
  return Object.assign(toFields(row, shown), {
    converted: conversionCount > 0,
    conversionCount,
    storedAt: toInstantText(row.storedAt),
  }) as unknown as Click
}

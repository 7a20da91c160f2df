import type { RowFormat } from '../../schema/rowFormat.ts'
import { placeFields } from '../places.ts'
import type { Room } from '../room.ts'
import { rowFormatSettings } from '../rowFormats.ts'
import { streamBytes } from '../sql/rows.ts'
import type { ConversionPlan } from './plan.ts'
import { conversionExportSql } from './sql.ts'

/**
 * Reads all conversions of a plan, newest first, in a form of ClickHouse's own; after its cursor where it has one.
 * @throws Problem `unavailable`, also in the middle
 */
export async function* exportConversions(
  { stores }: Room,
  plan: ConversionPlan,
  format: RowFormat,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const places = await placeFields(stores.postgres, plan.accountId)
  yield* streamBytes(stores.clickhouse, conversionExportSql(plan, places, format), {
    label: 'conversions.export',
    signal,
    settings: rowFormatSettings,
  })
}

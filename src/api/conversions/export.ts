import type { RowFormat } from '../../../schema/rowFormat.ts'
import type { RouteContext } from '../../http/context.ts'
import type { CsvEscape } from '../../rows/csvEscape.ts'
import { entityFields } from '../../rows/entityNames.ts'
import { rowFormatSettings } from '../../rows/exportFormat.ts'
import { streamBytes } from '../../stores/clickhouse/select.ts'
import type { ConversionPlan } from './plan.ts'
import { conversionExportSql } from './sql.ts'

/**
 * Reads all conversions of a plan in a form of ClickHouse's own; after its cursor where it has one.
 * @param asOfMs where a walk by the moment of storing ends
 * @throws Problem `unavailable`, also in the middle
 */
export async function* exportConversions(
  { stores }: RouteContext,
  plan: ConversionPlan,
  { format, csvEscape, asOfMs }: { format: RowFormat; csvEscape: CsvEscape; asOfMs: number },
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const places = await entityFields(stores.postgresReader, plan.accountId)
  yield* streamBytes(stores.clickhouse, conversionExportSql(plan, places, { format, csvEscape, asOfMs }), {
    label: 'conversions.export',
    signal,
    settings: rowFormatSettings,
  })
}

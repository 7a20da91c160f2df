import type { RowFormat } from '../../../schema/rowFormat.ts'
import type { RouteContext } from '../../http/context.ts'
import type { CsvEscape } from '../../rows/csvEscape.ts'
import { entityFields } from '../../rows/entityNames.ts'
import { rowFormatSettings } from '../../rows/exportFormat.ts'
import { streamBytes } from '../../stores/clickhouse/select.ts'
import type { ClickPlan } from './plan.ts'
import { clickExportSql } from './sql.ts'

/**
 * Reads all clicks of a plan in a form of ClickHouse's own; after its cursor where it has one.
 * @param asOfMs where a walk by the moment of storing ends
 * @throws Problem `unavailable`, also in the middle
 */
export async function* exportClicks(
  { stores }: RouteContext,
  plan: ClickPlan,
  { format, csvEscape, asOfMs }: { format: RowFormat; csvEscape: CsvEscape; asOfMs: number },
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const places = await entityFields(stores.postgresReader, plan.accountId)
  yield* streamBytes(stores.clickhouse, clickExportSql(plan, places, { format, csvEscape, asOfMs }), {
    label: 'clicks.export',
    signal,
    settings: rowFormatSettings,
  })
}

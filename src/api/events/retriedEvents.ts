import { columnsOf } from '../../stores/clickhouse/columnKinds.ts'
import type { ClickHouse } from '../../stores/clickhouse/connection.ts'
import { insertRows } from '../../stores/clickhouse/insert.ts'
import { RowBinary } from '../../stores/clickhouse/rowBinary.ts'
import type { PixelEvent } from '../../writer/tables/pixelEvent.ts'

/** The columns of `pixel_event_retries`. */
const retryColumns = columnsOf({ accountId: 'id', id: 'id', receivedAt: 'instant' })

/**
 * Records that events may be stored more than once, so that surplus copies are not counted. Call it before the second
 * insert.
 * @param events server events, at least one
 * @throws Problem `unavailable` when it is not known whether they are recorded: record them again
 */
export async function recordRetries(
  clickhouse: ClickHouse,
  events: readonly PixelEvent[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const out = new RowBinary()
  for (const event of events) for (const { write } of retryColumns) write(out, event)
  await insertRows(clickhouse, {
    table: 'pixel_event_retries',
    columns: retryColumns,
    bytes: out.bytes,
    ...(signal && { signal }),
  })
}

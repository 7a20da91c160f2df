import type { ClickHouse } from '../../stores/clickhouse/connection.ts'
import { insertRows } from '../../stores/clickhouse/insert.ts'
import { RowBinary } from '../../stores/clickhouse/rowBinary.ts'
import { type RetryOptions, retryWhileUnavailable } from '../../stores/retry.ts'
import { type PixelEvent, pixelEventColumns } from '../../writer/tables/pixelEvent.ts'
import { recordRetries } from './retriedEvents.ts'

/** Buffers whose rows are stored, for reuse. */
const spare: RowBinary[] = []

/**
 * Stores events in one insert; when it returns they are on disk. While ClickHouse is unavailable the insert is attempted
 * again: the same rows, as a new insert under a new query id. ClickHouse never drops it as a repetition of an attempt that
 * it lost in a crash; if the attempt was stored after all, the rows have equal keys and collapse.
 * @param events server events, at least one; rows with an equal key collapse
 * @throws Problem `unavailable` or the reason of `patience.signal`: the events may be stored or not; the driver's error when
 *   ClickHouse refused the rows
 */
export async function storeEvents(
  clickhouse: ClickHouse,
  events: readonly PixelEvent[],
  patience: RetryOptions,
): Promise<void> {
  const out = spare.pop() ?? new RowBinary()
  for (const event of events) for (const { write } of pixelEventColumns) write(out, event)
  const { signal } = patience
  let isRetry = false
  let isRecorded = false
  await retryWhileUnavailable(
    'storing events',
    async () => {
      if (isRetry && !isRecorded) {
        await recordRetries(clickhouse, events, signal)
        isRecorded = true
      }
      isRetry = true
      await insertRows(clickhouse, {
        table: 'pixel_events',
        columns: pixelEventColumns,
        bytes: out.bytes,
        ...(signal && { signal }),
      })
    },
    patience,
  )
  // Only now: an abandoned insert may still be reading the buffer.
  out.truncate(0)
  spare.push(out)
}

import type { ClickHouse } from '../../stores/clickhouse/connection.ts'
import { insertRows } from '../../stores/clickhouse/insert.ts'
import { RowBinary } from '../../stores/clickhouse/rowBinary.ts'
import { type RetryOptions, retryWhileUnavailable } from '../../stores/retry.ts'
import { type PixelEvent, pixelEventColumns } from '../../writer/tables/pixelEvent.ts'
import { recordRetries } from './retriedEvents.ts'

/** Buffers for reuse. */
const freeBuffers: RowBinary[] = []

/**
 * Stores events in one insert; when it returns they are on disk. While ClickHouse is unavailable the insert is retried with
 * the same rows under a new query id, so that ClickHouse does not drop it as a duplicate of an attempt that it lost in a
 * crash. If the first attempt was stored, the rows have equal keys and collapse.
 * @param events server events, at least one; rows with an equal key collapse
 * @throws Problem `unavailable` or the reason of `retry.signal`: the events may be stored or not; the driver's error when
 *   ClickHouse rejected the rows
 */
export async function insertEvents(
  clickhouse: ClickHouse,
  events: readonly PixelEvent[],
  retry: RetryOptions,
): Promise<void> {
  const out = freeBuffers.pop() ?? new RowBinary()
  for (const event of events) for (const { write } of pixelEventColumns) write(out, event)
  const { signal } = retry
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
        areIndexesDeferred: true,
        ...(signal && { signal }),
      })
    },
    retry,
  )
  // Not after an error: an abandoned insert may still read the buffer.
  out.truncate(0)
  freeBuffers.push(out)
}

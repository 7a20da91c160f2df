import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { Problem } from '../problem.ts'
import { insertRows } from '../sql/write.ts'
import type { ClickHouse } from '../stores/clickhouse.ts'
import { type PixelEvent, pixelEventColumns } from '../writing/pixelEvent.ts'
import { RowBinary } from '../writing/rowBinary.ts'

const columns = pixelEventColumns.map(({ name }) => name)

/** Buffers whose rows are stored, for the next ones. */
const spare: RowBinary[] = []

const firstPauseMs = 50
const pauseMaxMs = 1_000

/**
 * Stores events in one insert; when it returns they are on disk. While ClickHouse can't be reached it is tried again,
 * the same bytes with the same token: what was stored already is not stored twice.
 * @param events at least one; rows with an equal key collapse
 * @param signal gives up when it aborts
 * @throws Problem `unavailable`: not stored or, when the connection broke, perhaps stored; the driver's error when
 *   ClickHouse refused the rows
 */
export async function storeEvents(
  clickhouse: ClickHouse,
  events: readonly PixelEvent[],
  signal: AbortSignal,
): Promise<void> {
  const out = spare.pop() ?? new RowBinary()
  for (const event of events) for (const { write } of pixelEventColumns) write(out, event)
  const insertion = { table: 'pixel_events', columns, bytes: out.bytes, token: randomUUID(), signal }
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, pauseMaxMs)) {
    try {
      await insertRows(clickhouse, insertion)
      break
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof Problem)) throw error
    }
    await pause(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted())
  }
  // Only now: an insert that was given up may still be reading them.
  out.truncate(0)
  spare.push(out)
}

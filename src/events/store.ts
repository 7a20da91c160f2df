import { randomUUID } from 'node:crypto'
import { type Patience, untilAnswered } from '../patience.ts'
import { insertRows } from '../sql/write.ts'
import type { ClickHouse } from '../stores/clickhouse.ts'
import { type PixelEvent, pixelEventColumns } from '../writing/pixelEvent.ts'
import { RowBinary } from '../writing/rowBinary.ts'

const columns = pixelEventColumns.map(({ name }) => name)

/** Buffers whose rows are stored, for the next ones. */
const spare: RowBinary[] = []

/**
 * Stores events in one insert; when it returns they are on disk. While ClickHouse can't be reached it is tried again,
 * the same bytes with the same token: what was stored already is not stored twice.
 * @param events at least one; rows with an equal key collapse
 * @throws Problem `unavailable`: not stored or, when the connection broke, perhaps stored; the driver's error when
 *   ClickHouse refused the rows
 */
export async function storeEvents(
  clickhouse: ClickHouse,
  events: readonly PixelEvent[],
  patience: Patience,
): Promise<void> {
  const out = spare.pop() ?? new RowBinary()
  for (const event of events) for (const { write } of pixelEventColumns) write(out, event)
  const insertion = {
    table: 'pixel_events',
    columns,
    bytes: out.bytes,
    token: randomUUID(),
    ...(patience.signal && { signal: patience.signal }),
  }
  await untilAnswered('storing events', () => insertRows(clickhouse, insertion), patience)
  // Only now: an insert that was given up may still be reading them.
  out.truncate(0)
  spare.push(out)
}

import { idList } from '../../stores/clickhouse/idList.ts'
import { ch, text } from '../../stores/clickhouse/sql.ts'
import { insertOnce } from '../sendBatch.ts'
import { type PixelEvent, pixelEventColumns } from '../tables/pixelEvent.ts'
import type { Writer } from '../writer.ts'
import { ExistingKeys } from './existingKeys.ts'
import { RowBuffer } from './rowBuffer.ts'

/** What makes an event one: the same three again are the same event. No id holds a space. */
function keyOf({ origin, id, generation }: PixelEvent): string {
  return `${origin} ${id} ${generation}`
}

/** @returns what tells which events of the writer's account are stored, for all batches of a run */
export function existingPixelEvents(writer: Writer): ExistingKeys {
  const every = ch`
SELECT concat(origin, ' ', id, ' ', toString(generation)) AS key
FROM pixel_events
WHERE account_id = ${text(writer.accountId)}`
  return new ExistingKeys(writer, {
    name: 'pixel_events',
    every,
    // By id as well, since that is what the sort key finds.
    among: (keys) => ch`${every} AND origin IN ('browser', 'server')
  AND id IN ${idList([...new Set(keys.map((key) => key.split(' ')[1] ?? ''))])}
  AND key IN ${idList(keys)}`,
  })
}

/**
 * Stores events that are not stored yet; of several with one key the first one wins. Nothing is derived from them by a
 * view, so they need no journal: what a run that was interrupted did not store, the next one does.
 * @returns how many were stored
 * @throws LeaseLost, or the last error when ClickHouse stays unavailable
 */
export async function storePixelEvents(
  writer: Writer,
  known: ExistingKeys,
  events: readonly PixelEvent[],
): Promise<number> {
  const rows = new RowBuffer(pixelEventColumns)
  for (const event of events) rows.add(keyOf(event), event)
  const dropStored = async () => rows.drop(await known.findExisting([...rows.keys()]))
  await dropStored()
  const inserted = rows.size
  // Before they are sent: after an attempt whose outcome is unknown, any of them may be stored.
  known.add(rows.keys())
  const send = () => insertOnce(writer, { table: 'pixel_events', columns: pixelEventColumns, bytes: rows.bytes })
  while (rows.size > 0 && !(await send())) await dropStored()
  return inserted
}

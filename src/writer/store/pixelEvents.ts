import { ch } from '../../stores/clickhouse/sql.ts'
import { idList } from '../../stores/clickhouse/textList.ts'
import type { Writer } from '../fence/writer.ts'
import { type PixelEvent, pixelEventColumns } from '../tables/pixelEvent.ts'
import { ExistingKeys } from './existingKeys.ts'
import { RowBuffer, storeNewRows } from './rowBuffer.ts'
import { tryInsert } from './sendBatch.ts'

/** The key by which duplicates of an event are found within its account. No part contains a space. */
function storedKeyOf({ origin, id, generation }: PixelEvent): string {
  return `${origin} ${id} ${generation}`
}

/** @returns the lookup of stored event keys of the writer's account, for all batches of an import */
export function existingPixelEvents(writer: Writer): ExistingKeys {
  const every = ch`
SELECT concat(origin, ' ', id, ' ', toString(generation)) AS key
FROM pixel_events
WHERE ${writer.ofAccount}`
  return new ExistingKeys(writer, {
    name: 'pixel_events',
    every,
    // Conditions on origin and id use the sort key, account, origin and id; one on the concatenated key alone does not.
    among: (keys) => ch`${every} AND origin IN ('browser', 'server')
  AND id IN ${idList([...new Set(keys.map((key) => key.split(' ')[1] ?? ''))])}
  AND key IN ${idList(keys)}`,
  })
}

/**
 * Stores the events that are not stored yet; of equal keys the first. No sums count them, so they need no journal: the next
 * import stores what an interruption left out. @returns number of new events
 */
export async function storePixelEvents(
  writer: Writer,
  existing: ExistingKeys,
  events: readonly PixelEvent[],
): Promise<number> {
  const rows = new RowBuffer(pixelEventColumns)
  for (const event of events) rows.add(storedKeyOf(event), event)
  return await storeNewRows(rows, existing, () =>
    tryInsert(writer, { table: 'pixel_events', columns: pixelEventColumns, bytes: rows.bytes }),
  )
}

import { selectFields } from '../../stores/clickhouse/columnKinds.ts'
import { ch, type Fragment } from '../../stores/clickhouse/sql.ts'
import { pixelEventFields } from '../../stores/clickhouse/tableColumns.ts'
import { idList } from '../../stores/clickhouse/textList.ts'
import type { Writer } from '../fence/writer.ts'
import { type PixelEvent, pixelEventColumns } from '../tables/pixelEvent.ts'
import { ExistingKeys } from './existingKeys.ts'
import { type Budget, type Given, givesOtherValue } from './givenFields.ts'
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
    among: (keys) => ch`${every} AND ${hasKey(keys)}`,
  })
}

/** Conditions on origin and id use the sort key, account, origin and id; one on the concatenated key alone does not. */
function hasKey(keys: readonly string[]): Fragment {
  return ch`origin IN ('browser', 'server')
  AND id IN ${idList([...new Set(keys.map((key) => key.split(' ')[1] ?? ''))])}
  AND key IN ${idList(keys)}`
}

/**
 * Stores the events that are not stored yet; of equal keys the first. No sums count them, so they need no journal: the next
 * import stores what an interruption left out.
 * @returns number of new events; ids of the compared duplicates that give other values than the stored event
 */
export async function storePixelEvents(
  writer: Writer,
  existing: ExistingKeys,
  events: readonly (PixelEvent & Given)[],
  compared: Budget,
): Promise<{ inserted: number; conflicts: string[] }> {
  const rows = new RowBuffer(pixelEventColumns)
  const first = new Map<string, PixelEvent & Given>()
  const duplicates: (PixelEvent & Given)[] = []
  const addDuplicate = (event: (PixelEvent & Given) | undefined) => {
    if (!event || compared.rows === 0) return
    compared.rows -= 1
    duplicates.push(event)
  }
  for (const event of events) {
    const key = storedKeyOf(event)
    if (rows.add(key, event)) first.set(key, event)
    else addDuplicate(event)
  }
  const send = () => tryInsert(writer, { table: 'pixel_events', columns: pixelEventColumns, bytes: rows.bytes })
  const inserted = await storeNewRows(rows, existing, send, (key) => addDuplicate(first.get(key)))
  if (duplicates.length === 0) return { inserted, conflicts: [] }
  const stored = await readEvents(writer, duplicates)
  const conflicts = duplicates.filter((event) => {
    const present = stored.get(storedKeyOf(event))
    return present !== undefined && givesOtherValue(comparedFields, event, present)
  })
  return { inserted, conflicts: conflicts.map(({ id }) => id) }
}

// An absent `userId` is the present owner of the campaign.
const { userId: _userId, ...compared } = pixelEventFields
const comparedFields = Object.keys(compared)

async function readEvents(writer: Writer, events: readonly PixelEvent[]): Promise<Map<string, PixelEvent>> {
  const query = ch`
SELECT ${selectFields(pixelEventFields)}, concat(origin, ' ', id, ' ', toString(generation)) AS key
FROM pixel_events
WHERE ${writer.ofAccount} AND ${hasKey([...new Set(events.map(storedKeyOf))])}
LIMIT 1 BY key`
  const { accountId } = writer
  const rows = await writer.select<PixelEvent>('comparing duplicates', query, 'import.duplicate_events')
  return new Map(rows.map((row) => [storedKeyOf(row), { ...row, accountId }]))
}

import { selectFields } from '../../stores/clickhouse/columnKinds.ts'
import { ch, type Fragment } from '../../stores/clickhouse/sql.ts'
import { pixelEventFields } from '../../stores/clickhouse/tableColumns.ts'
import { idList } from '../../stores/clickhouse/textList.ts'
import type { WriteSession } from '../fence/writer.ts'
import { accountsOf, inAccounts } from '../tables/accountKeys.ts'
import { type PixelEvent, pixelEventColumns } from '../tables/pixelEvent.ts'
import { ExistingKeys } from './existingKeys.ts'
import { tryInsert } from './flush.ts'
import { type Budget, type Given, givesOtherValue } from './givenFields.ts'
import type { Filling } from './keyFilter.ts'
import { RowBuffer } from './rowBuffer.ts'

/** The key by which duplicates of an event are found. No part contains a space. */
function storedKeyOf({ accountId, origin, id, generation }: PixelEvent): string {
  return `${accountId} ${origin} ${id} ${generation}`
}

const keyColumn = ch`concat(account_id, ' ', origin, ' ', id, ' ', toString(generation)) AS key`

/** @returns the lookup of stored events, for all batches of an import or a feed */
export function existingPixelEvents(session: WriteSession, filling: Filling = 'await'): ExistingKeys {
  const source = {
    name: 'pixel_events',
    every: (accountIds: readonly string[]) => ch`SELECT ${keyColumn} FROM pixel_events WHERE ${inAccounts(accountIds)}`,
    among: (keys: readonly string[]) => ch`SELECT ${keyColumn} FROM pixel_events WHERE ${isStoredUnder(keys)}`,
  }
  return new ExistingKeys(session, source, filling)
}

/** Conditions on origin and id use the sort key, account, origin and id; one on the concatenated key alone does not. */
function isStoredUnder(keys: readonly string[]): Fragment {
  const parts = keys.map((key) => key.split(' '))
  return ch`${inAccounts(accountsOf(parts.map(([accountId = '']) => ({ accountId }))))}
  AND origin IN ('browser', 'server')
  AND id IN ${idList([...new Set(parts.map(([, , id = '']) => id))])}
  AND key IN ${idList(keys)}`
}

/**
 * Stores the events that are not stored yet; of equal keys the first. No sums count them, so they need no journal: the next
 * import stores what an interruption left out.
 * @returns number of new events; ids of the compared duplicates that give other values than the stored event
 */
export async function storePixelEvents(
  session: WriteSession,
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
  await rows.dropStored(existing, (key) => addDuplicate(first.get(key)))
  const inserted = rows.size
  // Added before they are sent: after an attempt of unknown outcome, any of them may be stored.
  existing.add(rows.keys())
  const send = () => tryInsert(session, { table: 'pixel_events', columns: pixelEventColumns, bytes: rows.bytes })
  while (rows.size > 0 && !(await send())) await rows.dropStored(existing)
  if (duplicates.length === 0) return { inserted, conflicts: [] }
  const stored = await readEvents(session, duplicates)
  const conflicts = duplicates.filter((event) => {
    const present = stored.get(storedKeyOf(event))
    return present !== undefined && givesOtherValue(comparedFields, event, present)
  })
  return { inserted, conflicts: conflicts.map(({ id }) => id) }
}

// An absent `userId` is the present owner of the campaign.
const { userId: _userId, ...compared } = pixelEventFields
const comparedFields = Object.keys(compared)

async function readEvents(session: WriteSession, events: readonly PixelEvent[]): Promise<Map<string, PixelEvent>> {
  const query = ch`
SELECT account_id AS accountId, ${selectFields(pixelEventFields)}, ${keyColumn}
FROM pixel_events
WHERE ${isStoredUnder([...new Set(events.map(storedKeyOf))])}
LIMIT 1 BY key`
  const rows = await session.select<PixelEvent>('comparing duplicates', query, 'import.duplicate_events')
  return new Map(rows.map((row) => [storedKeyOf(row), row]))
}

import { selectFields } from '../../stores/clickhouse/columnKinds.ts'
import { RowBinary } from '../../stores/clickhouse/rowBinary.ts'
import { ch, type Fragment } from '../../stores/clickhouse/sql.ts'
import { pixelEventFields } from '../../stores/clickhouse/tableColumns.ts'
import { idList } from '../../stores/clickhouse/textList.ts'
import { inChunks } from '../erasure/matching.ts'
import type { WriteSession } from '../fence/session.ts'
import type { ExistingKeys, KeySource } from '../storedKeys/existingKeys.ts'
import { accountsOf, inAccounts } from '../tables/accountKeys.ts'
import { type Budget, comparedTogether, fieldWithOtherValue, type Given } from '../tables/givenFields.ts'
import { type PixelEvent, pixelEventColumns } from '../tables/pixelEvent.ts'
import { conflict, type RowOutcome } from '../upserts/rowOutcome.ts'

/** The key by which duplicates of an event are found. No part contains a space. */
const storedKeyOf = ({ accountId, origin, id, generation }: PixelEvent) => `${accountId} ${origin} ${id} ${generation}`

const keyColumn = ch`concat(account_id, ' ', origin, ' ', id, ' ', toString(generation)) AS key`

export const storedPixelEvents: KeySource = {
  name: 'pixel_events',
  every: (accountIds) => ch`SELECT ${keyColumn} FROM pixel_events WHERE ${inAccounts(accountIds)}`,
  among: (keys) => ch`SELECT ${keyColumn} FROM pixel_events WHERE ${isStoredUnder(keys)}`,
  isCollapsed: true,
}

/** Conditions on origin and id use the sort key, account, origin and id; one on the concatenated key alone does not. */
function isStoredUnder(keys: readonly string[]): Fragment {
  const parts = keys.map((key) => key.split(' '))
  return ch`${inAccounts(accountsOf(parts.map(([accountId = '']) => ({ accountId }))))}
  AND origin IN ('browser', 'server')
  AND id IN ${idList([...new Set(parts.map(([, , id = '']) => id))])}
  AND key IN ${idList(keys)}`
}

/** @param index in the outcomes */
type IndexedEvent = { event: PixelEvent & Given; index: number }

/**
 * Stores the events that are not stored yet; of equal keys the first. No sums count them, so they need no journal: the next
 * import stores what an interruption left out.
 * @returns the outcome of each event
 */
export async function storePixelEvents(
  session: WriteSession,
  events: readonly (PixelEvent & Given)[],
  { events: existing, compared }: { events: ExistingKeys; compared: Budget },
): Promise<RowOutcome[]> {
  /** The first event of each key that is not stored. */
  const unstored = new Map<string, IndexedEvent>()
  const outcomes: RowOutcome[] = events.map(() => 'inserted')
  const duplicates: IndexedEvent[] = []
  const addDuplicate = (duplicate: IndexedEvent) => {
    outcomes[duplicate.index] = 'duplicate'
    if (compared.rows === 0) return
    compared.rows -= 1
    duplicates.push(duplicate)
  }
  for (const [index, event] of events.entries()) {
    const key = storedKeyOf(event)
    if (unstored.has(key)) addDuplicate({ event, index })
    else unstored.set(key, { event, index })
  }
  const findStored = () => existing.findExisting([...unstored.keys()])
  const found = await findStored()
  for (const [key, event] of unstored) {
    if (!found.has(key)) continue
    addDuplicate(event)
    unstored.delete(key)
  }
  const send = () => {
    const out = new RowBinary()
    for (const { event } of unstored.values()) for (const column of pixelEventColumns) column.write(out, event)
    return session.tryInsert({ table: 'pixel_events', columns: pixelEventColumns, bytes: out.bytes })
  }
  while (unstored.size > 0 && !(await send())) for (const key of await findStored()) unstored.delete(key)
  for (const some of inChunks(duplicates, comparedTogether)) {
    const keys = some.map(({ event }) => storedKeyOf(event))
    const stored = await readEvents(session, [...new Set(keys)])
    for (const [at, { event, index }] of some.entries()) {
      const present = stored.get(keys[at] ?? '')
      const field = present && fieldWithOtherValue(comparedFields, event, present)
      if (field !== undefined) outcomes[index] = conflict(field)
    }
  }
  return outcomes
}

// An absent `userId` is the present owner of the campaign.
const { userId: _userId, ...compared } = pixelEventFields
const comparedFields = Object.keys(compared)

async function readEvents(session: WriteSession, keys: readonly string[]): Promise<Map<string, PixelEvent>> {
  const query = ch`
SELECT account_id AS accountId, ${selectFields(pixelEventFields)}, ${keyColumn}
FROM pixel_events
WHERE ${isStoredUnder(keys)}
LIMIT 1 BY key`
  const rows = await session.select<PixelEvent>('comparing duplicates', query, 'import.duplicate_events')
  return new Map(rows.map((row) => [storedKeyOf(row), row]))
}

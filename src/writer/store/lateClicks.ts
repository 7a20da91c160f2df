import { batchTimeout, selectRows } from '../../stores/clickhouse/select.ts'
import { ch, count, type Fragment, instant, text } from '../../stores/clickhouse/sql.ts'
import { retryWhileUnavailable } from '../../stores/retry.ts'
import { completeTask } from '../accountTasks.ts'
import type { Conversion } from '../tables/conversion.ts'
import type { Writer } from '../writer.ts'
import { copyClickDimensions } from './attribution.ts'
import { writeChanges } from './conversions.ts'
import { readCurrentConversions } from './currentConversions.ts'

const pageRows = 10_000

/**
 * Joins conversions that came before their click with it, now that it is stored: a new version with the click's place
 * and dimensions, `updatedAt` as it was. Cheap when none waits. A run that is interrupted leaves the account's task
 * `attribute_late_clicks`, and the next writer or a running server completes it.
 * @returns how many conversions were attributed
 * @throws LeaseLost, or the last error when a store stays away
 */
export async function attributeLateClicks(writer: Writer): Promise<number> {
  const attributed = await attributeAll(writer, isLate(writer), 'import.waiting')
  await completeTask(writer, 'attribute_late_clicks')
  return attributed
}

/**
 * The same for every conversion whose place of the click is not where the index has it, as after a click that was stored
 * twice. Looks up the clicks of all conversions: 3 s for 100,000 of them among 10 million clicks.
 */
export async function attributeConversions(writer: Writer): Promise<number> {
  const attributed = await attributeAll(writer, isMisplaced(writer), 'repair.attribution')
  await completeTask(writer, 'attribute_conversions')
  return attributed
}

/** Conversions that `attributeConversions` would attribute anew. */
export async function countUnattributed(writer: Writer): Promise<number> {
  const query = ch`
SELECT toUInt32(count()) AS conversions
FROM conversions FINAL
WHERE account_id = ${text(writer.accountId)}
  AND ${isMisplaced(writer)}`
  const asking = { label: 'verify', signal: writer.signal, ...batchTimeout }
  const [row] = await retryWhileUnavailable(
    'looking for conversions without their click',
    () => selectRows<{ conversions: number }>(writer.stores.clickhouse, query, asking),
    writer,
  )
  return row?.conversions ?? 0
}

/** @param label names the queries in ClickHouse's own logs */
async function attributeAll(writer: Writer, condition: Fragment, label: string): Promise<number> {
  let attributed = 0
  let after: { convertedAt: number; id: string } | undefined = { convertedAt: 0, id: '' }
  while (after) {
    const page: Conversion[] = await readPage(writer, condition, after, label)
    const changes = page.map((before) => ({ before, row: { ...before } }))
    await copyClickDimensions(
      writer,
      changes.map(({ row }) => row),
    )
    const found = changes.filter(({ before, row }) => row.clickAt !== before.clickAt)
    await writeChanges(writer, found)
    attributed += found.length
    after = page.length === pageRows ? page.at(-1) : undefined
  }
  return attributed
}

/** Without a click, although the index has it by now. */
function isLate({ accountId }: Writer): Fragment {
  const account = ch`account_id = ${text(accountId)}`
  const isWaiting = ch`click_at IS NULL AND click_id != ''`
  return ch`${isWaiting}
  AND click_id IN (
    SELECT id FROM click_index
    WHERE ${account} AND id IN (SELECT click_id FROM conversions WHERE ${account} AND ${isWaiting}))`
}

/** Without a click that the index has, or with one where the index has none. */
function isMisplaced({ accountId }: Writer): Fragment {
  const account = ch`account_id = ${text(accountId)}`
  const places = ch`
    FROM click_index
    WHERE ${account} AND id IN (SELECT click_id FROM conversions WHERE ${account} AND click_id != '')`
  return ch`click_id != ''
  AND click_id IN (SELECT id${places})
  AND (click_id, ifNull(click_at, toDateTime64(0, 3, 'UTC'))) NOT IN (SELECT id, clicked_at${places})`
}

/** In key order. */
function readPage(
  writer: Writer,
  condition: Fragment,
  after: { convertedAt: number; id: string },
  label: string,
): Promise<Conversion[]> {
  return readCurrentConversions(
    writer,
    ch`${condition}
  AND converted_at >= ${instant(after.convertedAt)}
  AND (converted_at, id) > (${instant(after.convertedAt)}, ${text(after.id)})
ORDER BY converted_at, id
LIMIT ${count(pageRows)}`,
    { doing: 'looking for conversions that wait for their click', label },
  )
}

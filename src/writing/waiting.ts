import { ch, count, instant, text } from '../sql/fragment.ts'
import { completeTask } from './accountTasks.ts'
import { attribute } from './attribution.ts'
import type { Conversion } from './conversion.ts'
import { writeChanges } from './conversions.ts'
import { readStored } from './storedConversions.ts'
import type { Writer } from './writer.ts'

const pageRows = 10_000

/**
 * Joins conversions that came before their click with it, now that it is stored: a new version with the click's place
 * and dimensions, `updatedAt` as it was. Cheap when none waits. A run that is interrupted leaves the account's task
 * `attribute_late_clicks`, and the next writer or a running server completes it.
 * @returns how many conversions were attributed
 * @throws LeaseLost, or the last error when a store stays away
 */
export async function attachWaiting(writer: Writer): Promise<number> {
  let attributed = 0
  let after: { convertedAt: number; id: string } | undefined = { convertedAt: 0, id: '' }
  while (after) {
    const page: Conversion[] = await readPage(writer, after)
    const changes = page.map((before) => ({ before, row: { ...before } }))
    await attribute(
      writer,
      changes.map(({ row }) => row),
    )
    const found = changes.filter(({ row }) => row.clickAt !== null)
    await writeChanges(writer, found)
    attributed += found.length
    after = page.length === pageRows ? page.at(-1) : undefined
  }
  await completeTask(writer, 'attribute_late_clicks')
  return attributed
}

/** Conversions without a click whose click is in the index by now, in key order. */
function readPage(writer: Writer, after: { convertedAt: number; id: string }): Promise<Conversion[]> {
  const isWaiting = ch`click_at IS NULL AND click_id != ''`
  const account = ch`account_id = ${text(writer.accountId)}`
  return readStored(
    writer,
    ch`${isWaiting}
  AND converted_at >= ${instant(after.convertedAt)}
  AND (converted_at, id) > (${instant(after.convertedAt)}, ${text(after.id)})
  AND click_id IN (
    SELECT id FROM click_index
    WHERE ${account} AND id IN (SELECT click_id FROM conversions WHERE ${account} AND ${isWaiting}))
ORDER BY converted_at, id
LIMIT ${count(pageRows)}`,
    { doing: 'looking for conversions that wait for their click', label: 'import.waiting' },
  )
}

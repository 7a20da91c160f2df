import { isDeepStrictEqual } from 'node:util'
import { columnName, columnsHash } from '../../stores/clickhouse/columnKinds.ts'
import { ch, count, type Fragment, identifier, instant, join, text } from '../../stores/clickhouse/sql.ts'
import { copyClickDimensions, readIndexedClicks } from '../attribution/attribution.ts'
import { isWaiting } from '../attribution/awaitedClicks.ts'
import { personalCopiedFields } from '../erasure/personalFields.ts'
import type { Writer, WriteSession } from '../fence/session.ts'
import { type AccountTask, completeTask } from '../journal/accountTasks.ts'
import { storeUntilConfirmed } from '../store/facts.ts'
import { inAccounts } from '../tables/accountKeys.ts'
import { type Conversion, type CopiedField, copiedFields, copiedFromClick } from '../tables/conversion.ts'
import { conversionTable } from '../upserts/changingTables.ts'
import { readCurrentRows } from '../upserts/currentRows.ts'

const pageRows = 10_000
const looking = 'looking for conversions to attribute'

/**
 * Attributes the waiting conversions of accounts, which arrived before their click: writes a new version with the click's dimensions and the same
 * `updatedAt`. Until then the task `attribute_late_clicks` of each account remains.
 * @returns number of attributed conversions
 */
export async function attributeWaitingConversions(session: WriteSession, accountIds: readonly string[]) {
  const ofAccounts = inAccounts(accountIds)
  const isStored = ch`(account_id, click_id) IN (
      SELECT account_id, id FROM click_index
      WHERE ${ofAccounts} AND (account_id, id) IN (
        SELECT account_id, click_id FROM conversions WHERE ${ofAccounts} AND click_at IS NULL AND click_id != ''))`
  const isDue = isWaiting(accountIds, isStored)
  return await attributeAll(session, accountIds, 'attribute_late_clicks', isDue, 'import.late_clicks')
}

/** Attributes every conversion whose `clickAt` or copied values differ from its click. Reads all these clicks. @returns their number */
export async function attributeWrongConversions(writer: Writer): Promise<number> {
  return await attributeAll(writer, [writer.accountId], 'attribute_conversions', isWrong(writer), 'repair.attribution')
}

export async function findWronglyAttributed(writer: Writer): Promise<{ table: string; conversions: number }[]> {
  const query = ch`
SELECT toUInt32(count()) AS conversions
FROM conversions FINAL
WHERE ${writer.ofAccount}
  AND ${isWrong(writer)}`
  const [row] = await writer.select<{ conversions: number }>(looking, query, 'verify')
  return row && row.conversions > 0 ? [{ table: 'conversions', ...row }] : []
}

async function attributeAll(
  session: WriteSession,
  accountIds: readonly string[],
  task: AccountTask,
  condition: Fragment,
  label: string,
): Promise<number> {
  type Position = Pick<Conversion, 'accountId' | 'convertedAt' | 'id'>
  let attributed = 0
  let after: Position | undefined = { accountId: '', convertedAt: 0, id: '' }
  while (after) {
    const [accountId, convertedAt] = [text(after.accountId), instant(after.convertedAt)]
    // The first conditions use the sort key.
    const where = ch`${inAccounts(accountIds)}
  AND ${condition}
  AND account_id >= ${accountId}
  AND (account_id > ${accountId} OR converted_at >= ${convertedAt})
  AND (account_id, converted_at, id) > (${accountId}, ${convertedAt}, ${text(after.id)})
ORDER BY account_id, converted_at, id
LIMIT ${count(pageRows)}`
    const page: Conversion[] = await readCurrentRows(session, conversionTable, where, looking, label)
    const changes = page.map((before) => ({ before, row: { ...before } }))
    await copyClickDimensions(session, changes, await readIndexedClicks(session, changes))
    const found = changes.filter(({ before, row }) => !isDeepStrictEqual(row, before))
    await storeUntilConfirmed(session, { conversions: found })
    attributed += found.length
    after = page.length === pageRows ? page.at(-1) : undefined
  }
  await completeTask(session, accountIds, task)
  return attributed
}

/** Condition: `click_at` of the conversion differs from its click in the index. */
function isMisplaced({ ofAccount }: Writer): Fragment {
  const indexed = ch`
    FROM click_index
    WHERE ${ofAccount} AND id IN (SELECT click_id FROM conversions WHERE ${ofAccount} AND click_id != '')`
  return ch`click_id != ''
  AND click_id IN (SELECT id${indexed})
  AND (click_id, ifNull(click_at, toDateTime64(0, 3, 'UTC'))) NOT IN (SELECT id, clicked_at${indexed})`
}

/**
 * Condition: the conversion is misplaced, or has copied other values than its click has. The erasure of a conversion's own
 * visitor blanks its personal fields, but not a click of another visitor.
 */
function isWrong(writer: Writer): Fragment {
  const { ofAccount } = writer
  const ofClicks = ch`
    FROM clicks
    WHERE ${ofAccount} AND (clicked_at, id) IN (
      SELECT assumeNotNull(click_at), click_id FROM conversions WHERE ${ofAccount} AND click_at IS NOT NULL)`
  const key = ch`assumeNotNull(click_at), click_id`
  const differs = (fields: readonly CopiedField[]) => ch`(${key}, ${columnsHash(fields)}) NOT IN (
    SELECT clicked_at, id, ${columnsHash(fields.map((field) => copiedFromClick[field]))}${ofClicks})`
  const copied = personalCopiedFields.map((field) => ch`${identifier(columnName(field))} != ''`)
  const hasOtherValues = ch`click_at IS NOT NULL
  AND (${key}) IN (SELECT clicked_at, id${ofClicks})
  AND (${differs(otherFields)}
    OR ${differs(personalCopiedFields)} AND (${join(copied, ' OR ')}))`
  return ch`(${isMisplaced(writer)}
  OR ${hasOtherValues})`
}

const otherFields = copiedFields.filter((field) => !personalCopiedFields.includes(field))

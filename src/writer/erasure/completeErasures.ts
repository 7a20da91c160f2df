import { isUnavailable, Problem } from '../../problem.ts'
import { ch } from '../../stores/clickhouse/sql.ts'
import type { Writer } from '../fence/session.ts'
import { sentWithinMs } from '../tables/pixelEvent.ts'
import { blankRows, clicksOfVisitors } from './erasedRows.ts'
import {
  addErasures,
  endAwaiting,
  hasIncompleteErasures,
  identifierHash,
  markErasures,
  pagesOfErasures,
  readErasureClock,
} from './erasures.ts'
import { erasedUntilMs, inChunks } from './matching.ts'
import { type PersonalTable, personalTables } from './personalFields.ts'
import { beginRewrite, endRewrite } from './rewriteTimes.ts'
import { waitForEarlierMutations, waitForRemoval } from './waitForRemoval.ts'

/** An event that a server received before the erasure is stored within this time: ClickHouse has two seconds for the insert. */
const eventsInFlightMs = sentWithinMs + 2_000

/** Time in which an import waits for the removal of replaced parts: they become removable after two seconds. */
const briefRemovalMs = 3_000

export interface Completion {
  /** Time after an erasure in which events from before it may still be stored; 12 s unless given. */
  inFlightMs?: number
  /**
   * When running queries keep the replaced parts: `wait` for ten minutes, then fail; or `leave` the erasures to a later writer, also when
   * a mutation fails for a minute.
   */
  ifStillRead?: 'wait' | 'leave'
}

const tableNames = personalTables.map(({ name }) => name)
const erasuresPerStatement = 5_000

/**
 * Blanks the personal fields of the rows of incomplete erasures, and returns when the replaced parts are gone from disk. Their
 * `stored_at` becomes later than every `asOf` so far, so that copies read them again. Repeat it after an interruption.
 * @returns rows that were blanked by this call
 * @throws Problem `unavailable` when the replaced parts are still read
 */
export async function completeErasures(
  writer: Writer,
  { inFlightMs = eventsInFlightMs, ifStillRead = 'wait' }: Completion = {},
) {
  const erased: Record<PersonalTable['resource'], number> = { clicks: 0, conversions: 0, events: 0 }
  if (!(await hasIncompleteErasures(writer))) return erased
  await dropUnstoredClicks(writer)
  try {
    await waitForEarlierMutations(writer, tableNames)
  } catch (error) {
    // The mutation may be of another account.
    if (ifStillRead === 'leave' && isUnavailable(error)) return erased
    throw error
  }
  await addClicksOfVisitors(writer)
  const storedAtMs = await beginRewrite(writer)
  for await (const page of pagesOfErasures(writer, 'incomplete')) {
    for (const table of personalTables) {
      if (table.resource === 'events') {
        const erasedMs = page.reduce((latest, erasure) => Math.max(latest, erasure.erasedMs), 0)
        const waitMs = erasedMs + inFlightMs - (await readErasureClock(writer))
        if (waitMs > 0) await writer.pause(waitMs)
      }
      erased[table.resource] += await blankRows(writer, table, page, storedAtMs[table.resource])
    }
  }
  // Before the removal: every new row is visible, and `asOf` does not advance until then.
  await endRewrite(writer)
  const isRemoved = await waitForRemoval(writer, tableNames, ifStillRead === 'leave' ? briefRemovalMs : undefined)
  if (isRemoved) await markErasures(writer, true)
  else if (ifStillRead === 'wait') {
    throw new Problem(
      'unavailable',
      'The rows are erased, but running queries or mutations still use the replaced files; run the command again.',
    )
  }
  return erased
}

/** Erases rows that were restored or inserted by hand. @throws what `completeErasures` throws */
export async function eraseAgain(writer: Writer): Promise<void> {
  await markErasures(writer, false)
  await completeErasures(writer)
}

/**
 * Removes clicks from the list that a killed import did not store, before another row can get the id of one. The caller has ended the
 * statements of that import.
 */
async function dropUnstoredClicks(writer: Writer): Promise<void> {
  for await (const page of pagesOfErasures(writer, 'awaiting')) {
    const query = ch`
SELECT DISTINCT id
FROM clicks
WHERE ${writer.ofAccount}
  AND ${erasedUntilMs('click', ch`id`, page)} > 0`
    const stored = await writer.select<{ id: string }>('looking for listed clicks', query, 'erase')
    const hashes = stored.map(({ id }) => identifierHash(page[0]?.key ?? '', 'click', id))
    await endAwaiting(writer, page, hashes)
  }
}

/** Lists the clicks of erased visitors: once a click is blank, its conversions and events could not be found. */
async function addClicksOfVisitors(writer: Writer): Promise<void> {
  for await (const page of pagesOfErasures(writer, 'incomplete'))
    for (const some of inChunks(await clicksOfVisitors(writer, page), erasuresPerStatement))
      await addErasures(writer, some)
}

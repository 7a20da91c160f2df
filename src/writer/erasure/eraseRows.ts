import { setTimeout as pause } from 'node:timers/promises'
import { Problem } from '../../problem.ts'
import { readClickHouseClock } from '../../stores/clickhouse/clock.ts'
import { ch, type Fragment, identifier, instant, instants, join, texts } from '../../stores/clickhouse/sql.ts'
import { clearBatches, recordBatch } from '../journal/journal.ts'
import type { Writer } from '../lease/writer.ts'
import { chunksOf } from './chunksOf.ts'
import {
  addErasures,
  type Erasure,
  hashOf,
  hasIncompleteErasures,
  markErasures,
  readErasureClock,
  readErasures,
} from './erasures.ts'
import { erasedUntilMs, hasPersonalData, isErased } from './matching.ts'
import { type PersonalTable, personalTables } from './personalFields.ts'
import { waitForMutations, waitForRemoval } from './waitForMutations.ts'

/**
 * Erasures that are compared in one statement, and positions of rows that one mutation changes: each mutation rewrites all parts
 * with such rows. The text of a mutation has at most 1 MB, which Keeper stores for a replicated table.
 */
const erasuresPerPage = 5_000
const positionsPerMutation = { instant: 5_000, text: 2_000 }

/** Positions in one parameter, which may have 128 KiB. */
const positionsPerParameter = 800

/** An event that a server received before the erasure is stored within this time. */
const eventsInFlightMs = 12_000

/** Time in which an import waits for the removal of replaced parts: they become removable after two seconds. */
const briefRemovalMs = 3_000

/** Options of `completeErasures`. */
export interface Completion {
  /** Time after an erasure in which events from before it may still be stored; 12 s unless given. */
  inFlightMs?: number
  /**
   * When running queries keep the replaced parts: `wait` for ten minutes, then fail; or `leave` the erasures incomplete after
   * some seconds, so that the next writer or a running server looks again.
   */
  ifStillRead?: 'wait' | 'leave'
}

/** Rows that were blanked. */
export type ErasedRows = Record<PersonalTable['resource'], number>

const label = 'erase'
const clicks = personalTables.find(({ name }) => name === 'clicks') as PersonalTable
const tableNames = personalTables.map(({ name }) => name)

/**
 * Completes the account's incomplete erasures: blanks the personal fields of their rows in every table, and returns when the
 * replaced parts are gone from disk. Their `stored_at` becomes a time that no response has had as its `asOf`, so that
 * copies read the rows again. Repeat it after an interruption. Cheap when no erasure is incomplete.
 * @returns rows that were blanked by this call
 * @throws LeaseLost, Problem `unavailable` when the replaced parts are still read, or the last error when a database stays
 *   unavailable
 */
export async function completeErasures(
  writer: Writer,
  { inFlightMs = eventsInFlightMs, ifStillRead = 'wait' }: Completion = {},
): Promise<ErasedRows> {
  const erased: ErasedRows = { clicks: 0, conversions: 0, events: 0 }
  if (!(await hasIncompleteErasures(writer))) return erased
  await waitForMutations(writer, tableNames)
  await addClicksOfVisitors(writer)
  const storedAt = await beginRewrite(writer)
  const [late, present] = [personalTables.filter(isOfEvents), personalTables.filter((table) => !isOfEvents(table))]
  await forEachPage(writer, 'incomplete', async (page) => {
    for (const table of present) erased[table.resource] += await eraseIn(writer, table, page, storedAt)
    const erasedMs = page.reduce((latest, erasure) => Math.max(latest, erasure.erasedMs), 0)
    const waitMs = erasedMs + inFlightMs - (await readErasureClock(writer))
    if (waitMs > 0) await pause(waitMs, undefined, { signal: writer.signal })
    for (const table of late) erased[table.resource] += await eraseIn(writer, table, page, storedAt)
  })
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

function isOfEvents({ resource }: PersonalTable): boolean {
  return resource === 'events'
}

/** Counts rows of erased visitors and clicks that have personal fields, as after a restore of an earlier state. */
export async function findErasedRows(writer: Writer): Promise<{ table: string; rows: number }[]> {
  const counts = new Map<string, number>()
  await forEachPage(writer, 'all', async (page) => {
    for (const table of personalTables) {
      const query = ch`
SELECT toUInt32(uniqExact(${table.id})) AS rows
FROM ${identifier(table.name)}
WHERE ${writer.ofAccount}
  AND ${isErased(table, page)}
  AND ${hasPersonalData(table)}`
      const [row] = await select<{ rows: number }>(writer, query)
      counts.set(table.name, (counts.get(table.name) ?? 0) + (row?.rows ?? 0))
    }
  })
  return [...counts].flatMap(([table, rows]) => (rows === 0 ? [] : [{ table, rows }]))
}

/** Erases rows that were restored or inserted by hand. @throws what `completeErasures` throws */
export async function eraseAgain(writer: Writer): Promise<void> {
  await markErasures(writer, false)
  await completeErasures(writer)
}

async function forEachPage(
  writer: Writer,
  state: 'incomplete' | 'all',
  work: (page: readonly Erasure[]) => Promise<void>,
): Promise<void> {
  let after: Erasure | undefined
  for (;;) {
    const page = await readErasures(writer, state, { after, limit: erasuresPerPage })
    if (page.length === 0) return
    await work(page)
    after = page.at(-1)
  }
}

/**
 * Lists the clicks of erased visitors as erased. Without it their conversions and events, which need not have the visitor,
 * could not be found once the click is blank, nor in a later import.
 */
async function addClicksOfVisitors(writer: Writer): Promise<void> {
  await forEachPage(writer, 'incomplete', async (page) => {
    const key = page[0]?.key ?? ''
    const visitors = page.filter(({ kind }) => kind === 'visitor')
    if (visitors.length === 0) return
    const query = ch`
SELECT id, toInt64(max(${erasedUntilMs('visitor', ch`visitor_id`, visitors)})) - 1 AS erasedMs
FROM clicks
WHERE ${writer.ofAccount}
  AND ${isErased(clicks, visitors)}
GROUP BY id`
    const rows = await select<{ id: string; erasedMs: number }>(writer, query)
    const added = rows.map(({ id, erasedMs }) => ({
      ...{ kind: 'click' as const, key, hash: hashOf(key, 'click', id), erasedMs },
    }))
    for (const some of chunksOf(added, erasuresPerPage)) await addErasures(writer, some)
  })
}

/** `stored_at` of rewritten rows. */
interface StoredAt {
  clicks: Fragment
  conversions: Fragment
  events: Fragment
}

/** The tokens are the same after an interruption, so that all rows get the time that was recorded first. */
const tokenOf = ({ accountId }: Writer, resource: string) => `erasure ${resource} ${accountId}`

/** Records the rewrite, so that no `asOf` passes the new `stored_at` before every row with it is visible. */
async function beginRewrite(writer: Writer): Promise<StoredAt> {
  const record = async (resource: 'clicks' | 'conversions') => {
    const entry = { resource, firstMs: 0, lastMs: 0, added: [], token: tokenOf(writer, resource) }
    return instant(await recordBatch(writer, entry))
  }
  const times = { clicks: await record('clicks'), conversions: await record('conversions') }
  const readClock = () =>
    writer.retry('reading the clock of ClickHouse', () => readClickHouseClock(writer.stores.clickhouse))
  const beganAt = new Date(await readClock()).toISOString()
  await writer.change(
    'recording an erasure',
    (postgres, held) => postgres`
      WITH ${held},
      recorded AS (
        INSERT INTO event_rewrites SELECT ${writer.accountId}::text, ${beganAt}::timestamptz FROM held ON CONFLICT DO NOTHING)
      SELECT FROM held`,
  )
  // Read after it was recorded: later than the watermark of any reader that has not seen the record.
  const events = await readClock()
  return {
    clicks: ch`${times.clicks}`,
    conversions: ch`${times.conversions}`,
    events: ch`${instant(events)}`,
  }
}

async function endRewrite(writer: Writer): Promise<void> {
  await clearBatches(writer, [tokenOf(writer, 'clicks'), tokenOf(writer, 'conversions')])
  await writer.sql(
    'completing an erasure',
    (postgres) => postgres`DELETE FROM event_rewrites WHERE account_id = ${writer.accountId}`,
  )
}

/** @returns rows that were blanked */
async function eraseIn(
  writer: Writer,
  table: PersonalTable,
  page: readonly Erasure[],
  storedAt: StoredAt,
): Promise<number> {
  const { column, kind } = table.sortedBy
  const position = kind === 'instant' ? ch`toUnixTimestamp64Milli(${column})` : column
  const where = ch`${isErased(table, page)}
  AND ${hasPersonalData(table)}`
  const rows = await select<{ position: number | string; id: string }>(
    writer,
    ch`
SELECT DISTINCT ${position} AS position, ${table.id} AS id
FROM ${identifier(table.name)}
WHERE ${writer.ofAccount}
  AND ${where}`,
  )
  const positions = [...new Set(rows.map((row) => row.position))]
  for (const some of chunksOf(positions, positionsPerMutation[kind])) {
    const among = chunksOf(some, positionsPerParameter).map(
      (chunk) => ch`${column} IN ${kind === 'instant' ? instants(chunk as number[]) : texts(chunk as string[])}`,
    )
    await rewrite(writer, table, ch`(${join(among, ' OR ')})\n  AND ${where}`, storedAt[table.resource])
  }
  return table.name === 'converted_click_rows' ? 0 : new Set(rows.map(({ id }) => id)).size
}

/** Blanks rows on every node; the mutation has rewritten the parts before it returns. */
async function rewrite(writer: Writer, table: PersonalTable, where: Fragment, storedAt: Fragment): Promise<void> {
  const name = identifier(table.name)
  const columns = table.copy ? [...table.personal, table.copy] : table.personal
  const blanked = columns.map((column) => ch`${column} = ''`)
  const change = ch`ALTER TABLE ${name} UPDATE ${join([...blanked, ch`stored_at = ${storedAt}`], ', ')}`
  await writer.changeRows(name, change, ch`${writer.ofAccount}\n  AND ${where}`, label)
}

function select<Row>(writer: Writer, query: Fragment): Promise<Row[]> {
  return writer.select('looking for rows to erase', query, label)
}

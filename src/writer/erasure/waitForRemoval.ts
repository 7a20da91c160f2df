import { ch, count, type Fragment, identifier, texts } from '../../stores/clickhouse/sql.ts'
import { runOnEveryNode } from '../../stores/cluster/everyNode.ts'
import { waitForMutations } from '../fence/mutations.ts'
import type { Writer } from '../fence/session.ts'

/** Parts stay on disk for `old_parts_lifetime` of their table, counted in whole seconds, and until ClickHouse looks for them. */
const lifetimeMs = 2_100

/** Time between two clean-ups: each stops the merges of the tables. */
const cleanupPauseMs = { first: 5_000, longest: 60_000 }

/** A running query keeps the parts that it reads; exports are the longest. */
const waitMaxMs = 600_000

/**
 * Waits for the mutations of the tables that exist now, of all accounts: they outlive their statements.
 * @throws Problem `unavailable` when one fails for a minute
 */
export async function waitForEarlierMutations(writer: Writer, tables: readonly string[]): Promise<void> {
  const startedMs = performance.now()
  const isEarlier = () => {
    // By the clock of each node, which has whole seconds here.
    const passedS = count(Math.floor((performance.now() - startedMs) / 1_000))
    return ch`table IN ${texts(tables)} AND create_time <= now() - toIntervalSecond(${passedS})`
  }
  await waitForMutations(writer, isEarlier, 'erase.mutations', 'Waiting until ClickHouse has finished its mutations.')
}

/**
 * Waits until the parts that have been replaced by now are removed from disk.
 * @returns false when they are not removed after `maxMs`: running queries read them, or mutations do not end
 */
export async function waitForRemoval(writer: Writer, tables: readonly string[], maxMs = waitMaxMs): Promise<boolean> {
  const startedMs = performance.now()
  const passedMs = () => performance.now() - startedMs
  /** Compared with the clock of each node; in whole seconds, so a part that was replaced up to a second later is waited for. */
  const isReplaced = async () => {
    const query = ch`
SELECT name FROM system.parts
WHERE database = currentDatabase() AND table IN ${texts(tables)} AND NOT active
  AND remove_time <= now() - toIntervalSecond(${count(Math.floor(passedMs() / 1_000))})
LIMIT 1`
    return await isFound(writer, query)
  }
  let cleanupAtMs = (await isReplaced()) ? lifetimeMs : 0
  let nextPauseMs = cleanupPauseMs.first
  // After a restart ClickHouse lists replaced parts only once it has loaded them, which the clean-up waits for.
  let isCleaned = false
  const isRemoved = async () => {
    // A clean-up would stop mutations too.
    if (passedMs() >= cleanupAtMs && !(await hasUnfinishedMutations(writer, tables))) {
      await removeOldParts(writer, tables)
      isCleaned = true
      cleanupAtMs = passedMs() + nextPauseMs
      nextPauseMs = Math.min(2 * nextPauseMs, cleanupPauseMs.longest)
    }
    return isCleaned && !(await isReplaced())
  }
  const message = 'The rows are erased; waiting until ClickHouse has removed the replaced files.'
  return await writer.waitUntil(isRemoved, message, maxMs)
}

async function hasUnfinishedMutations(writer: Writer, tables: readonly string[]): Promise<boolean> {
  const query = ch`
SELECT table AS name FROM system.mutations
WHERE database = currentDatabase() AND table IN ${texts(tables)} AND NOT is_done
LIMIT 1`
  return await isFound(writer, query)
}

/**
 * Makes ClickHouse look for old parts now. No partition has this id: nothing is dropped, but running merges start again. Replicated tables
 * have a thread for it, which otherwise waits for up to five minutes.
 */
async function removeOldParts(writer: Writer, tables: readonly string[]): Promise<void> {
  const { clickhouse } = writer.stores
  for (const name of tables) {
    const statement = clickhouse.cluster?.isReplicated
      ? ch`SYSTEM START CLEANUP ${identifier(name)}`
      : ch`ALTER TABLE ${identifier(name)} DROP PARTITION ID 'none'`
    await writer.retry('removing rewritten files', () => runOnEveryNode(clickhouse, statement, 'erase.parts'))
  }
}

async function isFound(writer: Writer, query: Fragment): Promise<boolean> {
  return (await writer.selectOnEveryNode('waiting for rewritten files', query, 'erase.parts')).length > 0
}

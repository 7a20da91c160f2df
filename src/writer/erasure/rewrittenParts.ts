import { setTimeout as pause } from 'node:timers/promises'
import { Problem } from '../../problem.ts'
import type { ClickHouse } from '../../stores/clickhouse/connection.ts'
import { runOnEveryNode } from '../../stores/clickhouse/insert.ts'
import { selectRows } from '../../stores/clickhouse/select.ts'
import { ch, type Fragment, identifier, texts } from '../../stores/clickhouse/sql.ts'
import { retryWhileUnavailable } from '../../stores/retry.ts'
import type { Writer } from '../writer.ts'

const pollMs = 200

/** Parts stay on disk for `old_parts_lifetime` of their table, counted in whole seconds, and until ClickHouse looks for them. */
const lifetimeMs = 2_100
const cleanupEveryMs = 5_000

/** A running query keeps the parts that it reads; exports are the longest. */
const removalMaxMs = 600_000
const announceAfterMs = 15_000

/**
 * Waits until ClickHouse has finished all mutations of the tables: ending a statement does not end the mutation that it
 * began.
 * @throws the reason of the writer's signal, or the last error when ClickHouse stays unavailable
 */
export async function waitForMutations(writer: Writer, tables: readonly string[]): Promise<void> {
  const query = ch`
SELECT table AS name FROM system.mutations
WHERE database = currentDatabase() AND table IN ${texts(tables)} AND NOT is_done
LIMIT 1`
  while ((await onEveryNode(writer, query)).length > 0) await pause(pollMs, undefined, { signal: writer.signal })
}

/**
 * Waits until the parts that have been replaced by now are removed from disk.
 * @throws Problem `unavailable` when running queries read them for ten minutes
 */
export async function waitForRemoval(writer: Writer, tables: readonly string[]): Promise<void> {
  const replaced = ch`
SELECT concat(table, '/', name) AS name FROM system.parts
WHERE database = currentDatabase() AND table IN ${texts(tables)} AND NOT active`
  const startedMs = performance.now()
  let cleanupAtMs = startedMs + lifetimeMs
  let isAnnounced = false
  let remaining = new Set(await onEveryNode(writer, replaced))
  while (remaining.size > 0) {
    const waitedMs = performance.now() - startedMs
    if (waitedMs > removalMaxMs) {
      throw new Problem('unavailable', 'Running queries still read the replaced files; run the command again.')
    }
    if (!isAnnounced && waitedMs > announceAfterMs) {
      writer.onMessage('The rows are erased; waiting until ClickHouse has removed the replaced files.')
      isAnnounced = true
    }
    await pause(pollMs, undefined, { signal: writer.signal })
    if (performance.now() > cleanupAtMs) {
      await removeOldParts(writer, tables)
      cleanupAtMs = performance.now() + cleanupEveryMs
    }
    remaining = new Set((await onEveryNode(writer, replaced)).filter((name) => remaining.has(name)))
  }
}

/**
 * Makes ClickHouse look for old parts now: in an idle table it does so up to ten minutes later. No partition has this id, so
 * nothing is dropped; running merges of the table start again.
 */
async function removeOldParts(writer: Writer, tables: readonly string[]): Promise<void> {
  for (const name of tables) {
    const statement = ch`ALTER TABLE ${identifier(name)} DROP PARTITION ID 'none'`
    const attempt = () => runOnEveryNode(writer.stores.clickhouse, statement, 'erase.parts')
    await retryWhileUnavailable('removing rewritten files', attempt, writer)
  }
}

async function onEveryNode(writer: Writer, query: Fragment): Promise<string[]> {
  const read = async ({ client, cluster, onQuery }: ClickHouse) => {
    const names: string[] = []
    for (const [index, { client: reader }] of (cluster?.nodes ?? [{ client }]).entries()) {
      const rows = await selectRows<{ name: string }>({ reader, onQuery }, query, { label: 'erase.parts' })
      names.push(...rows.map(({ name }) => `${index}/${name}`))
    }
    return names
  }
  return await retryWhileUnavailable('waiting for rewritten files', () => read(writer.stores.clickhouse), writer)
}

import { setTimeout as pause } from 'node:timers/promises'
import { ch, text } from '../clickhouse/sql.ts'
import type { ClickHouse } from './connection.ts'
import { runOnEveryNode, selectOnEveryNode } from './everyNode.ts'

/**
 * Kills statements by a prefix of their query ids, on every node, and waits for their end: later they commit nothing.
 * @throws Problem `unavailable` when a node does not respond
 */
export async function killQueries(clickhouse: ClickHouse, prefix: string): Promise<void> {
  const isKilled = ch`startsWith(initial_query_id, ${text(prefix)})`
  const running = ch`SELECT 1 FROM system.processes WHERE ${isKilled} LIMIT 1`
  for (;;) {
    await runOnEveryNode(clickhouse, ch`KILL QUERY WHERE ${isKilled} SYNC`, label)
    // TRAP: SYNC does not wait for a statement that cannot be cancelled yet, such as one that is being prepared.
    if ((await selectOnEveryNode(clickhouse, running, { label })).length === 0) return
    await pause(100)
  }
}

const label = 'kill_queries'

import { setTimeout as pause } from 'node:timers/promises'
import { type ClickHouse, nodesOf } from './connection.ts'
import { runOnEveryNode } from './insert.ts'
import { selectRows } from './select.ts'
import { ch, text } from './sql.ts'

/**
 * Kills statements by a prefix of their query ids, on every node, and waits for their end: later they commit nothing.
 * @throws Problem `unavailable` when a node does not respond
 */
export async function killQueries(clickhouse: ClickHouse, prefix: string): Promise<void> {
  const kill = ch`KILL QUERY WHERE startsWith(initial_query_id, ${text(prefix)}) SYNC`
  for (;;) {
    await runOnEveryNode(clickhouse, kill, 'kill_queries')
    // TRAP: SYNC does not wait for a statement that cannot be cancelled yet, such as one that is being prepared.
    if (!(await isAnyRunning(clickhouse, prefix))) return
    await pause(100)
  }
}

async function isAnyRunning(clickhouse: ClickHouse, prefix: string): Promise<boolean> {
  const query = ch`SELECT 1 FROM system.processes WHERE startsWith(initial_query_id, ${text(prefix)}) LIMIT 1`
  for (const reader of nodesOf(clickhouse)) {
    const rows = await selectRows({ reader, onQuery: undefined }, query, { label: 'kill_queries' })
    if (rows.length > 0) return true
  }
  return false
}

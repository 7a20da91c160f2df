import { setTimeout as pause } from 'node:timers/promises'
import { Problem } from '../../problem.ts'
import { ch } from '../clickhouse/sql.ts'
import type { ClickHouse } from './connection.ts'
import { selectOnEveryNode } from './everyNode.ts'

/** ClickHouse's clock, in a cluster the slowest, epoch milliseconds. @throws Problem `unavailable` when a node does not respond */
export async function readClickHouseClock(clickhouse: ClickHouse): Promise<number> {
  const query = ch`SELECT toUnixTimestamp64Milli(now64(3)) AS ms`
  const clocks = await selectOnEveryNode<{ ms: number }>(clickhouse, query, { label: 'clock' })
  return Math.min(...clocks.map(({ ms }) => ms))
}

const waitMaxMs = 10_000

/**
 * Waits until ClickHouse's clock, in a cluster every clock, reaches a moment, epoch milliseconds.
 * @throws Problem `unavailable` when a node does not respond, or when the moment is not reached after ten seconds
 */
export async function waitForClickHouseClock(clickhouse: ClickHouse, momentMs: number): Promise<void> {
  const giveUpMs = performance.now() + waitMaxMs
  for (;;) {
    const missingMs = momentMs - (await readClickHouseClock(clickhouse))
    if (missingMs <= 0) return
    if (performance.now() > giveUpMs) {
      const seconds = Math.ceil(missingMs / 1000)
      throw new Problem('unavailable', `ClickHouse's clock is ${seconds} s behind an earlier write; set it, or wait.`)
    }
    await pause(Math.min(missingMs, 500))
  }
}

import { setTimeout as pause } from 'node:timers/promises'
import { Problem } from '../../problem.ts'
import { selectRows } from '../../stores/clickhouse/select.ts'
import { ch } from '../../stores/clickhouse/sql.ts'
import type { Stores } from '../../stores/open.ts'
import type { Redis } from '../../stores/redis.ts'

/** A store that takes longer than this does not answer. */
const deadlineMs = 2_000
/** Callers without a key can't make the stores work more often than this. */
const ttlMs = 1_000

/**
 * Makes the question whether both stores answer, and Redis where it is needed; many callers share one look.
 * @returns throws Problem `unavailable`, naming the store that does not answer
 */
export function openReadiness(
  { clickhouse, postgres, redis }: Pick<Stores, 'clickhouse' | 'postgres'> & { redis: Redis | undefined },
  now: () => number,
): () => Promise<void> {
  let last: { atMs: number; silent: Promise<string[]> } | undefined

  async function look(): Promise<string[]> {
    const silent = await Promise.all([
      isUnresponsive(() => asksEveryNode(clickhouse)).then((it) => it && 'ClickHouse'),
      isUnresponsive(async () => (await postgres`SELECT 1`).length === 1).then((it) => it && 'Postgres'),
      redis && isUnresponsive(async () => (await redis.read('ready')).count === 0).then((it) => it && 'Redis'),
    ])
    return silent.filter((name) => typeof name === 'string')
  }

  return async () => {
    if (!last || Math.abs(now() - last.atMs) >= ttlMs) last = { atMs: now(), silent: look() }
    const silent = await last.silent
    if (silent.length === 0) return
    throw new Problem('unavailable', `Not ready: ${silent.join(' and ')} did not answer.`, { retryAfterS: 1 })
  }
}

/** A question to a table waits for every shard that rows may lie on. */
async function asksEveryNode(clickhouse: Stores['clickhouse']): Promise<boolean> {
  await selectRows(clickhouse, ch`SELECT 1 FROM clicks WHERE account_id = '' LIMIT 1`, { label: 'ready' })
  return true
}

async function isUnresponsive(ask: () => Promise<boolean>): Promise<boolean> {
  const late = new AbortController()
  try {
    return !(await Promise.race([ask(), pause(deadlineMs, false, { signal: late.signal })]))
  } catch {
    return true
  } finally {
    late.abort()
  }
}

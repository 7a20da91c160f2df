import { Problem } from '../../problem.ts'
import type { ClickHouse } from '../../stores/clickhouse/connection.ts'
import { selectRows } from '../../stores/clickhouse/select.ts'
import { ch } from '../../stores/clickhouse/sql.ts'
import { withDeadline } from '../../stores/deadline.ts'
import { RefreshingCache } from '../../stores/refreshingCache.ts'
import { retryWhileUnavailable } from '../../stores/retry.ts'

/** Detects that ClickHouse may have lost rows that it had before. */
export interface Continuity {
  /**
   * Checks, usually without a query, that ClickHouse was not restarted and its tables were not replaced, up to a second
   * ago. Otherwise `onBreak` is called before this returns.
   * @throws Problem `unavailable` when ClickHouse does not respond within `deadlineMs`
   */
  confirm(): Promise<void>
}

/** From this age on the check is repeated in the background, from `ttlMs` on before `confirm` returns. */
const refreshMs = 500
const ttlMs = 1_000

/** `uptime()` is in whole seconds, so the start time is exact to a second plus latency. */
const startToleranceMs = 2_500

/** One run of a ClickHouse server with its tables. */
interface Run {
  /** When the server started, by the monotonic clock of this process, milliseconds. */
  startedMs: number
  /** UUIDs of the tables; a restored table has a new one. */
  tables: string
}

/**
 * Detects restores from a backup. A restore either replaces the files of a stopped server or creates new tables; rows that
 * were read before it may be missing after it.
 * @param deadlineMs maximum duration of a check, including retries while ClickHouse is unavailable
 * @param onBreak called before the next `confirm` returns
 */
export function watchContinuity(clickhouse: ClickHouse, deadlineMs: number, onBreak: () => void): Continuity {
  let last: Run[] | undefined
  const checks = new RefreshingCache<ClickHouse, Run[]>({
    max: 1,
    ...{ refreshMs, ttlMs },
    now: () => performance.now(),
    keyOf: ({ database }) => database,
    async read() {
      const runs = await withDeadline(deadlineMs, unavailable, (signal) =>
        retryWhileUnavailable('checking ClickHouse', () => readRuns(clickhouse, signal), {
          giveUpAfterMs: deadlineMs,
          signal,
        }),
      )
      if (last && !areSame(last, runs)) onBreak()
      last = runs
      return runs
    },
  })

  return {
    async confirm() {
      await checks.find(clickhouse)
    },
  }
}

async function readRuns(clickhouse: ClickHouse, signal: AbortSignal): Promise<Run[]> {
  const query = ch`
SELECT uptime() AS uptimeS, arrayStringConcat(arraySort(groupArray(toString(uuid))), ' ') AS tables
FROM system.tables
WHERE database = currentDatabase()
  AND name IN ('click_index', 'pixel_events')`
  const clients = clickhouse.cluster?.nodes.map(({ client }) => client) ?? [clickhouse.client]
  return await Promise.all(
    clients.map(async (reader) => {
      const target = { reader, onQuery: clickhouse.onQuery }
      const [row] = await selectRows<{ uptimeS: number; tables: string }>(target, query, {
        label: 'continuity',
        signal,
      })
      return { startedMs: performance.now() - (row?.uptimeS ?? 0) * 1_000, tables: row?.tables ?? '' }
    }),
  )
}

function unavailable(): Problem {
  return new Problem('unavailable', 'ClickHouse did not respond in time; retry.', { retryAfterS: 2 })
}

function areSame(before: readonly Run[], now: readonly Run[]): boolean {
  return now.every(({ startedMs, tables }, index) => {
    const run = before[index]
    return run && run.tables === tables && Math.abs(run.startedMs - startedMs) <= startToleranceMs
  })
}

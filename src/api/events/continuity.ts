import { Problem } from '../../problem.ts'
import type { ClickHouse } from '../../stores/clickhouse/connection.ts'
import { selectRows } from '../../stores/clickhouse/select.ts'
import { ch } from '../../stores/clickhouse/sql.ts'
import { retryWhileUnavailable } from '../../stores/retry.ts'

/** Tells whether ClickHouse still holds everything that it held before. */
export interface Continuity {
  /**
   * Makes sure that ClickHouse has neither been restarted nor had its tables replaced until a second ago; otherwise
   * `onBreak` has been called when it returns. For the most part without waiting.
   * @throws Problem `unavailable` when ClickHouse does not respond within `deadlineMs`
   */
  confirm(): Promise<void>
}

/** From this age on the last check is repeated in the background, from `lifeMs` on before `confirm` returns. */
const refreshMs = 500
const lifeMs = 1_000

/** `uptime()` is in whole seconds, so the start of a server is known to a second, and some latency. */
const startToleranceMs = 2_500

/** One run of one server on one set of tables. */
interface Run {
  /** When the server started, by the monotonic clock of this process, milliseconds. */
  startedMs: number
  /** UUIDs of the tables; a table that is dropped and restored gets another. */
  tables: string
}

/**
 * Watches for restores from a backup. Every restore either replaces the files of a server, which has to be stopped and
 * started for that, or makes tables anew; rows that were read before may be missing after it.
 * @param deadlineMs how long a check may take, with its retries while ClickHouse is unavailable
 * @param onBreak called before the next `confirm` returns
 */
export function watchContinuity(clickhouse: ClickHouse, deadlineMs: number, onBreak: () => void): Continuity {
  let last: { runs: Run[]; atMs: number } | undefined
  let running: Promise<void> | undefined

  async function check(): Promise<void> {
    const deadline = AbortSignal.timeout(deadlineMs)
    const atMs = performance.now()
    const runs = await retryWhileUnavailable('checking ClickHouse', () => readRuns(clickhouse, deadline), {
      giveUpAfterMs: deadlineMs,
      signal: deadline,
    }).catch((error) => {
      throw deadline.aborted ? unavailable() : error
    })
    if (last && !areSame(last.runs, runs)) onBreak()
    last = { runs, atMs }
  }

  return {
    async confirm() {
      const ageMs = last ? performance.now() - last.atMs : Number.POSITIVE_INFINITY
      if (ageMs < refreshMs) return
      running ??= check().finally(() => {
        running = undefined
      })
      if (ageMs >= lifeMs) await running
      // A failure shows at the first caller that has to wait.
      else running.catch(() => {})
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
      const asked = { reader, onQuery: clickhouse.onQuery }
      const [row] = await selectRows<{ uptimeS: number; tables: string }>(asked, query, { label: 'continuity', signal })
      return { startedMs: performance.now() - (row?.uptimeS ?? 0) * 1_000, tables: row?.tables ?? '' }
    }),
  )
}

function unavailable(): Problem {
  return new Problem('unavailable', 'ClickHouse does not respond at the moment; try again.', { retryAfterS: 2 })
}

function areSame(before: readonly Run[], now: readonly Run[]): boolean {
  return now.every(({ startedMs, tables }, index) => {
    const run = before[index]
    return run && run.tables === tables && Math.abs(run.startedMs - startedMs) <= startToleranceMs
  })
}

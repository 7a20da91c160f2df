import { Problem } from '../problem.ts'
import { withDeadline } from '../stores/timing/deadline.ts'

/** Maximum duration of a page or a search with all its queries; equal to the limit of one query. */
const readTimeoutMs = 20_000

/**
 * Runs a read of several queries with one deadline. Its signal aborts when the client disconnects and at the deadline, and
 * ends queries of ClickHouse and searches in Postgres. Look-ups by key in Postgres (names, watermarks) continue, and their
 * results are dropped.
 * @param disconnected aborts when the client disconnects
 * @param advice what the caller can do: `request a shorter range`
 * @throws Problem `query_timeout` at the deadline
 */
export async function withReadDeadline<Result>(
  disconnected: AbortSignal,
  advice: string,
  read: (signal: AbortSignal) => Promise<Result>,
  timeoutMs = readTimeoutMs,
): Promise<Result> {
  const message = `The request did not finish within ${timeoutMs / 1000} s; ${advice}.`
  return await withDeadline(
    timeoutMs,
    () => new Problem('query_timeout', message, { retryAfterS: 5 }),
    (deadline) => read(AbortSignal.any([disconnected, deadline])),
  )
}

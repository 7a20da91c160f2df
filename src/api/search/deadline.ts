import { Problem } from '../../problem.ts'
import { withDeadline } from '../../stores/deadline.ts'

/** Maximum duration of a search with all its queries. */
const searchDeadlineMs = 20_000

/**
 * Runs a search with a deadline. Its signal aborts when the client disconnects and at the deadline; every query of the
 * search takes it.
 * @param disconnected aborts when the client disconnects
 * @throws Problem `query_timeout` at the deadline
 */
export async function withSearchDeadline<Result>(
  disconnected: AbortSignal,
  search: (signal: AbortSignal) => Promise<Result>,
  deadlineMs = searchDeadlineMs,
): Promise<Result> {
  const message = `The search did not finish within ${deadlineMs / 1000} s; search for a longer text or fewer fields.`
  return await withDeadline(
    deadlineMs,
    () => new Problem('query_timeout', message, { retryAfterS: 5 }),
    (deadline) => search(AbortSignal.any([disconnected, deadline])),
  )
}

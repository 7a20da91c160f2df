import { Problem } from '../../problem.ts'

/** Longest time of a search, all of its queries together. */
const searchDeadlineMs = 20_000

/**
 * Runs a search that has to end in time. Its signal aborts when the client disconnects and when the time is over; every
 * query of the search takes it.
 * @param disconnected aborts when the client disconnects
 * @throws Problem `query_timeout` when the time is over, whatever the search is waiting for
 */
export async function withDeadline<Result>(
  disconnected: AbortSignal,
  search: (signal: AbortSignal) => Promise<Result>,
  deadlineMs = searchDeadlineMs,
): Promise<Result> {
  const deadline = new AbortController()
  const signal = AbortSignal.any([disconnected, deadline.signal])
  const expired = new Promise<never>((_, reject) => {
    deadline.signal.addEventListener('abort', () => reject(deadline.signal.reason))
  })
  const timer = setTimeout(() => {
    const message = `The search did not finish within ${deadlineMs / 1000} s; search for a longer text or fewer fields.`
    deadline.abort(new Problem('query_timeout', message, { retryAfterS: 5 }))
  }, deadlineMs)
  try {
    return await Promise.race([search(signal), expired])
  } finally {
    clearTimeout(timer)
  }
}

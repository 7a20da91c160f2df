/**
 * Runs work that must end within a time. Afterwards the error of `late` is thrown, and a later result is dropped.
 * TRAP: in a process that was suspended, the timer fires before received data is read; setImmediate lets it be read first.
 * @param work its signal aborts, with the error, when the time is over
 */
export async function withDeadline<Result>(
  timeoutMs: number,
  late: () => Error,
  work: (signal: AbortSignal) => PromiseLike<Result>,
): Promise<Result> {
  const deadline = new AbortController()
  const { signal } = deadline
  const expired = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
  })
  const timer = setTimeout(() => setImmediate(() => deadline.abort(late())), timeoutMs)
  try {
    return await Promise.race([work(signal), expired])
  } finally {
    clearTimeout(timer)
  }
}

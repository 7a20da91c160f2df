/**
 * Opens a time that expires, unless a signal aborts before.
 * @param ms undefined: it does not expire
 * @returns `expired`, which rejects with the reason of the signal when that aborts
 */
export function openTimeout(ms: number | undefined, signal: AbortSignal | undefined) {
  let timer: ReturnType<typeof setTimeout> | undefined
  let abort = () => {}
  const expired = new Promise<'expired'>((resolve, reject) => {
    abort = () => reject(signal?.reason)
    if (signal?.aborted) abort()
    signal?.addEventListener('abort', abort)
    if (ms !== undefined) timer = setTimeout(() => resolve('expired'), ms)
  })
  // Nothing awaits it while a batch is sent.
  expired.catch(() => {})
  return {
    expired,
    clear() {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    },
  }
}

/** Waits; rejects with the reason of the signal when that aborts. */
export async function delay(ms: number, signal: AbortSignal): Promise<void> {
  const { expired, clear } = openTimeout(ms, signal)
  await expired.finally(clear)
}

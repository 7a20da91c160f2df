/** How often and how long a call is tried again. */
export interface RetryOptions {
  /** Tries after the first one; 5 unless given. */
  retries?: number
  /** A wait that the API asks for and that is longer than this ends the call with its answer; 60,000 unless given. */
  waitMaxMs?: number
  /** Makes a request; the platform's `fetch` unless given. */
  fetch?: (request: Request) => Promise<Response>
  /** Waits between two tries; a timer unless given. Rejects when the signal aborts. */
  wait?: (ms: number, signal: AbortSignal) => Promise<void>
}

/** Busy or away for a moment: the request was not carried out, or may be carried out again. */
const transientStatuses = new Set([429, 502, 503, 504])
const firstWaitMs = 500

/**
 * Makes a `fetch` that sends a request again when its answer is 429 or 502 to 504, or never came: after the time that
 * `Retry-After` names, else after half a second, one, two, … up to a third less by chance, so that many callers do not
 * come back at once. Requests have to be repeatable: reads are, and events with an `event_id`.
 */
export function openRetries(options: RetryOptions): (request: Request) => Promise<Response> {
  const { retries = 5, waitMaxMs = 60_000, fetch: send = (request) => fetch(request), wait = pause } = options
  return async (request) => {
    for (let attempt = 0; ; attempt++) {
      const isLast = attempt >= retries
      // A request's body can be read once.
      const outcome = await send(request.clone()).catch((error: unknown) => {
        if (isLast || request.signal.aborted) throw error
        return undefined
      })
      if (outcome && (isLast || !transientStatuses.has(outcome.status))) return outcome
      const waitMs = requestedWaitMs(outcome) ?? firstWaitMs * 2 ** attempt * (1 - Math.random() / 3)
      if (outcome && waitMs > waitMaxMs) return outcome
      await outcome?.body?.cancel()
      await wait(waitMs, request.signal)
    }
  }
}

/** The API names whole seconds. */
function requestedWaitMs(answer: Response | undefined): number | undefined {
  const seconds = answer?.headers.get('retry-after')
  return seconds && /^\d+$/.test(seconds) ? Number(seconds) * 1000 : undefined
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', leave)
      resolve()
    }, ms)
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
  })
}

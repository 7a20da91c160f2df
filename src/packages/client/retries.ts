import { readText } from './bodyText.ts'
import { TributaryError } from './error.ts'
import { delay } from './timeout.ts'

/** Number and duration of retries. */
export interface RetryOptions {
  /** Maximum number of retries of a request; default 5. An export counts from its last row. */
  retries?: number
  /** If `Retry-After` is longer than this, the response is returned without a retry; default 60,000. */
  waitMaxMs?: number
  /** Sends a request; default: the `fetch` of the platform. */
  fetch?: (request: Request) => Promise<Response>
  /** Waits between two attempts and rejects when the signal aborts; default: a timer. `status`: of the last response, if there was one. */
  wait?: (ms: number, signal: AbortSignal, status?: number) => Promise<void>
}

/** The server is busy or unavailable: the request was not executed, or can be executed again. */
const transientStatuses = new Set([429, 502, 503, 504])
const firstWaitMs = 500
const waitLongestMs = 30_000

export type Retries = ReturnType<typeof openRetries>

/** Opens the retries of one client. */
export function openRetries(options: RetryOptions) {
  const { retries: max = 5, waitMaxMs = 60_000, fetch: send = (request) => fetch(request), wait = delay } = options
  return {
    max,
    /**
     * Waits before a retry: 0.5 s, 1 s, 2 s, …, reduced by up to a third at random, so that clients do not retry at the same
     * time.
     * @param attempt number of retries before this one
     */
    pause: (attempt: number, signal: AbortSignal = new AbortController().signal) => wait(backoffMs(attempt), signal),
    /**
     * A `fetch` that retries after 429, 502, 503, 504 and network errors, also while the body is read. It waits as long as
     * `Retry-After` says, else as `pause`. Requests must be idempotent: reads are, and events with an `event_id`.
     * @throws TributaryError when a body is too long
     */
    fetch: (request: Request) => repeat(() => request.clone(), readWhole),
    /** The same without reading the body of a response with status 200. */
    fetchStream: (request: Request) =>
      repeat(
        () => request.clone(),
        async (response) => (response.status === 200 ? response : await readWhole(response)),
      ),
    repeat,
  }

  /** The same with a new request for each attempt: a body can be read only once. @param read its status decides whether to retry */
  async function repeat(open: () => Request, read: (response: Response) => Promise<Response>): Promise<Response> {
    for (let attempt = 0; ; attempt++) {
      const isLast = attempt >= max
      const request = open()
      const { signal } = request
      const outcome = await send(request)
        .then(read)
        .catch((error: unknown) => {
          if (isLast || signal.aborted || error instanceof TributaryError) throw error
          return undefined
        })
      if (outcome && (isLast || !transientStatuses.has(outcome.status))) return outcome
      const waitMs = requestedWaitMs(outcome) ?? backoffMs(attempt)
      if (outcome && waitMs > waitMaxMs) return outcome
      await outcome?.body?.cancel()
      await wait(waitMs, signal, outcome?.status)
    }
  }
}

const backoffMs = (attempt: number): number =>
  Math.min(firstWaitMs * 2 ** attempt, waitLongestMs) * (1 - Math.random() / 3)

/** Reads a body, so that a connection that breaks meanwhile is an error of the request. */
export async function readWhole(response: Response): Promise<Response> {
  if (!response.body) return response
  const { status, statusText, headers } = response
  return new Response(await readText(response), { status, statusText, headers })
}

/** `Retry-After` of the API is in whole seconds. With 0, a client without a limit of retries would never wait. */
function requestedWaitMs(response: Response | undefined): number | undefined {
  const seconds = response?.headers.get('retry-after')
  return (seconds && /^\d+$/.test(seconds) && Number(seconds) * 1000) || undefined
}

import { setTimeout as pause } from 'node:timers/promises'
import { Problem } from '../problem.ts'

/** How a step that may be repeated is repeated. */
export interface RetryOptions {
  /** A line for whoever watches; nobody does, unless given. */
  onMessage?: (line: string) => void
  /** Gives up at once when it aborts. */
  signal?: AbortSignal
  /** How long a store may be away, from the first failure on, before the step fails, in milliseconds (a minute); an embedded engine restarts within a second or two. */
  giveUpAfterMs?: number
}

const giveUpAfterDefaultMs = 60_000
const firstPauseMs = 100
const pauseMaxMs = 2_000

/**
 * Repeats a step until the stores answer. Only for steps that change nothing more when they are repeated.
 * @param step what is done, for the line about it: `storing a batch`
 * @throws the last error once a store was away for too long, the signal's reason, or any error that is no outage
 */
export async function retryWhileUnavailable<T>(
  step: string,
  attempt: () => Promise<T>,
  patience: RetryOptions = {},
): Promise<T> {
  const { onMessage: say, signal, giveUpAfterMs: patienceMs = giveUpAfterDefaultMs } = patience
  let failingSinceMs: number | undefined
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, pauseMaxMs)) {
    signal?.throwIfAborted()
    try {
      return await attempt()
    } catch (error) {
      const isOutage = error instanceof Problem && error.status === 503
      failingSinceMs ??= performance.now()
      if (!isOutage || performance.now() - failingSinceMs > patienceMs) throw error
      if (pauseMs === firstPauseMs) say?.(`A store does not answer while ${step}; it is tried again.`)
    }
    await pause(pauseMs, undefined, { ...(signal && { signal }) }).catch(() => signal?.throwIfAborted())
  }
}

import { setTimeout as pause } from 'node:timers/promises'
import { diskFullOf, isUnavailable } from '../../problem.ts'

export interface RetryOptions {
  /** Receives a progress line; none is written unless given. */
  onMessage?: (line: string) => void
  signal?: AbortSignal
  /** Milliseconds from the first failure until the step fails; a minute unless given. An embedded engine restarts within 2 s. */
  giveUpAfterMs?: number
  /** @returns whether an error passes by itself. By default, only an unavailable store does; a full disk does not. */
  isTemporary?: (error: unknown) => boolean
}

const isOutage = (error: unknown) => isUnavailable(error) && !diskFullOf(error)

const giveUpAfterDefaultMs = 60_000
const firstPauseMs = 100
const pauseMaxMs = 2_000

/**
 * Retries an idempotent step while a store is unavailable.
 * @param step its name in the progress line: `storing a batch`
 * @throws the last error after `giveUpAfterMs`, the signal's reason, or any error that is not temporary
 */
export async function retryWhileUnavailable<T>(
  step: string,
  attempt: () => Promise<T>,
  { onMessage, signal, giveUpAfterMs = giveUpAfterDefaultMs, isTemporary = isOutage }: RetryOptions = {},
): Promise<T> {
  let failingSinceMs: number | undefined
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, pauseMaxMs)) {
    signal?.throwIfAborted()
    try {
      return await attempt()
    } catch (error) {
      failingSinceMs ??= performance.now()
      if (!isTemporary(error) || performance.now() - failingSinceMs > giveUpAfterMs) throw error
      if (pauseMs === firstPauseMs) onMessage?.(`Database unavailable while ${step}; retrying.`)
    }
    await pause(pauseMs, undefined, { ...(signal && { signal }) }).catch(() => signal?.throwIfAborted())
  }
}

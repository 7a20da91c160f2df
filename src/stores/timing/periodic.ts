import { setTimeout as pause } from 'node:timers/promises'

/**
 * Runs a task at once and after each interval until it is stopped. Failures do not end it; the timer keeps no process alive.
 * @param task receives a signal that aborts when the repetition is stopped
 * @param onFailure receives the message of an error of the task, except after the stop
 * @param intervalMs time from the end of one run to the start of the next, milliseconds
 * @returns function that stops it and resolves when the current run has ended
 */
export function runPeriodically(
  task: (signal: AbortSignal) => Promise<void>,
  onFailure: (reason: string) => void,
  intervalMs: number,
): () => Promise<void> {
  const stopping = new AbortController()
  const { signal } = stopping
  const running = repeat()
  return async () => {
    stopping.abort(new Error('The server stops.'))
    await running
  }

  async function repeat(): Promise<void> {
    while (!signal.aborted) {
      await task(signal).catch((error: unknown) => {
        if (!signal.aborted) onFailure(reasonOf(error))
      })
      await pause(intervalMs, undefined, { signal, ref: false }).catch(() => {})
    }
  }
}

/** @returns the message of an error, for a log line */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

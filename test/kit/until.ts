import { setTimeout as sleep } from 'node:timers/promises'

/** Polls until the condition holds. @throws when it does not within the time */
export async function until(condition: () => boolean | Promise<boolean>, withinMs = 40_000): Promise<void> {
  for (const deadlineMs = performance.now() + withinMs; !(await condition()); await sleep(25)) {
    if (performance.now() > deadlineMs) throw new Error(`not within ${withinMs} ms: ${condition}`)
  }
}

export async function holds(attempt: () => unknown): Promise<boolean> {
  try {
    await attempt()
    return true
  } catch {
    return false
  }
}

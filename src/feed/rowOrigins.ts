import { randomBytes } from 'node:crypto'
import type { RowOrigin } from './rows.ts'

/**
 * Makes the origins of rows from HTTP and standard input.
 * @param usesArrivalTime whether the time of arrival is the `updatedAt` of a row without one; the later row wins
 * @returns a function of the `updatedAt` that a sender sets for its rows, epoch milliseconds
 */
export function originsOf(usesArrivalTime: boolean, now: () => number): (updatedAtMs?: number) => RowOrigin {
  const importFile = randomBytes(8).toString('hex')
  let line = 0
  return (updatedAtMs) => {
    const nowMs = now()
    if (!usesArrivalTime || updatedAtMs !== undefined) return { nowMs, updatedAtMs, nextLine: () => 0 }
    return { nowMs, updatedAtMs: nowMs, isArrival: true, importFile, nextLine: () => ++line }
  }
}

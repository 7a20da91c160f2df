import { type RetainedRanges, readRetainedRanges } from '../../stores/postgres/retainedRanges.ts'
import { retryWhileUnavailable } from '../../stores/retry.ts'
import type { Writer } from './writer.ts'

/**
 * Reads from when rows of the writer's account are retained.
 * @throws the last error when Postgres stays unavailable
 */
export async function readRetained({ stores, accountId, onMessage, signal }: Writer): Promise<RetainedRanges> {
  const read = () => readRetainedRanges(stores.postgres, accountId)
  return await retryWhileUnavailable('reading from when rows are retained', read, { onMessage, signal })
}

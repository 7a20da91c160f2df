import type { Line } from '../import/parsers/lines.ts'
import type { Postgres } from '../stores/postgres/connection.ts'
import { retryWhileUnavailable } from '../stores/timing/retry.ts'
import type { FeedMetrics } from './metrics.ts'
import { type Batch, type QueueOptions, RowQueue, type RowStore } from './queue.ts'
import { FeedReader, type RowOrigin } from './readRows.ts'
import type { KeepRejects } from './rejectsFile.ts'
import { type FeedRow, isNeverStored, type RejectedRow, type RowResult, rejected } from './rows.ts'

export interface FeedParts extends Pick<QueueOptions, 'flushMs' | 'warn'> {
  postgres: Postgres
  store: RowStore
  keepRejects?: KeepRejects | undefined
  metrics?: FeedMetrics | undefined
}

/** Rows that a source has given together, and those of them that wait to be stored. */
export interface Submission {
  readonly read: readonly (FeedRow | RejectedRow)[]
  readonly batch: Batch
}

/** What all sources share: they read rows, submit them, and collect their results. */
export class Feed {
  readonly queue: RowQueue
  readonly #parts: FeedParts
  readonly #reader: FeedReader

  constructor(parts: FeedParts) {
    this.#parts = parts
    this.#reader = new FeedReader(parts.postgres)
    this.queue = new RowQueue(parts.store, {
      ...{ flushMs: parts.flushMs, warn: parts.warn },
      onFlush: (seconds) => parts.metrics?.timeFlush(seconds),
    })
  }

  /** @param signal unless given, an unavailable database is not waited for @throws Problem `unavailable`, or the reason of the signal */
  read(lines: readonly Line[], origin: RowOrigin, signal?: AbortSignal): Promise<(FeedRow | RejectedRow)[]> {
    const attempt = () => this.#reader.read(lines, origin)
    if (!signal) return attempt()
    const giveUpAfterMs = Number.POSITIVE_INFINITY
    return retryWhileUnavailable('looking up accounts', attempt, { signal, giveUpAfterMs, onMessage: this.#parts.warn })
  }

  /** @param waitMs how long a row waits while another writer has its account, milliseconds */
  submit(read: readonly (FeedRow | RejectedRow)[], waitMs: number): Submission {
    const rows = read.filter((row): row is FeedRow => !('reason' in row))
    return { read, batch: this.queue.add(rows, waitMs) }
  }

  /**
   * Counts the results of rows. Call it once, when all of them are known.
   * @returns a result for each row that was read, in order
   */
  collect({ read, batch }: Submission): RowResult[] {
    let index = 0
    const results = read.map((row) => {
      if ('reason' in row) return rejected(row.reason)
      const result = batch.results[index]
      index += 1
      return result ?? { result: 'retry' as const, reason: 'is not stored yet' }
    })
    for (const [at, { result }] of results.entries()) this.#parts.metrics?.countRow(read[at]?.resource, result)
    return results
  }

  /** Writes the rows that will not be stored, if `FEED_REJECTS` is set. @param source `http` or `stdin` */
  async writeRejects(source: string, submission: Submission, results: readonly RowResult[]): Promise<void> {
    await this.#parts.keepRejects?.(rejectsOf(submission, results).map((reject) => ({ source, ...reject })))
  }
}

/** @returns the rows that will not be stored, and why */
export function rejectsOf({ read }: Submission, results: readonly RowResult[]) {
  return results.flatMap((result, at) =>
    isNeverStored(result) ? [{ reason: result.reason, row: read[at]?.text ?? '' }] : [],
  )
}

import type { Line } from '../import/parsers/lines.ts'
import type { ResourceName } from '../import/resourceNames.ts'
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

/** The rows that a source has given together, and the batch of the rows that wait to be stored. */
export interface Submission {
  /** In order; a row that waits by its index in the batch, which keeps rows without a result and rows that are never stored. */
  readonly read: readonly (RejectedRow | { resource: ResourceName; index: number })[]
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
  submit(given: readonly (FeedRow | RejectedRow)[], waitMs: number): Submission {
    const rows: FeedRow[] = []
    const read = given.map((row) => ('reason' in row ? row : { resource: row.resource, index: rows.push(row) - 1 }))
    return { read, batch: this.queue.add(rows, waitMs) }
  }

  /**
   * Counts the results of rows. Call it once, when all of them are known.
   * @returns a result for each row that was read, in order
   */
  collect({ read, batch }: Submission): RowResult[] {
    const results = read.map((row) =>
      'reason' in row
        ? rejected(row.reason)
        : (batch.results[row.index] ?? { result: 'retry' as const, reason: 'is not stored yet' }),
    )
    for (const [at, { result }] of results.entries()) this.#parts.metrics?.countRow(read[at]?.resource, result)
    return results
  }

  /** Writes the rows that will not be stored, if `FEED_REJECTS` is set. @param source `http` or `stdin` */
  async writeRejects(source: string, submission: Submission, results: readonly RowResult[]): Promise<void> {
    await this.#parts.keepRejects?.(rejectsOf(submission, results).map((reject) => ({ source, ...reject })))
  }
}

/** @returns the rows that will not be stored, and why */
export function rejectsOf({ read, batch }: Submission, results: readonly RowResult[]) {
  return read.flatMap((row, at) => {
    const result = results[at]
    if (!result || !isNeverStored(result)) return []
    const text = 'text' in row ? row.text : batch.rows[row.index]?.text
    return [{ reason: result.reason, row: text ?? '' }]
  })
}

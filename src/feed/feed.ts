import type { Line } from '../import/parsers/lines.ts'
import type { Postgres } from '../stores/postgres/connection.ts'
import { retryWhileUnavailable } from '../stores/timing/retry.ts'
import type { AddedRows } from './addedRows.ts'
import type { FeedMetrics } from './metrics.ts'
import { type QueueOptions, RowQueue, type RowStore } from './queue.ts'
import { FeedReader } from './readRows.ts'
import type { KeepRejects } from './rejectsFile.ts'
import { type FeedRow, isNeverStored, type RejectedRow, type RowOrigin } from './rows.ts'

export interface FeedParts extends Pick<QueueOptions, 'flushMs' | 'warn'> {
  postgres: Postgres
  store: RowStore
  keepRejects?: KeepRejects | undefined
  metrics?: FeedMetrics | undefined
}

/** What all sources share: they read rows, add them to the queue, and name the rows that will not be stored. */
export class Feed {
  readonly queue: RowQueue
  readonly #parts: FeedParts
  readonly #reader: FeedReader

  constructor(parts: FeedParts) {
    const { postgres, store, flushMs, warn, metrics } = parts
    this.#parts = parts
    this.#reader = new FeedReader(postgres)
    this.queue = new RowQueue(store, { flushMs, warn, onFlush: metrics?.timeFlush, onResult: metrics?.countRow })
  }

  /** @param signal unless given, an unavailable database is not waited for @throws Problem `unavailable`, or the reason of the signal */
  read(lines: readonly Line[], origin: RowOrigin, signal?: AbortSignal): Promise<(FeedRow | RejectedRow)[]> {
    const attempt = () => this.#reader.read(lines, origin)
    if (!signal) return attempt()
    const giveUpAfterMs = Number.POSITIVE_INFINITY
    return retryWhileUnavailable('looking up accounts', attempt, { signal, giveUpAfterMs, onMessage: this.#parts.warn })
  }

  /** Writes those of the rows that will not be stored, if `FEED_REJECTS` is set. @param source `http` or `stdin` */
  async writeRejects(source: string, added: AddedRows): Promise<void> {
    const rejects = added.results.flatMap((result, index) => {
      if (!result || !isNeverStored(result)) return []
      return [{ source, reason: result.reason ?? '', row: added.rows[index]?.bytes.toString() ?? '' }]
    })
    await this.#parts.keepRejects?.(rejects)
    this.queue.held.forget(added)
  }
}

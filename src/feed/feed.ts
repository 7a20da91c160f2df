import type { Line } from '../import/parsers/lines.ts'
import type { Postgres } from '../stores/postgres/connection.ts'
import { retryWhileUnavailable } from '../stores/timing/retry.ts'
import type { AddedRows } from './addedRows.ts'
import { type QueueOptions, RowQueue, type RowStore } from './queue.ts'
import { openFeedReader } from './readRows.ts'
import type { KeepRejects } from './rejectsFile.ts'
import { type FeedRow, isRejectedOrConflict, type RejectedRow, type RowOrigin } from './rows.ts'

export type Feed = ReturnType<typeof openFeed>

/** Opens what all sources share: they read rows, add them to the queue, and name the rows that will not be stored. */
export function openFeed(
  parts: QueueOptions & { postgres: Postgres; store: RowStore; keepRejects?: KeepRejects | undefined },
) {
  const { postgres, store, keepRejects, warn: onMessage } = parts
  const readRows = openFeedReader(postgres)
  return {
    queue: new RowQueue(store, parts),

    /** @param signal unless given, an unavailable database is not waited for @throws Problem `unavailable`, or the reason of the signal */
    read(lines: readonly Line[], origin: RowOrigin, signal?: AbortSignal): Promise<(FeedRow | RejectedRow)[]> {
      const attempt = () => readRows(lines, origin)
      if (!signal) return attempt()
      const giveUpAfterMs = Number.POSITIVE_INFINITY
      return retryWhileUnavailable('looking up accounts', attempt, { signal, giveUpAfterMs, onMessage })
    },

    /** Names the rows that will not be stored, and frees the memory of all. @param source `http` or `stdin` */
    async finish(source: string, added: AddedRows): Promise<void> {
      const rejects = added.results.flatMap((result, index) => {
        if (!result || !isRejectedOrConflict(result)) return []
        return [{ source, reason: result.reason ?? '', row: added.rows[index]?.bytes.toString() ?? '' }]
      })
      await keepRejects?.(rejects)
      added.forget()
    },
  }
}

/** Where the rows of a feed come from. */
export interface Source {
  /** Adds rows to the queue until the source ends or the signal aborts. */
  run(feed: Feed, signal: AbortSignal): Promise<void>
  /** Waits until all results are told; call it once each row has a result. @throws why rows of the source are missing */
  drain?(): Promise<void>
  close?(): Promise<void>
}

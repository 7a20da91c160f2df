import type { Readable } from 'node:stream'
import { splitIntoLines } from '../import/parsers/lines.ts'
import { untilAborted } from '../import/untilAborted.ts'
import type { Feed } from './feed.ts'
import { type Batch, feedIsEnding } from './queue.ts'
import { type RowOrigin, rejected } from './rows.ts'

/** Reading stops while so many rows wait. */
const rowsMax = 50_000
/** A row whose account another writer has for longer is rejected, so that one account never stops the others. */
const waitMs = 60_000

export interface StreamProgress {
  /** Number of the last line up to which each row has its final result. */
  stored: number
  /** Rows among them that changed nothing, and whose stored row has a later `updatedAt`. */
  duplicates: number
  older: number
  /** Rows among them that differ from a stored row which they do not replace. */
  conflicts: number
  rejected: number
}

/**
 * Stores the rows of a stream of NDJSON until it ends, or until the signal aborts: an incomplete last line is then left out. The caller
 * closes the queue afterwards.
 * @param onProgress called after each flush
 * @returns function that resolves when each row has its final result
 * @throws the error of the stream
 */
export async function feedStream(
  feed: Feed,
  input: Readable,
  options: { origin: () => RowOrigin; signal: AbortSignal; onProgress(state: StreamProgress): void },
): Promise<() => Promise<void>> {
  const { origin, signal, onProgress } = options
  const open: { batch: Batch; lastLine: number }[] = []
  const state: StreamProgress = { stored: 0, duplicates: 0, older: 0, conflicts: 0, rejected: 0 }
  let collecting = Promise.resolve()
  /** Collects the results of the oldest batch; batches are collected in order. */
  const collectNext = async () => {
    const [oldest] = open
    if (!oldest) return
    const { batch, lastLine } = oldest
    await batch.done
    if (batch.results.includes(feedIsEnding)) {
      // The lines of this batch and all later ones are sent again, also those that were stored.
      open.length = 0
      return onProgress({ ...state })
    }
    open.shift()
    for (const [index, row] of batch.results.entries()) {
      const result = row?.result
      if (result === 'retry') batch.results[index] = rejected('waiting')
      if (result === 'duplicate') state.duplicates += 1
      else if (result === 'older') state.older += 1
      else if (result === 'conflict') state.conflicts += 1
      else if (result === 'rejected' || result === 'retry') state.rejected += 1
    }
    await feed.writeRejects('stdin', batch)
    state.stored = lastLine
    // A flush completes several batches, and gets one line.
    if (!open[0]?.batch.isDone) onProgress({ ...state })
  }
  try {
    for await (const lines of splitIntoLines(untilAborted(input, signal))) {
      const read = await feed.read(lines, origin(), signal)
      open.push({ batch: feed.queue.add(read, waitMs), lastLine: lines.at(-1)?.number ?? 0 })
      collecting = collecting.then(collectNext)
      // The returned function throws a failure; this handler only prevents an unhandled rejection before it.
      collecting.catch(() => {})
      await feed.queue.hasRoom(rowsMax, signal)
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
  return () => collecting
}

import type { Readable } from 'node:stream'
import { splitIntoLines } from '../import/parsers/lines.ts'
import { isBlank } from '../import/parsers/ndjsonParser.ts'
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
  /** With the number of the line of each row. */
  const open: { batch: Batch; numbers: number[]; lastLine: number }[] = []
  const state: StreamProgress = { stored: 0, conflicts: 0, rejected: 0 }
  let collecting = Promise.resolve()
  /** Collects the results of the oldest batch; batches are collected in order. */
  const collectNext = async () => {
    const [oldest] = open
    if (!oldest) return
    const { batch, numbers, lastLine } = oldest
    await batch.done
    // This row and all later lines are sent again, also those that were stored.
    const end = batch.results.indexOf(feedIsEnding)
    const endLine = numbers[end]
    if (endLine !== undefined) batch.results.length = end
    open.splice(0, endLine === undefined ? 1 : open.length)
    for (const [index, row] of batch.results.entries()) {
      if (row?.result === 'retry') batch.results[index] = rejected('waiting')
      if (row?.result === 'conflict') state.conflicts += 1
      else if (row?.reason !== undefined) state.rejected += 1
    }
    await feed.writeRejects('stdin', batch)
    state.stored = endLine === undefined ? lastLine : endLine - 1
    // A flush completes several batches, and gets one line.
    if (!open[0]?.batch.isDone) onProgress({ ...state })
  }
  try {
    for await (const lines of splitIntoLines(untilAborted(input, signal))) {
      const read = await feed.read(lines, origin(), signal)
      const numbers = lines.flatMap(({ number, text, error }) => (error !== undefined || !isBlank(text) ? number : []))
      open.push({ batch: feed.queue.add(read, waitMs), numbers, lastLine: lines.at(-1)?.number ?? 0 })
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

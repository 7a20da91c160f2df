import type { Readable } from 'node:stream'
import { splitIntoLines } from '../import/parsers/lines.ts'
import { untilAborted } from '../import/untilAborted.ts'
import type { Feed, Submission } from './feed.ts'
import type { RowOrigin } from './readRows.ts'
import { rejected } from './rows.ts'

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
 * @throws the error of the stream, Problem `unavailable`
 */
export async function feedStream(
  feed: Feed,
  input: Readable,
  {
    origin,
    signal,
    onProgress,
  }: { origin: () => RowOrigin; signal: AbortSignal; onProgress(state: StreamProgress): void },
): Promise<() => Promise<void>> {
  const open: (Submission & { readonly lastLine: number })[] = []
  const state: StreamProgress = { stored: 0, conflicts: 0, rejected: 0 }
  let collecting = Promise.resolve()
  /** Collects the oldest submission; they are collected in order. */
  const collectNext = async () => {
    const [submission] = open
    if (!submission) return
    await submission.batch.done
    open.shift()
    const results = feed.collect(submission).map((result) => (result.result === 'retry' ? rejected('waiting') : result))
    await feed.writeRejects('stdin', submission, results)
    for (const { result } of results) {
      if (result === 'conflict') state.conflicts += 1
      if (result === 'rejected') state.rejected += 1
    }
    state.stored = submission.lastLine
    // A flush completes several submissions, and gets one line.
    if (!open[0]?.batch.isDone) onProgress({ ...state })
  }
  try {
    for await (const lines of splitIntoLines(untilAborted(input, signal))) {
      const read = await feed.read(lines, origin(), signal)
      open.push({ ...feed.submit(read, waitMs), lastLine: lines.at(-1)?.number ?? 0 })
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

import type { Readable } from 'node:stream'
import { ExpectedError } from '../expectedError.ts'
import { splitIntoLines } from '../import/parsers/lines.ts'
import { endedWithinRow } from '../import/source.ts'
import { untilAborted } from '../import/untilAborted.ts'
import type { AddedRows } from './addedRows.ts'
import type { Feed, Source } from './feed.ts'
import { feedIsEnding } from './queue.ts'
import { rowBytesMax } from './readRows.ts'
import { type RowOrigin, type RowResult, rejected } from './rows.ts'

/** Reading stops while so many rows wait. */
const rowsMax = 50_000
/** A row whose account another writer has for longer is rejected, so that one account never stops the others. */
const waitMs = 60_000

export type StreamProgress = typeof noProgress

/** `line` is the number of the last line up to which each row has its final result; rows among them by result, the others are stored. */
const noProgress = { line: 0, duplicates: 0, older: 0, conflicts: 0, rejected: 0 }

/**
 * Stores the rows of a stream of NDJSON until it ends, or until the signal aborts: an incomplete last line is then left out. `run` throws
 * the error of the stream; `drain` fails if the stream ended within a row, which is then left out, or if every row was rejected.
 * @param onProgress called after each flush
 */
export function streamSource(input: Readable, origin: () => RowOrigin, onProgress: (progress: StreamProgress) => void) {
  const open: { added: AddedRows; lastLine: number }[] = []
  const progress = { ...noProgress }
  let rows = 0
  /** Why the stream is not stored whole. */
  let failure: Error | undefined
  let isEnded = false
  let collecting = Promise.resolve()
  /** Collects the results of the oldest rows that are open. */
  const collectNext = async (feed: Feed) => {
    const [oldest] = open
    if (!oldest) return
    const { added, lastLine } = oldest
    await added.done
    if (added.results.includes(feedIsEnding)) {
      // The sender repeats these lines and all later lines, also lines that were stored.
      open.length = 0
      return onProgress({ ...progress })
    }
    open.shift()
    for (const [index, row] of added.results.entries()) {
      if (row?.result === 'retry') added.results[index] = rejected('waiting')
      const counter = row && counters[row.result]
      if (counter) progress[counter] += 1
    }
    rows += added.results.length
    await feed.finish('stdin', added)
    progress.line = lastLine
    // A flush completes several of them, and gets one line.
    if (!open[0]?.added.isDone) onProgress({ ...progress })
  }
  return {
    async run(feed, signal) {
      try {
        for await (const lines of splitIntoLines(untilAborted(input, signal), rowBytesMax)) {
          const last = lines.at(-1)
          failure = endedWithinRow(last)
          if (failure) break
          const read = await feed.read(lines, origin(), signal)
          open.push({ added: feed.queue.add(read, waitMs), lastLine: last?.number ?? 0 })
          collecting = collecting.then(() => collectNext(feed))
          // `drain` throws a failure; this handler only prevents an unhandled rejection before it.
          collecting.catch(() => {})
          await feed.queue.hasRoom(rowsMax, signal)
        }
        isEnded = true
      } catch (error) {
        if (!signal.aborted) throw error
      }
    },
    async drain() {
      await collecting
      if (isEnded && rows > 0 && progress.rejected === rows) failure ??= new ExpectedError('every row was rejected.')
      if (failure) throw failure
    },
  } satisfies Source
}

/** A row that gets `retry` has waited for too long, and is rejected. */
const counters: Partial<Record<RowResult['result'], Exclude<keyof StreamProgress, 'line'>>> = {
  duplicate: 'duplicates',
  older: 'older',
  conflict: 'conflicts',
  rejected: 'rejected',
  retry: 'rejected',
}

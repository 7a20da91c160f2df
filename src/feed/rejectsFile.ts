import { closeSync, openSync, statSync } from 'node:fs'
import { appendFile } from 'node:fs/promises'
import { causeOf, ExpectedError } from '../expectedError.ts'

/** Keeps rows that will not be stored; the source of a row is `http` or `stdin`. */
export type KeepRejects = (rows: readonly { source: string; reason: string; row: string }[]) => Promise<unknown>

/** In bytes. The file has personal data and grows without end; another program moves or removes it. */
const bytesMax = 100_000_000

/**
 * Appends rejected rows to a file, NDJSON, readable by its user alone. The file is opened for each call, so it may be renamed at any time.
 * At 100 MB it gets no more rows until it is renamed or removed. A file that cannot be written later does not end the feed: the first
 * failure in a row is a warning.
 * @param print receives the rows that the file does not take
 * @throws ExpectedError if it cannot be opened
 */
export function toRejectsFile(path: string, warn: (line: string) => void, print: KeepRejects): KeepRejects {
  let isFailing = false
  try {
    closeSync(openSync(path, 'a', 0o600))
  } catch (error) {
    throw new ExpectedError(`FEED_REJECTS=${path}: it cannot be written: ${causeOf(error)}.`)
  }
  return async (rows) => {
    if (rows.length === 0) return
    const at = new Date().toISOString()
    try {
      if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) >= bytesMax)
        throw new Error('it has reached 100 MB; move or remove it')
      await appendFile(path, rows.map((row) => `${JSON.stringify({ at, ...row })}\n`).join(''), { mode: 0o600 })
      isFailing = false
    } catch (error) {
      if (!isFailing)
        warn(`Rejected rows are printed instead of written to ${path}: ${(error as Error).message}. See FEED_REJECTS.`)
      isFailing = true
      await print(rows)
    }
  }
}

import { type FileHandle, open } from 'node:fs/promises'
import { ExpectedError } from '../expectedError.ts'
import type { ImportOptions } from './options.ts'
import type { RawRow } from './parsers/ndjsonParser.ts'
import { printable } from './readers/printable.ts'
import { RemovedMonthError, type RowError } from './readers/rowError.ts'
import { SourceError } from './source.ts'
import type { Tally } from './tally.ts'

export interface Reject {
  /** Line of the file on which it begins, from 1. */
  line: number
  reason: string
  /** Its text in the file; null in the last line of a list that has reached its maximum size. */
  row: string | null
}

export type Rejects = ReturnType<typeof openRejects>

/** @param tally counts the rejected rows @param onMessage receives rejected rows that no file receives */
export function openRejects(
  { rejects: path, rejectLimit, isDryRun, isMoved }: ImportOptions,
  tally: Tally,
  onMessage: (line: string) => void,
) {
  const file = openRejectsFile(path, isDryRun ? () => {} : onMessage)
  const reasons = new RejectReasons()
  /** Rejected rows that the limit counts. */
  let rejected = 0
  /** @param isEnd whether all rows were read @throws TooManyRejects */
  function assertWithinLimit(isEnd = true): void {
    const { read } = tally
    if (rejectLimit === undefined) {
      if (rejected === firstRows && read === firstRows)
        throw new TooManyRejects(`The first ${firstRows} rows were all rejected; --max-rejects sets another limit.`)
      return
    }
    const isExceeded =
      'rows' in rejectLimit
        ? rejected > rejectLimit.rows
        : (isEnd || read >= firstRows) && rejected * 100 > rejectLimit.percent * read
    const shown = 'rows' in rejectLimit ? `${rejectLimit.rows}` : `${rejectLimit.percent}%`
    if (isExceeded)
      throw new TooManyRejects(`${rejected} of ${read} rows were rejected, more than --max-rejects ${shown}.`)
  }
  return {
    /** @throws TooManyRejects; SourceError when the file cannot be written */
    async add({ line, text: row }: RawRow, error: RowError): Promise<void> {
      tally.rejected += 1
      reasons.add(error.reasons, { line, row })
      await file.add({ line, reason: error.message, row })
      if (!(isMoved && error instanceof RemovedMonthError)) rejected += 1
      assertWithinLimit(false)
    },
    assertWithinLimit,
    summary: () => reasons.summary(),
    close: () => file.close(),
  }
}

const flushCharacters = 1 << 16

/** In bytes. Otherwise a file with only rejected rows would be stored twice. */
const listBytesMax = 100_000_000

/**
 * The file of rejected rows, NDJSON, up to 100 MB; its last line then says that it is incomplete. The first rejected row
 * creates it, readable by its user alone, or replaces the file of an earlier import. Without a path each row is passed to
 * `onMessage` as a line.
 */
export function openRejectsFile(path: string | undefined, onMessage: (line: string) => void) {
  let file: FileHandle | undefined
  let [pending, bytes] = ['', 0]
  let written = Promise.resolve()

  /** A pipe or a slow disk must not block the process, which extends its lease meanwhile. */
  async function write(): Promise<void> {
    const text = pending
    if (path === undefined || text === '') return
    pending = ''
    try {
      file ??= await openOwn(path)
      await file.appendFile(text)
    } catch (error) {
      throw new SourceError(`rejected rows can't be written to ${path} (${(error as Error).message}); see --rejects.`)
    }
  }

  // One write after the other: rows are rejected while a batch is stored, and by that batch.
  const flush = () => {
    written = written.then(write)
    return written
  }

  return {
    /** @throws SourceError when the file cannot be written */
    async add(reject: Reject): Promise<void> {
      if (bytes > listBytesMax) return
      let line = JSON.stringify(reject)
      bytes += Buffer.byteLength(line) + 1
      const reason = 'this list ends at 100 MB: this row and rejected rows after it are not listed'
      if (bytes > listBytesMax) line = JSON.stringify({ line: reject.line, reason, row: null } satisfies Reject)
      if (path === undefined) return onMessage(line)
      pending += `${line}\n`
      if (pending.length > flushCharacters) await flush()
    },

    /** @throws SourceError when the file cannot be written */
    close: () => flush().finally(() => file?.close()),
  }
}

/** `open` sets the mode of a new file only. A device, such as /dev/null, keeps its own mode. */
async function openOwn(path: string): Promise<FileHandle> {
  const file = await open(path, 'w', 0o600)
  if ((await file.stat()).isFile()) await file.chmod(0o600)
  return file
}

const shownReasons = 5
/** Reasons with a count of their own; the rows of any other reason are counted together. */
const countedReasons = 1_000
const shownCharacters = 200

/** Counts rejected rows by reason, with the first row of each. */
export class RejectReasons {
  /** By the reason without the digits of values; `reason` is the first one. */
  readonly #counts = new Map<string, { reason: string; rows: number; firstLine: number; firstRow: string }>()
  #rows = 0
  /** Reasons of all rows; a row may have several. */
  #reasons = 0

  add(reasons: readonly string[], { line, row }: Pick<Reject, 'line' | 'row'>): void {
    this.#rows += 1
    for (const reason of reasons) {
      this.#reasons += 1
      const [field = '', ...said] = reason.split(': ')
      const kind = [field, ...said.map((part) => part.replace(/\d[\d.,]*/g, '0'))].join()
      const count = this.#counts.get(kind)
      if (count) count.rows += 1
      else if (this.#counts.size < countedReasons)
        this.#counts.set(kind, { reason, rows: 1, firstLine: line, firstRow: printable(row ?? '', shownCharacters) })
    }
  }

  /** Returns the most frequent reasons in two lines each: rows and reason; then the first such row. Empty without rejects. */
  summary(): string[] {
    if (this.#rows === 0) return []
    const counts = [...this.#counts.values()].sort((one, other) => other.rows - one.rows).slice(0, shownReasons)
    const otherRows = counts.reduce((left, { rows }) => left - rows, this.#reasons)
    return [
      `Rejected rows: ${this.#rows}. Most frequent reasons:`,
      ...counts.flatMap(({ reason, rows, firstLine, firstRow }) =>
        countedLines(rows, printable(reason, shownCharacters), firstLine, firstRow),
      ),
      ...(otherRows > 0 ? [`  ${otherRows} × other reasons`] : []),
    ]
  }
}

/** @returns two lines: the number and what is counted; then the first of them, with its line in the file */
export function countedLines(count: number, what: string, line: number, first: string): string[] {
  const prefix = `  ${count} × `
  return [`${prefix}${what}`, `${' '.repeat(prefix.length)}line ${line}: ${first}`]
}

/** An import has stopped because it rejected too many rows; the message is a sentence. */
export class TooManyRejects extends ExpectedError {}

/** Rows after which a percentage is compared, and after which an import without a limit stops if it has rejected all of them. */
const firstRows = 1_000

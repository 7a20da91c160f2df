import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { addAbortSignal, pipeline, type Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { createGunzip } from 'node:zlib'
import { ExpectedError } from '../expectedError.ts'
import { type CsvOptions, readCsv } from './parsers/csvParser.ts'
import type { FileFormat } from './parsers/fileFormat.ts'
import { type Line, splitIntoLines } from './parsers/lines.ts'
import { type RawRow, rawRowOf, readNdjson } from './parsers/ndjsonParser.ts'
import { asUtf8 } from './parsers/sheetText.ts'
import { RowError } from './readers/rowError.ts'
import { untilAborted } from './untilAborted.ts'

export class SourceError extends ExpectedError {}

export interface ImportSource {
  rows: AsyncIterable<RawRow[]>
  /** Whether it is standard input, which may have no end. */
  isStream?: boolean
  /** Type of the values: JSON values, or texts of CSV cells. */
  from: 'json' | 'cells'
  /** Called before the rows are read. @returns identifier of the file's content */
  fingerprint(): Promise<string>
  /** Fraction of the file that was read, 0 to 1; undefined when its size is unknown. */
  fractionRead(): number | undefined
  /** When the file was changed, epoch milliseconds; absent: it is no file, and cannot be read twice. */
  modifiedMs?: number | undefined
}

/** A file that is imported; `-` is standard input. */
export interface ImportFile {
  path: string
  format: FileFormat
}

/** In bytes. Small, so that the objects of a chunk die before the garbage collector promotes them to the old generation. */
const chunkBytes = 1 << 16

/**
 * Opens a file, or standard input.
 * @param csv what to know and to check of the header of a CSV file
 * @param signal ends the reading, also while it waits for input
 * @param onChunk called with the uncompressed bytes before they are read
 * @throws SourceError at once when it cannot be opened, during iteration when it is damaged; FormatError during iteration
 */
export async function openSource(
  { path: file, format: { isCsv, isGzipped, delimiter } }: ImportFile,
  csv: Omit<CsvOptions, 'delimiter'>,
  signal: AbortSignal,
  onChunk?: (chunk: Buffer) => void,
): Promise<ImportSource> {
  const { stream, fractionRead, modifiedMs } = await openInput(file)
  const content: Readable = isGzipped ? pipeline(stream, createGunzip({ chunkSize: chunkBytes }), () => {}) : stream
  // The iterator throws the error; between two reads it has no listener, and an 'error' event without one ends the process.
  content.on('error', () => {})
  const isStream = file === '-'
  // What standard input has buffered at a signal is still read.
  if (!isStream) addAbortSignal(signal, content)
  const bytes = isStream ? untilAborted(content, signal) : content
  const chunks = withSourceErrors(isCsv ? asUtf8(bytes) : bytes, file, signal, onChunk)
  const beginning: Promise<IteratorResult<Buffer>>[] = []
  async function* allChunks(): AsyncGenerator<Buffer> {
    for (const read of beginning) {
      const { value, done } = await read
      if (done) return
      yield value
    }
    yield* chunks
  }
  const lines = splitIntoLines(allChunks())
  return {
    isStream,
    rows: isCsv ? readCsv(lines, { delimiter, ...csv }) : readNdjson(isStream ? wholeLines(lines) : lines),
    from: isCsv ? 'cells' : 'json',
    fingerprint: () => fingerprintOf(file, chunks, beginning),
    fractionRead,
    modifiedMs,
  }
}

/** Bytes by which standard input and pipes are recognized, which cannot be read twice; fewer if a pause of the writer ends them. */
const beginningBytes = 1 << 16
const pauseMs = 1_000

/**
 * Identifies a file by its content, so that a repeated import recognizes its lines; standard input and pipes by their
 * beginning.
 * @param beginning receives the reads of chunks; the last one may be unfinished
 * @returns 16 hexadecimal characters
 */
async function fingerprintOf(
  file: string,
  chunks: AsyncGenerator<Buffer>,
  beginning: Promise<IteratorResult<Buffer>>[],
): Promise<string> {
  const hash = createHash('sha256')
  if (file !== '-' && (await stat(file)).isFile()) {
    for await (const chunk of createReadStream(file)) hash.update(chunk)
  } else {
    for (let bytes = 0; bytes < beginningBytes; ) {
      const read = chunks.next()
      // The reader of the chunks throws its failure; this handler only prevents an unhandled rejection before it.
      read.catch(() => {})
      beginning.push(read)
      const found = await (bytes === 0 ? read : Promise.race([read, pause(pauseMs, undefined, { ref: false })]))
      if (found === undefined || found.done) break
      hash.update(found.value.subarray(0, beginningBytes - bytes))
      bytes += found.value.length
    }
  }
  return hash.digest('hex').slice(0, 16)
}

/** Yields the lines of standard input. @throws SourceError when it ends within a row: the command that writes it has failed */
async function* wholeLines(blocks: AsyncIterable<Line[]>) {
  for await (const lines of blocks) {
    const last = lines.at(-1)
    const error = endedWithinRow(last)
    // The reader of the lines explains a file that is one JSON array.
    if (error && !(last?.number === 1 && last.text.trimStart().startsWith('['))) throw error
    yield lines
  }
}

/** @returns undefined unless standard input ends with this line, which is no whole row */
export function endedWithinRow(line: Line | undefined): SourceError | undefined {
  if (!line?.isUnfinished || !(rawRowOf(line)?.fields instanceof RowError)) return undefined
  return new SourceError(
    `standard input ended within a row, in line ${line.number}; the command that writes it may have failed.`,
  )
}

async function openInput(path: string) {
  if (path === '-') return { stream: process.stdin, fractionRead: () => undefined, modifiedMs: undefined }
  try {
    const handle = await open(path, 'r')
    const stats = await handle.stat()
    if (stats.isDirectory()) {
      await handle.close()
      throw new SourceError(`${path} is a folder.`)
    }
    const stream = handle.createReadStream({ highWaterMark: chunkBytes })
    const fractionRead = () => (stats.size > 0 ? stream.bytesRead / stats.size : undefined)
    return { stream, fractionRead, modifiedMs: stats.isFile() ? stats.mtimeMs : undefined }
  } catch (error) {
    throw asSourceError(error, path)
  }
}

/** Yields the same bytes; converts errors of reading and decompressing to SourceError. */
async function* withSourceErrors(
  stream: AsyncIterable<Buffer>,
  path: string,
  signal: AbortSignal,
  onChunk: (chunk: Buffer) => void = () => {},
): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of stream) {
      onChunk(chunk)
      yield chunk
    }
  } catch (error) {
    throw signal.aborted ? signal.reason : asSourceError(error, path)
  }
}

function asSourceError(error: unknown, path: string): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') return new SourceError(`${path} does not exist.`)
  if (code === 'EACCES') return new SourceError(`${path} can't be read: permission denied.`)
  if (code === 'Z_BUF_ERROR') return new SourceError(`${path} is truncated: its gzip data is incomplete.`)
  if (code?.startsWith('Z_')) return new SourceError(`${path} is damaged: ${(error as Error).message}.`)
  if (code?.startsWith('E')) return new SourceError(`${path} can't be read: ${(error as Error).message}.`)
  return error
}

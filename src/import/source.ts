import type { ReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { FileFormat } from './fileFormat.ts'
import { fingerprintOf } from './fingerprint.ts'
import { readCsv } from './formats/csv.ts'
import { readLines } from './formats/lines.ts'
import { type RawRow, readNdjson } from './formats/ndjson.ts'

/** A file that can't be read, or not to its end; the message is one line. */
export class SourceError extends Error {
  override name = 'SourceError'
}

/** Rows on their way in. */
export interface Source {
  rows: AsyncIterable<RawRow[]>
  /** What their values are: of JSON, or the texts of CSV cells. */
  from: 'json' | 'cells'
  /** @returns what tells this content from any other */
  fingerprint(): Promise<string>
  /** How much of the file has been read, 0 to 1; undefined where nobody knows its size. */
  fractionRead(): number | undefined
}

/** Small, so that what is made of a chunk is gone before the garbage collector takes it for something that stays. */
const chunkBytes = 1 << 16

/**
 * Opens a file, or standard input.
 * @param signal ends the reading, also while it waits for more
 * @throws SourceError at once when it can't be opened, later when it turns out to be damaged
 */
export async function openSource(file: string, { isCsv, isGzipped }: FileFormat, signal: AbortSignal): Promise<Source> {
  const { stream, fractionRead }: { stream: Readable; fractionRead: Source['fractionRead'] } =
    file === '-' ? { stream: process.stdin, fractionRead: () => undefined } : await openFile(file)
  const content: Readable = isGzipped ? stream.pipe(createGunzip({ chunkSize: chunkBytes })) : stream
  if (content !== stream) stream.once('error', (error) => content.destroy(error))
  // Whoever reads is told by the iterator; between two reads nobody listens, and an unheard error ends the process.
  content.on('error', () => {})
  const stop = () => {
    content.destroy(signal.reason as Error)
    stream.destroy()
  }
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
  const lines = readLines(systemMessage(content, file))
  return {
    rows: isCsv ? readCsv(lines) : readNdjson(lines),
    from: isCsv ? 'cells' : 'json',
    fingerprint: () => fingerprintOf(file),
    fractionRead,
  }
}

async function openFile(path: string): Promise<{ stream: ReadStream; fractionRead: Source['fractionRead'] }> {
  try {
    const handle = await open(path, 'r')
    const stats = await handle.stat()
    if (stats.isDirectory()) {
      await handle.close()
      throw new SourceError(`${path} is a folder.`)
    }
    const stream = handle.createReadStream({ highWaterMark: chunkBytes })
    return { stream, fractionRead: () => (stats.size > 0 ? stream.bytesRead / stats.size : undefined) }
  } catch (error) {
    throw asSourceError(error, path)
  }
}

/** The same bytes; an error of reading or unpacking them says what is the matter with the file. */
async function* systemMessage(stream: Readable, path: string): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of stream) yield chunk as Buffer
  } catch (error) {
    throw asSourceError(error, path)
  }
}

function asSourceError(error: unknown, path: string): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') return new SourceError(`there is no file ${path}.`)
  if (code === 'EACCES') return new SourceError(`${path} may not be read by this user.`)
  if (code === 'EISDIR') return new SourceError(`${path} is a folder.`)
  if (code === 'Z_BUF_ERROR') return new SourceError(`${path} is cut short: its gzip data ends in the middle.`)
  if (code?.startsWith('Z_')) return new SourceError(`${path} is damaged: ${(error as Error).message}.`)
  if (code?.startsWith('E')) return new SourceError(`${path} can't be read: ${(error as Error).message}.`)
  return error
}

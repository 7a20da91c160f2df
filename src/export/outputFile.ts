import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { access, rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'

/** A file that can't be written; the message is one line. */
export class TargetError extends Error {
  override name = 'TargetError'
}

/** How much has been written out. */
export interface Written {
  rows: number
  /** Before compression. */
  bytes: number
}

/**
 * Writes rows to a new file, which has its name only once it is whole; until then, and after a failure, there is none.
 * @throws TargetError when there is such a file already or it can't be made, the reason of `signal`, or what `rows` throws
 */
export async function writeFile(
  path: string,
  rows: AsyncIterable<Buffer>,
  { isGzipped, signal }: { isGzipped: boolean; signal: AbortSignal },
): Promise<void> {
  await refuseExisting(path)
  // TRAP: in containers every process has the same number.
  const part = `${path}.${randomUUID()}.part`
  try {
    const file = createWriteStream(part, { flags: 'wx', flush: true })
    await (isGzipped
      ? pipeline(Readable.from(rows), createGzip(), file, { signal })
      : pipeline(Readable.from(rows), file, { signal }))
    await refuseExisting(path)
    await rename(part, path)
  } catch (error) {
    await rm(part, { force: true })
    if (signal.aborted) throw signal.reason
    throw isOfFiles(error) ? new TargetError(`${path} can't be written: ${error.message}.`) : error
  }
}

async function refuseExisting(path: string): Promise<void> {
  try {
    await access(path)
  } catch {
    return
  }
  throw new TargetError(`${path} is there already; choose another name or remove it.`)
}

function isOfFiles(error: unknown): error is NodeJS.ErrnoException {
  const { code, syscall } = error as NodeJS.ErrnoException
  return code !== undefined && ['open', 'write', 'fsync', 'close', 'rename'].includes(syscall ?? '')
}

const lineFeed = 10
const quote = 34

/** Hands on the bytes of a file of rows and counts both. A line feed within a quoted CSV cell ends no row. */
export async function* counted(
  chunks: AsyncIterable<Buffer>,
  isCsv: boolean,
  written: Written,
): AsyncGenerator<Buffer> {
  let isQuoted = false
  if (isCsv) written.rows -= 1
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += 1) {
      if (chunk[at] === lineFeed) written.rows += isQuoted ? 0 : 1
      else if (isCsv && chunk[at] === quote) isQuoted = !isQuoted
    }
    written.bytes += chunk.length
    yield chunk
  }
}

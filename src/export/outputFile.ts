import { createHash, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { ExpectedError } from '../expectedError.ts'

type FileOptions = { isCsv?: boolean; isGzipped: boolean; signal: AbortSignal }

/**
 * Writes rows to a new file that only its user can read. It gets its name only when it is complete; after a failure no file
 * remains. A line feed within a quoted CSV cell does not end a row.
 * @returns the number of rows, and size and SHA-256 (in hexadecimal) before compression
 * @throws ExpectedError when the file exists or cannot be written, the reason of `signal`, or what `rows` throws
 */
export async function writeFile(path: string, rows: AsyncIterable<Buffer>, options: FileOptions) {
  const { isCsv = false, isGzipped, signal } = options
  await refuseExisting(path)
  // Not the process id: it is the same in every container.
  const part = `${path}.${randomUUID()}.part`
  const hash = createHash('sha256')
  const written = { rows: isCsv ? -1 : 0, bytes: 0 }
  let isQuoted = false
  async function* measured() {
    for await (const chunk of rows) {
      for (let at = 0; at < chunk.length; at += 1) {
        if (chunk[at] === lineFeed) written.rows += isQuoted ? 0 : 1
        else if (isCsv && chunk[at] === quote) isQuoted = !isQuoted
      }
      written.bytes += chunk.length
      hash.update(chunk)
      yield chunk
    }
  }
  try {
    const file = (await open(part, 'wx', 0o600)).createWriteStream({ flush: true })
    await pipeline([Readable.from(measured()), ...(isGzipped ? [createGzip()] : []), file], { signal })
    await refuseExisting(path)
    await rename(part, path)
    return { ...written, sha256: hash.digest('hex') }
  } catch (error) {
    await rm(part, { force: true })
    if (signal.aborted) throw signal.reason
    throw isFileError(error) ? new ExpectedError(`${path} can't be written: ${error.message}.`) : error
  }
}

/** @throws ExpectedError when the file or folder exists */
export async function refuseExisting(path: string): Promise<void> {
  if (existsSync(path)) throw new ExpectedError(`${path} already exists; choose another name or remove it.`)
}

function isFileError(error: unknown): error is NodeJS.ErrnoException {
  const { code, syscall } = error as NodeJS.ErrnoException
  return code !== undefined && ['open', 'write', 'fsync', 'close', 'rename'].includes(syscall ?? '')
}

const lineFeed = 10
const quote = 34

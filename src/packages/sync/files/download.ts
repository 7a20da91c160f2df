import { Readable } from 'node:stream'
import type { CopySource } from '../source/checksums.ts'
import { SyncError, TemporaryError } from '../source/errors.ts'
import { received } from '../source/received.ts'
import type { Resource } from '../source/resources.ts'
import type { Storage, WriteOptions } from './storage.ts'

/** Maximum number of reads of a file; a further one follows a broken connection, to either side, or an export that lacks rows. */
const attemptsMax = 4

/** A file of S3 that is written by one request has no more bytes. */
const exportBytesMax = 5_000_000_000

/** A Parquet file of an export. */
export interface Download extends Pick<WriteOptions, 'isComplete'> {
  storage: Storage
  path: string
  /** Parameters of the list. */
  query?: object
  /** All by default. */
  fields?: readonly string[]
  /** Called with the `X-As-Of` of each read. */
  onAsOf?: (asOf: string) => void
}

/**
 * Writes an export to a Parquet file.
 * @returns its digest; undefined if it is not complete
 */
export async function downloadParquet(
  { client, signal }: CopySource,
  resource: Resource,
  { storage, path, isComplete = async () => true, ...options }: Download,
): Promise<string | undefined> {
  for (let attempt = 1; ; attempt++) {
    // The type of an export of any resource has only the fields that all resources have.
    const body = await client.exportFile(resource.path, 'parquet', { ...(options as object), signal })
    try {
      const content = onlyParquet(resource.path, Readable.fromWeb(body as never))
      return await storage.replace(path, content, { signal, isComplete })
    } catch (error) {
      const isFinal = error instanceof SyncError && !(error instanceof TemporaryError)
      if (isFinal || signal.aborted || attempt === attemptsMax) throw error
    }
  }
}

/**
 * Yields the same bytes.
 * @throws TemporaryError when they are no Parquet file, at once if they begin otherwise: a proxy may have sent a page with 200; SyncError
 *   when they are more than `bytesMax`
 */
export async function* onlyParquet(path: string, chunks: AsyncIterable<Buffer>, bytesMax = exportBytesMax) {
  let size = 0
  let [first, last] = [Buffer.alloc(0), Buffer.alloc(0)]
  for await (const chunk of chunks) {
    size += chunk.length
    first = Buffer.concat([first, chunk.subarray(0, 4 - first.length)])
    last = Buffer.concat([last, chunk.subarray(-4)]).subarray(-4)
    received(path, 'the beginning of the file', `${first}`, (text): text is string => 'PAR1'.startsWith(`${text}`))
    if (size > bytesMax)
      throw new SyncError(`the file of ${path} is larger than ${bytesMax / 1e9} GB; copy fewer days.`)
    yield chunk
  }
  // Without rows, a Parquet file still has both marks and the length of its footer.
  const isParquet = (ends: unknown): ends is string => ends === 'PAR1 … PAR1' && size >= 12
  received(path, 'the beginning and end of the file', `${first} … ${last}`, isParquet)
}

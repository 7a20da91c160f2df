import { Readable } from 'node:stream'
import type { Source } from '../source/checksums.ts'
import { received } from '../source/received.ts'
import type { Resource } from '../source/resources.ts'
import { replaceFile } from './folder.ts'

/** Maximum number of reads of a file; a further one follows a broken connection. */
const attemptsMax = 4

/** A Parquet file of an export. */
export interface Download {
  folder: string
  name: string
  /** Parameters of the list. */
  query?: object
  /** All by default. */
  fields?: readonly string[]
  /** Asked after the last row; if not, the file is dropped. */
  isComplete?: () => Promise<boolean>
  /** Called with the `X-As-Of` of each read. */
  onAsOf?: (asOf: string) => void
}

/**
 * Writes an export to a Parquet file, which gets its name when it is complete.
 * @returns its SHA-256; undefined if it is not complete
 */
export async function downloadParquet(
  { client, signal }: Source,
  { path }: Resource,
  { folder, name, isComplete = async () => true, ...options }: Download,
): Promise<string | undefined> {
  for (let attempt = 1; ; attempt++) {
    // The type of an export of any resource has only the fields that all resources have.
    const body = await client.exportFile(path, 'parquet', { ...(options as object), signal })
    try {
      const content = onlyParquet(path, Readable.fromWeb(body as never))
      return await replaceFile(folder, name, content, { signal, isComplete })
    } catch (error) {
      if (signal.aborted || attempt === attemptsMax) throw error
    }
  }
}

/** Yields the same bytes. @throws TemporaryError at their end when they are no Parquet file: a proxy may have sent a page with 200 */
async function* onlyParquet(path: string, chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let size = 0
  let [first, last] = [Buffer.alloc(0), Buffer.alloc(0)]
  for await (const chunk of chunks) {
    size += chunk.length
    first = Buffer.concat([first, chunk.subarray(0, 4 - first.length)])
    last = Buffer.concat([last, chunk.subarray(-4)]).subarray(-4)
    yield chunk
  }
  // Without rows, a Parquet file still has both marks and the length of its footer.
  const isParquet = (ends: unknown): ends is string => ends === 'PAR1 … PAR1' && size >= 12
  received(path, 'the beginning and end of the file', `${first} … ${last}`, isParquet)
}

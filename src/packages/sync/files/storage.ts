import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { SyncError } from '../source/errors.ts'

/** The bytes of a file, or its text. */
export type Content = AsyncIterable<Uint8Array> | Iterable<string>

export interface WriteOptions {
  signal?: AbortSignal
  /** Gets the file after the last byte; if not, the file is dropped. */
  isComplete?: (file: string) => Promise<boolean>
}

/** Where the files of a copy are. The path of a file is such as `clicks/day=2026-11-20/part.parquet`. */
export interface Storage {
  /** Such as `/data/copy` or `s3://bucket/prefix`. */
  name: string
  /**
   * Replaces a file as a whole: a process that ends at any moment leaves the old file or the new one.
   * @returns the digest of the file: its SHA-256, or its ETag in a bucket; undefined if it was dropped
   */
  replace(path: string, content: Content, options?: WriteOptions): Promise<string | undefined>
  /** @returns the text of a file; undefined if there is none */
  read(path: string): Promise<string | undefined>
  /** @returns the digest of a file; undefined if there is none */
  digestOf(path: string): Promise<string | undefined>
  /** Removes a file that has a folder of its own, if it exists. */
  remove(path: string): Promise<void>
  close(): Promise<void>
}

/**
 * Writes a local file that gets its name when it is complete.
 * @returns its SHA-256; undefined if it was dropped
 */
export async function writeFile(
  folder: string,
  name: string,
  content: Content,
  { signal, isComplete }: WriteOptions = {},
): Promise<string | undefined> {
  const [file, part] = [join(folder, name), join(folder, `.${name.replace(/^\./, '')}.tmp`)]
  await rm(part, { force: true })
  const digest = createHash('sha256')
  try {
    await pipeline(
      Readable.from(content),
      async function* (chunks: AsyncIterable<Uint8Array | string>) {
        for await (const chunk of chunks) {
          digest.update(chunk)
          yield chunk
        }
      },
      // Fails if the file exists.
      createWriteStream(part, { flush: true, flags: 'wx' }),
      { ...(signal && { signal }) },
    )
    if (isComplete && !(await isComplete(part))) return undefined
    await rename(part, file)
  } finally {
    // After a failure, there is a part of a file.
    await rm(part, { force: true })
  }
  return digest.digest('hex')
}

/**
 * Reads a state of an earlier run.
 * @param isValid decides whether its JSON is a state that this program writes
 * @returns undefined if there is none
 * @throws SyncError when it is not valid
 */
export async function readState<State>(
  storage: Storage,
  path: string,
  isValid: (value: unknown) => value is State,
): Promise<State | undefined> {
  const text = await storage.read(path)
  if (text === undefined) return undefined
  try {
    const state: unknown = JSON.parse(text)
    if (isValid(state)) return state
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  const problem = 'was changed by another program; delete it, and the next run writes it again.'
  throw new SyncError(`${storage.name}/${path} ${problem}`)
}

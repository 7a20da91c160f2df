import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { lstat, mkdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { SyncError } from '../source/errors.ts'

// TRAP: a symbolic link within the folder of a copy would move writes and removals out of it, so no path follows one.

/**
 * Makes a folder within another if it does not exist.
 * @throws SyncError when it is a symbolic link or a file
 */
export async function makeSubfolder(parent: string, name: string): Promise<string> {
  const folder = join(parent, name)
  await mkdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  if ((await lstat(folder)).isDirectory()) return folder
  throw new SyncError(`${folder} is a symbolic link or a file, not a folder; remove it.`)
}

/**
 * Writes a file that gets its name when it is complete.
 * @param isComplete asked after the last byte; if not, the file is dropped
 * @returns its SHA-256; undefined if it was dropped
 */
export async function replaceFile(
  folder: string,
  name: string,
  content: AsyncIterable<Uint8Array | string> | Iterable<string>,
  { signal, isComplete }: { signal?: AbortSignal; isComplete?: () => Promise<boolean> } = {},
): Promise<string | undefined> {
  const [file, part] = [join(folder, name), join(folder, `.${name.replace(/^\./, '')}.tmp`)]
  await rm(part, { force: true })
  const digest = createHash('sha256')
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
  if (isComplete && !(await isComplete())) {
    await rm(part)
    return undefined
  }
  await rename(part, file)
  return digest.digest('hex')
}

/** @returns the SHA-256 of a file; undefined if there is none, or a symbolic link */
export async function digestOf(file: string): Promise<string | undefined> {
  const digest = createHash('sha256')
  try {
    if (!(await lstat(file)).isFile()) return undefined
    await pipeline(createReadStream(file), digest)
  } catch {
    return undefined
  }
  return digest.digest('hex')
}

/**
 * Reads a state of an earlier run.
 * @param isValid decides whether its JSON is a state that this program writes
 * @returns undefined if there is none
 * @throws SyncError when it is not valid, or not a file
 */
export async function readStateFile<State>(
  folder: string,
  name: string,
  isValid: (value: unknown) => value is State,
): Promise<State | undefined> {
  const file = join(folder, name)
  try {
    if (!(await lstat(file)).isFile()) throw new SyncError(`${file} is a symbolic link or a folder; remove it.`)
    const state: unknown = JSON.parse(await readFile(file, 'utf8'))
    if (isValid(state)) return state
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new SyncError(`${file} was changed by another program; delete it, and the next run writes it again.`)
}

import { type FileHandle, open } from 'node:fs/promises'
import { SourceError } from './source.ts'

/** A rejected row. */
export interface Reject {
  /** Line of the file on which it begins, from 1. */
  line: number
  reason: string
  /** Its text in the file; null in the last line of a list that has reached its maximum size. */
  row: string | null
}

const flushBytes = 1 << 16

/** In bytes. Otherwise a file with only rejected rows would be stored twice. */
const listBytesMax = 100_000_000

/**
 * The file of rejected rows, NDJSON, up to 100 MB; its last line then says that it is incomplete. The first rejected row
 * creates it, readable by its user alone, or replaces the file of an earlier import. Without a path each row is passed to
 * `onMessage` as a line.
 */
export class Rejects {
  readonly #path: string | undefined
  readonly #onMessage: (line: string) => void
  #handle: FileHandle | undefined
  #pending: string[] = []
  #pendingBytes = 0
  #bytes = 0
  #isFull = false

  constructor(path: string | undefined, onMessage: (line: string) => void) {
    this.#path = path
    this.#onMessage = onMessage
  }

  /** @throws SourceError when the file cannot be written */
  async add(reject: Reject): Promise<void> {
    if (this.#isFull) return
    const line = JSON.stringify(reject)
    this.#bytes += Buffer.byteLength(line) + 1
    if (this.#bytes <= listBytesMax) return await this.#write(line)
    this.#isFull = true
    const reason = 'this list ends at 100 MB: this row and rejected rows after it are not listed'
    await this.#write(JSON.stringify({ line: reject.line, reason, row: null } satisfies Reject))
  }

  /** @throws SourceError when the file cannot be written */
  async close(): Promise<void> {
    try {
      if (this.#path !== undefined) await this.#flush(this.#path)
    } finally {
      await this.#handle?.close()
    }
  }

  async #write(line: string): Promise<void> {
    if (this.#path === undefined) return this.#onMessage(line)
    this.#pending.push(line, '\n')
    this.#pendingBytes += line.length
    if (this.#pendingBytes > flushBytes) await this.#flush(this.#path)
  }

  async #flush(path: string): Promise<void> {
    if (this.#pending.length === 0) return
    const text = this.#pending.join('')
    this.#pending = []
    this.#pendingBytes = 0
    try {
      this.#handle ??= await openOwn(path)
      await this.#handle.appendFile(text)
    } catch (error) {
      throw new SourceError(`rejected rows can't be written to ${path} (${(error as Error).message}); see --rejects.`)
    }
  }
}

/** `open` sets the mode of a new file only. A device, such as /dev/null, keeps its own mode. */
async function openOwn(path: string): Promise<FileHandle> {
  const handle = await open(path, 'w', 0o600)
  try {
    if ((await handle.stat()).isFile()) await handle.chmod(0o600)
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}

import { type FileHandle, open } from 'node:fs/promises'
import { SourceError } from './source.ts'

/** A row that was not taken. */
export interface Reject {
  /** Line of the file on which it begins, from 1. */
  line: number
  reason: string
  /** Its text as it stands in the file. */
  row: string
}

const flushBytes = 1 << 16

/**
 * The file of rejected rows, NDJSON. It appears with the first one, in the place of the one of an earlier run.
 * Without a path the rows go to `say`, a line each, so that none is lost.
 */
export class Rejects {
  readonly #path: string | undefined
  readonly #say: (line: string) => void
  #handle: FileHandle | undefined
  #pending: string[] = []
  #pendingBytes = 0

  constructor(path: string | undefined, say: (line: string) => void) {
    this.#path = path
    this.#say = say
  }

  /** @throws SourceError when the file can't be written */
  async add(reject: Reject): Promise<void> {
    const line = JSON.stringify(reject)
    if (this.#path === undefined) return this.#say(line)
    this.#pending.push(line, '\n')
    this.#pendingBytes += line.length
    if (this.#pendingBytes > flushBytes) await this.#flush(this.#path)
  }

  async close(): Promise<void> {
    if (this.#path !== undefined) await this.#flush(this.#path)
    await this.#handle?.close()
  }

  async #flush(path: string): Promise<void> {
    if (this.#pending.length === 0) return
    const text = this.#pending.join('')
    this.#pending = []
    this.#pendingBytes = 0
    try {
      this.#handle ??= await open(path, 'w')
      await this.#handle.appendFile(text)
    } catch (error) {
      throw new SourceError(`rejected rows can't be written to ${path} (${(error as Error).message}); see --rejects.`)
    }
  }
}

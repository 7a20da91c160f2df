import type { PGlite } from '@electric-sql/pglite'

/** The part of PGlite that the server uses: one session that executes raw protocol messages. */
export type Engine = Pick<PGlite, 'execProtocolRawStream' | 'isInTransaction'>

/** One session of Postgres for several users: one of them holds it, the others wait in order of arrival. */
export class SharedSession {
  readonly engine: Engine
  /** Undefined: the session is free. */
  #holder: object | undefined
  readonly #waiting: { user: object; begin: () => void }[] = []
  /** Number of cycles that clients have run. */
  cycles = 0

  constructor(engine: Engine) {
    this.engine = engine
  }

  /** Waits until the user holds the session; a holder has it at once. */
  async acquire(user: object): Promise<void> {
    this.#holder ??= user
    if (this.#holder !== user) await new Promise<void>((begin) => this.#waiting.push({ user, begin }))
  }

  /** Passes the session on. Its holder has ended its cycle and its transaction. */
  release(): void {
    const next = this.#waiting.shift()
    this.#holder = next?.user
    next?.begin()
  }

  /** Runs messages of the holder. An error of a statement is part of the response; if the engine has ended, so must this process. */
  async run(messages: Buffer): Promise<Buffer> {
    const response: Buffer[] = []
    try {
      await this.engine.execProtocolRawStream(messages, { onRawData: (data) => response.push(Buffer.from(data)) })
    } catch (error) {
      console.error(`the session ended: ${error instanceof Error ? error.message : JSON.stringify(error)}`)
      process.exit(1)
    }
    return Buffer.concat(response)
  }
}

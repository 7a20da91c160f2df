import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { closeStatement, fatalError, type Incoming, MessageReader, simpleQuery, sync } from './messages.ts'
import type { SharedSession } from './sharedSession.ts'

/**
 * A client of the shared session. It holds the session from the first message of a cycle to its Sync, and from BEGIN to the end of the
 * transaction. While it waits for the session, the server reads no more of its messages.
 */
export class Client {
  readonly #socket: Socket
  readonly #session: SharedSession
  readonly #idleInTransactionMs: number
  #idleTimer: NodeJS.Timeout | undefined
  /** Messages that have not run. */
  #arrived: Buffer[] = []
  /** Whether messages have run whose Sync has not arrived. */
  #isCycleOpen = false
  /** Its named prepared statements. */
  readonly #statements = new Set<string>()

  constructor(socket: Socket, session: SharedSession, idleInTransactionMs: number) {
    this.#socket = socket
    this.#session = session
    this.#idleInTransactionMs = idleInTransactionMs
  }

  /** Serves the client until its connection ends in any way. */
  async serve(startupResponse: Buffer): Promise<void> {
    const reader = new MessageReader()
    for await (const chunk of chunksOf(this.#socket)) {
      if (this.#socket.writableEnded) continue
      for (const incoming of reader.read(chunk)) await this.#receive(incoming, startupResponse)
      if (this.#arrived.length > 0 && !this.#socket.writableEnded) await this.#run(true)
    }
    await this.#leave()
  }

  async #receive(incoming: Incoming, startupResponse: Buffer): Promise<void> {
    if (incoming.kind === 'encryption') this.#socket.write('N')
    else if (incoming.kind === 'startup') this.#socket.write(startupResponse)
    else if (incoming.kind === 'end') this.#socket.end()
    else if (incoming.kind === 'refused') this.#socket.end(fatalError(incoming.code, incoming.message))
    else {
      const { message, prepared, closed, endsCycle } = incoming
      if (prepared) this.#statements.add(prepared)
      this.#statements.delete(closed)
      this.#arrived.push(message)
      if (endsCycle) await this.#run(false)
    }
  }

  async #run(isCycleOpen: boolean): Promise<void> {
    clearTimeout(this.#idleTimer)
    await this.#session.acquire(this)
    if (this.#socket.destroyed) return
    this.#isCycleOpen = isCycleOpen
    this.#session.cycles += 1
    this.#socket.write(await this.#session.run(Buffer.concat(this.#arrived.splice(0))))
    // Lets the event loop process disconnections.
    await nextTurn()
    if (isCycleOpen || this.#session.isInTransaction()) {
      this.#idleTimer = setTimeout(() => this.#expire(), this.#idleInTransactionMs)
    } else this.#session.release()
  }

  /** Rolls an open transaction back and drops the prepared statements. */
  async #leave(): Promise<void> {
    clearTimeout(this.#idleTimer)
    await this.#session.acquire(this)
    if (this.#isCycleOpen) await this.#session.run(sync)
    if (this.#session.isInTransaction()) await this.#session.run(simpleQuery('ROLLBACK'))
    if (this.#statements.size > 0) {
      await this.#session.run(Buffer.concat([...[...this.#statements].map(closeStatement), sync]))
    }
    this.#session.release()
  }

  #expire(): void {
    // Not end(), which waits until a client that may not read has read everything.
    this.#socket.write(fatalError('25P03', 'terminating connection due to idle-in-transaction timeout'))
    this.#socket.destroy()
  }
}

/** A connection that breaks ends like one that the client closes. */
async function* chunksOf(socket: Socket): AsyncGenerator<Buffer> {
  try {
    yield* socket
  } catch {}
}

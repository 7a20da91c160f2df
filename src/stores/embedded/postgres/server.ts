import { rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { PGlite } from '@electric-sql/pglite'
import {
  closeStatement,
  errorResponse,
  isCopyFromClient,
  MessageReader,
  messageType,
  nameOfClosed,
  nameOfParsed,
  refusedCopy,
  simpleQuery,
  startupMessage,
  sync,
} from './messages.ts'

/** What the server needs of PGlite: one session that answers raw protocol messages. */
export type Session = Pick<PGlite, 'execProtocolRawStream' | 'isInTransaction'>

export interface ServerOptions {
  connectionsMax: number
  /** How long a client may stay silent in a transaction, which stalls every other one. */
  idleInTransactionMs: number
  /** A single session has none of Postgres' background processes: nobody else checkpoints, vacuums or analyzes. */
  checkpointEveryMs: number
  vacuumEveryMs: number
}

const defaultOptions: ServerOptions = {
  connectionsMax: 100,
  idleInTransactionMs: 30_000,
  checkpointEveryMs: 5 * 60_000,
  vacuumEveryMs: 60 * 60_000,
}

/** Bytes of unread requests of one client above which we stop reading from it. */
const waitingBytesMax = 1024 * 1024

/**
 * Serves one Postgres session to many clients over a Unix socket, turn by turn: a client has the session from the first
 * message of a cycle to its Sync, and from BEGIN to the end of the transaction. A client that goes away in between
 * is rolled back. Clients share what belongs to a session (settings, advisory session locks); prepared statements are
 * dropped with their connection. There is no query cancelling, no LISTEN and no COPY FROM STDIN.
 */
export async function servePostgres(
  session: Session,
  path: string,
  options: Partial<ServerOptions> = {},
): Promise<{ close(): Promise<void> }> {
  const server = new PostgresServer(session, { ...defaultOptions, ...options })
  await server.listen(path)
  return server
}

interface Connection {
  socket: Socket
  reader: MessageReader
  /** Whole messages that wait for their turn. */
  waiting: Buffer[]
  waitingBytes: number
  /** Named prepared statements, to be dropped when it goes away. */
  statements: Set<string>
  /** It said good-bye; what it sent before is still run. */
  leaving: boolean
  isClosed: boolean
}

class PostgresServer {
  readonly #session: Session
  readonly #options: ServerOptions
  readonly #server: Server
  readonly #connections = new Set<Connection>()
  /** Connections that have something to run, in order of arrival. */
  readonly #queue = new Set<Connection>()
  /** The connection in the middle of a cycle or a transaction; nobody else may run anything. */
  #holder: Connection | undefined
  #cycleOpen = false
  #running: Promise<void> | undefined
  #silence: NodeJS.Timeout | undefined
  #greeting: Buffer = Buffer.alloc(0)
  /** Statements of our own that wait for a moment between two transactions. */
  readonly #maintenance = new Set<string>()
  readonly #clocks: NodeJS.Timeout[] = []
  #cyclesRun = 0

  constructor(session: Session, options: ServerOptions) {
    this.#session = session
    this.#options = options
    this.#server = createServer((socket) => this.#acceptConnection(socket))
  }

  async listen(path: string): Promise<void> {
    // Answered once and repeated to every client: parameters, key, ready. No client's own start-up packet reaches the engine.
    this.#greeting = await this.#run(startupMessage())
    rmSync(path, { force: true })
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject).listen(path, resolve)
    })
    this.#repeat('CHECKPOINT', this.#options.checkpointEveryMs)
    this.#repeat('VACUUM (ANALYZE)', this.#options.vacuumEveryMs)
  }

  /** Lets the cycle that runs end, rolls back what is open and cuts every client off. */
  async close(): Promise<void> {
    for (const clock of this.#clocks) clearInterval(clock)
    this.#server.close()
    for (const connection of this.#connections) connection.socket.destroy()
    while (this.#connections.size > 0 || this.#running) await nextTurn()
  }

  #acceptConnection(socket: Socket): void {
    socket.on('error', () => socket.destroy())
    if (this.#connections.size >= this.#options.connectionsMax) {
      socket.end(errorResponse('FATAL', '53300', 'sorry, too many clients already'))
      return
    }
    const connection: Connection = {
      socket,
      reader: new MessageReader(),
      waiting: [],
      waitingBytes: 0,
      statements: new Set(),
      leaving: false,
      isClosed: false,
    }
    this.#connections.add(connection)
    socket.on('data', (chunk) => this.#receive(connection, chunk))
    socket.on('close', () => {
      connection.isClosed = true
      connection.waiting = []
      this.#queue.add(connection)
      this.#wake()
    })
  }

  #receive(connection: Connection, chunk: Buffer): void {
    const { socket, reader } = connection
    reader.add(chunk)
    for (;;) {
      const next = reader.next()
      if (!next) break
      switch (next.kind) {
        case 'encryption':
          socket.write('N')
          break
        case 'startup':
          socket.write(this.#greeting)
          break
        case 'end':
          connection.leaving = true
          break
        case 'refused':
          socket.end(errorResponse('FATAL', next.code, next.message))
          return
        case 'message':
          connection.waiting.push(next.message)
          connection.waitingBytes += next.message.length
      }
    }
    if (connection.waitingBytes > waitingBytesMax) socket.pause()
    if (connection.waiting.length > 0) {
      this.#queue.add(connection)
      this.#wake()
    } else if (connection.leaving) socket.end()
  }

  #wake(): void {
    this.#running ??= this.#processQueue().finally(() => {
      this.#running = undefined
    })
  }

  async #processQueue(): Promise<void> {
    clearTimeout(this.#silence)
    for (;;) {
      if (!this.#holder) await this.#runMaintenance()
      const connection = this.#holder ?? this.#queue.values().next().value
      if (!connection || !this.#queue.delete(connection)) break
      if (connection.isClosed) await this.#removeConnection(connection)
      else await this.#runCycle(connection)
      // Lets a client that went away meanwhile be noticed.
      await nextTurn()
    }
    const holder = this.#holder
    if (holder) this.#silence = setTimeout(() => this.#expire(holder), this.#options.idleInTransactionMs)
  }

  /** Runs a client's messages up to its next Sync or simple query, or all that are there. */
  async #runCycle(connection: Connection): Promise<void> {
    const { socket, waiting, statements } = connection
    const last = waiting.findIndex((message) => endsCycle(message))
    const batch = waiting.splice(0, last < 0 ? waiting.length : last + 1)
    for (const [place, message] of batch.entries()) {
      connection.waitingBytes -= message.length
      const type = messageType(message)
      if ((type === 'Q' || type === 'P') && isCopyFromClient(message)) batch[place] = refusedCopy(message)
      const parsed = type === 'P' && nameOfParsed(message)
      if (parsed) statements.add(parsed)
      const closed = type === 'C' && nameOfClosed(message)
      if (closed) statements.delete(closed)
    }
    socket.write(await this.#run(Buffer.concat(batch)))
    this.#cyclesRun += 1
    this.#cycleOpen = last < 0
    this.#holder = this.#cycleOpen || this.#session.isInTransaction() ? connection : undefined
    if (socket.isPaused() && connection.waitingBytes <= waitingBytesMax) socket.resume()
    if (waiting.length > 0 || connection.isClosed) this.#queue.add(connection)
    else if (connection.leaving) socket.end()
  }

  /** Runs a statement of our own again and again, but not when nothing else ran meanwhile. */
  #repeat(statement: string, everyMs: number): void {
    let seen = this.#cyclesRun
    const clock = setInterval(() => {
      if (this.#cyclesRun === seen) return
      seen = this.#cyclesRun
      this.#maintenance.add(statement)
      this.#wake()
    }, everyMs)
    this.#clocks.push(clock)
  }

  async #runMaintenance(): Promise<void> {
    for (const statement of this.#maintenance) {
      this.#maintenance.delete(statement)
      const answer = await this.#run(simpleQuery(statement))
      if (messageType(answer) === 'E') console.error(`${statement}: ${answer.toString('latin1')}`)
    }
  }

  async #removeConnection(connection: Connection): Promise<void> {
    if (this.#holder === connection) {
      if (this.#cycleOpen) await this.#run(sync)
      if (this.#session.isInTransaction()) await this.#run(simpleQuery('ROLLBACK'))
      this.#cycleOpen = false
      this.#holder = undefined
    }
    if (connection.statements.size > 0) {
      await this.#run(Buffer.concat([...[...connection.statements].map(closeStatement), sync]))
    }
    this.#connections.delete(connection)
  }

  #expire(holder: Connection): void {
    // Not end(), which waits until a client that may not read has read everything.
    holder.socket.write(errorResponse('FATAL', '25P03', 'terminating connection due to idle-in-transaction timeout'))
    holder.socket.destroy()
  }

  /** An error of a statement is an answer; one that is thrown means that the engine has ended, and so must this process. */
  async #run(messages: Buffer): Promise<Buffer> {
    const answer: Buffer[] = []
    try {
      await this.#session.execProtocolRawStream(messages, { onRawData: (data) => answer.push(Buffer.from(data)) })
    } catch (error) {
      console.error(`the session ended: ${error instanceof Error ? error.message : JSON.stringify(error)}`)
      process.exit(1)
    }
    return Buffer.concat(answer)
  }
}

function endsCycle(message: Buffer): boolean {
  const type = messageType(message)
  return type === 'S' || type === 'Q'
}

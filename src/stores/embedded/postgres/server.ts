import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { PGlite } from '@electric-sql/pglite'
import { maintenance } from './maintenance.ts'
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

/** The part of PGlite that the server uses: one session that executes raw protocol messages. */
export type Session = Pick<PGlite, 'execProtocolRawStream' | 'isInTransaction'>

const defaultOptions = {
  connectionsMax: 100,
  /** Time limit of an idle transaction, which blocks every other client. */
  idleInTransactionMs: 30_000,
  maintenance,
}

/** Bytes of queued requests above which the server stops reading from a client. */
const queuedBytesMax = 1024 * 1024

/**
 * Shares one Postgres session among the clients of a Unix socket. A client has it from the first message of a cycle to its
 * Sync, and from BEGIN to the end of the transaction, which is rolled back if the client disconnects. Clients share settings
 * and advisory session locks; prepared statements end with their connection. There is no query cancelling, no LISTEN and no
 * COPY FROM STDIN.
 */
export async function servePostgres(
  session: Session,
  path: string,
  options: Partial<typeof defaultOptions> = {},
): Promise<{ close(): Promise<void> }> {
  const server = new PostgresServer(session, { ...defaultOptions, ...options })
  await server.listen(path)
  return server
}

class Connection {
  readonly socket: Socket
  readonly reader = new MessageReader()
  queued: Buffer[] = []
  queuedBytes = 0
  /** Named prepared statements, to be dropped when it disconnects. */
  readonly statements = new Set<string>()
  /** The client has terminated; its earlier messages still run. */
  isEnding = false
  isClosed = false

  constructor(socket: Socket) {
    this.socket = socket
  }
}

class PostgresServer {
  readonly #session: Session
  readonly #options: typeof defaultOptions
  readonly #server: Server
  readonly #connections = new Set<Connection>()
  /** Connections with queued messages, in order of arrival. */
  readonly #queue = new Set<Connection>()
  /** The connection in the middle of a cycle or a transaction; it has exclusive use of the session. */
  #holder: Connection | undefined
  #cycleOpen = false
  #running: Promise<void> | undefined
  #idleTimer: NodeJS.Timeout | undefined
  #startupResponse: Buffer = Buffer.alloc(0)
  /** Maintenance statements that wait for the end of the current transaction. */
  readonly #maintenance = new Set<string>()
  readonly #timers: NodeJS.Timeout[] = []
  #cyclesRun = 0

  constructor(session: Session, options: typeof defaultOptions) {
    this.#session = session
    this.#options = options
    this.#server = createServer((socket) => this.#acceptConnection(socket))
  }

  async listen(path: string): Promise<void> {
    // Executed once and sent to every client: parameters, key, ready. The startup packet of a client never reaches the engine.
    this.#startupResponse = await this.#run(startupMessage())
    rmSync(path, { force: true })
    await once(this.#server.listen(path), 'listening')
    for (const repeated of this.#options.maintenance) this.#repeat(repeated)
  }

  /** Waits for the running cycle, rolls back an open transaction and disconnects every client. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
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
    const connection = new Connection(socket)
    this.#connections.add(connection)
    socket.on('data', (chunk) => this.#receive(connection, chunk))
    socket.on('close', () => {
      connection.isClosed = true
      connection.queued = []
      this.#queue.add(connection)
      this.#wake()
    })
  }

  #receive(connection: Connection, chunk: Buffer): void {
    const { socket, reader } = connection
    reader.add(chunk)
    for (let next = reader.next(); next; next = reader.next()) {
      if (next.kind === 'refused') {
        socket.end(errorResponse('FATAL', next.code, next.message))
        return
      }
      if (next.kind === 'encryption') socket.write('N')
      else if (next.kind === 'startup') socket.write(this.#startupResponse)
      else if (next.kind === 'end') connection.isEnding = true
      else {
        connection.queued.push(next.message)
        connection.queuedBytes += next.message.length
      }
    }
    if (connection.queuedBytes > queuedBytesMax) socket.pause()
    if (connection.queued.length > 0) {
      this.#queue.add(connection)
      this.#wake()
    } else if (connection.isEnding) socket.end()
  }

  #wake(): void {
    this.#running ??= this.#processQueue().finally(() => {
      this.#running = undefined
    })
  }

  async #processQueue(): Promise<void> {
    clearTimeout(this.#idleTimer)
    for (;;) {
      if (!this.#holder) await this.#runMaintenance()
      const connection = this.#holder ?? this.#queue.values().next().value
      if (!connection || !this.#queue.delete(connection)) break
      if (connection.isClosed) await this.#removeConnection(connection)
      else await this.#runCycle(connection)
      // Lets the event loop process disconnections.
      await nextTurn()
    }
    const holder = this.#holder
    if (holder) this.#idleTimer = setTimeout(() => this.#expire(holder), this.#options.idleInTransactionMs)
  }

  /** Runs a client's messages up to its next Sync or simple query, or all that are queued. */
  async #runCycle(connection: Connection): Promise<void> {
    const { socket, queued, statements } = connection
    const last = queued.findIndex((message) => 'SQ'.includes(messageType(message)))
    const batch = queued.splice(0, last < 0 ? queued.length : last + 1)
    for (const [index, message] of batch.entries()) {
      connection.queuedBytes -= message.length
      const type = messageType(message)
      if ((type === 'Q' || type === 'P') && isCopyFromClient(message)) batch[index] = refusedCopy(message)
      const parsed = type === 'P' && nameOfParsed(message)
      if (parsed) statements.add(parsed)
      const closed = type === 'C' && nameOfClosed(message)
      if (closed) statements.delete(closed)
    }
    socket.write(await this.#run(Buffer.concat(batch)))
    this.#cyclesRun += 1
    this.#cycleOpen = last < 0
    this.#holder = this.#cycleOpen || this.#session.isInTransaction() ? connection : undefined
    if (socket.isPaused() && connection.queuedBytes <= queuedBytesMax) socket.resume()
    if (queued.length > 0 || connection.isClosed) this.#queue.add(connection)
    else if (connection.isEnding) socket.end()
  }

  /** Runs a maintenance statement at an interval, unless no client has run anything since. */
  #repeat({ statement, everyMs }: (typeof maintenance)[number]): void {
    let seen = this.#cyclesRun
    const timer = setInterval(() => {
      if (this.#cyclesRun === seen) return
      seen = this.#cyclesRun
      this.#maintenance.add(statement)
      this.#wake()
    }, everyMs)
    this.#timers.push(timer)
  }

  async #runMaintenance(): Promise<void> {
    for (const statement of this.#maintenance) {
      this.#maintenance.delete(statement)
      const response = await this.#run(simpleQuery(statement))
      if (messageType(response) === 'E') console.error(`${statement}: ${response.toString('latin1')}`)
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

  /** An error of a statement is part of the response; a thrown error means that the engine has ended, and so must this process. */
  async #run(messages: Buffer): Promise<Buffer> {
    const response: Buffer[] = []
    try {
      await this.#session.execProtocolRawStream(messages, { onRawData: (data) => response.push(Buffer.from(data)) })
    } catch (error) {
      console.error(`the session ended: ${error instanceof Error ? error.message : JSON.stringify(error)}`)
      process.exit(1)
    }
    return Buffer.concat(response)
  }
}

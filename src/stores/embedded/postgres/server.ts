import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
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
  /** Time limit of a client that sends nothing within a transaction or a cycle: it blocks every other client. A backup holds a transaction for 8 s. */
  idleInTransactionMs: 10_000,
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
export async function servePostgres(session: Session, path: string, options: Partial<typeof defaultOptions> = {}) {
  const { connectionsMax, idleInTransactionMs, maintenance: repeated } = { ...defaultOptions, ...options }
  const connections = new Set<Connection>()
  /** Connections with queued messages, in order of arrival. */
  const queue = new Set<Connection>()
  /** The connection in the middle of a cycle or a transaction; it has exclusive use of the session. */
  let holder: Connection | undefined
  let cycleOpen = false
  let running: Promise<void> | undefined
  let idleTimer: NodeJS.Timeout | undefined
  /** Maintenance statements that wait for the end of the current transaction. */
  const due = new Set<string>()
  let cyclesRun = 0
  // Executed once and sent to every client: parameters, key, ready. The startup packet of a client never reaches the engine.
  const startupResponse = await run(startupMessage())
  rmSync(path, { force: true })
  const server = createServer(acceptConnection)
  await once(server.listen(path), 'listening')
  const timers = repeated.map(repeat)

  return {
    /** Waits for the running cycle, rolls back an open transaction and disconnects every client. */
    async close() {
      for (const timer of timers) clearInterval(timer)
      server.close()
      for (const connection of connections) connection.socket.destroy()
      while (connections.size > 0 || running) await nextTurn()
    },
  }

  function acceptConnection(socket: Socket): void {
    socket.on('error', () => socket.destroy())
    if (connections.size >= connectionsMax) {
      socket.end(errorResponse('FATAL', '53300', 'sorry, too many clients already'))
      return
    }
    const connection = openConnection(socket)
    connections.add(connection)
    socket.on('data', (chunk) => receive(connection, chunk))
    socket.on('close', () => {
      connection.isClosed = true
      connection.queued = []
      queue.add(connection)
      wake()
    })
  }

  function receive(connection: Connection, chunk: Buffer): void {
    const { socket, reader } = connection
    reader.add(chunk)
    for (let next = reader.next(); next; next = reader.next()) {
      if (next.kind === 'refused') {
        socket.end(errorResponse('FATAL', next.code, next.message))
        return
      }
      if (next.kind === 'encryption') socket.write('N')
      else if (next.kind === 'startup') socket.write(startupResponse)
      else if (next.kind === 'end') connection.isEnding = true
      else {
        connection.queued.push(next.message)
        connection.queuedBytes += next.message.length
      }
    }
    if (connection.queuedBytes > queuedBytesMax) socket.pause()
    if (connection.queued.length > 0) {
      queue.add(connection)
      wake()
    } else if (connection.isEnding) socket.end()
  }

  function wake(): void {
    running ??= processQueue().finally(() => {
      running = undefined
    })
  }

  async function processQueue(): Promise<void> {
    for (;;) {
      if (!holder) await runMaintenance()
      const connection = holder ?? queue.values().next().value
      if (!connection || !queue.delete(connection)) break
      if (connection.isClosed) await removeConnection(connection)
      else await runCycle(connection)
      // Lets the event loop process disconnections.
      await nextTurn()
    }
  }

  /** Runs a client's messages up to its next Sync or simple query, or all that are queued. */
  async function runCycle(connection: Connection): Promise<void> {
    const { socket, queued, statements } = connection
    clearTimeout(idleTimer)
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
    socket.write(await run(Buffer.concat(batch)))
    cyclesRun += 1
    cycleOpen = last < 0
    holder = cycleOpen || session.isInTransaction() ? connection : undefined
    if (holder) idleTimer = setTimeout(expire, idleInTransactionMs, holder)
    if (socket.isPaused() && connection.queuedBytes <= queuedBytesMax) socket.resume()
    if (queued.length > 0 || connection.isClosed) queue.add(connection)
    else if (connection.isEnding) socket.end()
  }

  /** Runs a maintenance statement at an interval, unless no client has run anything since. */
  function repeat({ statement, everyMs }: (typeof maintenance)[number]): NodeJS.Timeout {
    let seen = cyclesRun
    return setInterval(() => {
      if (cyclesRun === seen) return
      seen = cyclesRun
      due.add(statement)
      wake()
    }, everyMs)
  }

  async function runMaintenance(): Promise<void> {
    for (const statement of due) {
      due.delete(statement)
      const response = await run(simpleQuery(statement))
      if (messageType(response) === 'E') console.error(`${statement}: ${response.toString('latin1')}`)
    }
  }

  async function removeConnection(connection: Connection): Promise<void> {
    if (holder === connection) {
      clearTimeout(idleTimer)
      if (cycleOpen) await run(sync)
      if (session.isInTransaction()) await run(simpleQuery('ROLLBACK'))
      cycleOpen = false
      holder = undefined
    }
    if (connection.statements.size > 0) {
      await run(Buffer.concat([...[...connection.statements].map(closeStatement), sync]))
    }
    connections.delete(connection)
  }

  function expire(holder: Connection): void {
    // Not end(), which waits until a client that may not read has read everything.
    holder.socket.write(errorResponse('FATAL', '25P03', 'terminating connection due to idle-in-transaction timeout'))
    holder.socket.destroy()
  }

  /** An error of a statement is part of the response; a thrown error means that the engine has ended, and so must this process. */
  async function run(messages: Buffer): Promise<Buffer> {
    const response: Buffer[] = []
    try {
      await session.execProtocolRawStream(messages, { onRawData: (data) => response.push(Buffer.from(data)) })
    } catch (error) {
      console.error(`the session ended: ${error instanceof Error ? error.message : JSON.stringify(error)}`)
      process.exit(1)
    }
    return Buffer.concat(response)
  }
}

type Connection = ReturnType<typeof openConnection>

function openConnection(socket: Socket) {
  return {
    socket,
    reader: new MessageReader(),
    queued: [] as Buffer[],
    queuedBytes: 0,
    /** Named prepared statements, to be dropped when it disconnects. */
    statements: new Set<string>(),
    /** The client has terminated; its earlier messages still run. */
    isEnding: false,
    isClosed: false,
  }
}

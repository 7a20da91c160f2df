import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { closeStatement, messagesOf, messageType, protocolMajor, simpleQuery, statementName, sync } from './messages.ts'
import type { SharedSession } from './sharedSession.ts'

/**
 * Serves a client of the shared session until its connection ends in any way. The client holds the session from the first message of a cycle
 * to its Sync, and from BEGIN to the end of the transaction. While it waits for the session, no more of its messages are read.
 */
export async function serveClient(
  socket: Socket,
  session: SharedSession,
  startupResponse: Buffer,
  idleInTransactionMs: number,
): Promise<void> {
  /** Messages that have not run. */
  let arrived: Buffer[] = []
  const statements = new Set<string>()
  let idleTimer: NodeJS.Timeout | undefined
  let isStarted = false
  for await (const message of messagesOf(socket)) {
    if (!isStarted) {
      // A request for TLS or for cancellation: it has no response.
      if (message.readUInt16BE(4) !== protocolMajor) break
      isStarted = true
      socket.write(startupResponse)
      continue
    }
    const type = messageType(message)
    // Terminate would end the shared session.
    if (type === 'X') break
    arrived.push(message)
    if (type === 'P') statements.add(statementName(message))
    // Flush leaves the cycle open; Sync and Query end it.
    if ('HSQ'.includes(type)) await run(type === 'H')
  }
  await leave()

  async function run(isCycleOpen: boolean): Promise<void> {
    clearTimeout(idleTimer)
    await session.acquire(socket)
    if (socket.destroyed) return
    session.cycles += 1
    socket.write(await session.run(Buffer.concat(arrived)))
    arrived = []
    // Lets the event loop process disconnections.
    await nextTurn()
    if (isCycleOpen || session.engine.isInTransaction()) {
      idleTimer = setTimeout(() => socket.destroy(), idleInTransactionMs)
    } else session.release()
  }

  /** Ends an open cycle, rolls an open transaction back and drops the prepared statements. */
  async function leave(): Promise<void> {
    clearTimeout(idleTimer)
    await session.acquire(socket)
    const rollback = session.engine.isInTransaction() ? [simpleQuery('ROLLBACK')] : []
    await session.run(Buffer.concat([sync, ...rollback, ...[...statements].map(closeStatement), sync]))
    session.release()
  }
}

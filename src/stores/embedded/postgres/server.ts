import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { runPeriodically } from '../../timing/periodic.ts'
import { serveClient } from './client.ts'
import { maintenance } from './maintenance.ts'
import { messageType, simpleQuery, startupMessage } from './messages.ts'
import { type Engine, SharedSession } from './sharedSession.ts'

/** Time limit of a client that sends nothing within a transaction or a cycle: it blocks every other client. A backup holds a transaction for 8 s. */
const idleInTransactionMs = 10_000

/**
 * Shares one Postgres session among the clients of a Unix socket. Clients share settings and advisory session locks; transactions and
 * prepared statements end with their connection. There is no query cancelling, no LISTEN and no COPY FROM STDIN.
 */
export async function servePostgres(engine: Engine, path: string, idleMs = idleInTransactionMs, tasks = maintenance) {
  const session = new SharedSession(engine)
  const clients = new Map<Socket, Promise<void>>()
  // Executed once and sent to every client: parameters, key, ready. The startup packet of a client never reaches the engine.
  const startupResponse = await session.run(startupMessage())
  rmSync(path, { force: true })
  const server = createServer((socket) => {
    const served = serveClient(socket, session, startupResponse, idleMs).finally(() => clients.delete(socket))
    clients.set(socket, served)
  })
  await once(server.listen(path), 'listening')
  const stops = tasks.map((task) => maintain(session, task))

  return {
    /** Waits for the running cycle, rolls back an open transaction and disconnects every client. */
    async close() {
      server.close()
      for (const socket of clients.keys()) socket.destroy()
      await Promise.all([...clients.values(), ...stops.map((stop) => stop())])
    },
  }
}

/** Runs a maintenance statement at an interval, unless no client has run anything since. @returns function that stops it */
function maintain(session: SharedSession, { statement, everyMs }: (typeof maintenance)[number]): () => Promise<void> {
  let seen = session.cycles
  const user = {}
  const run = async () => {
    if (session.cycles === seen) return
    seen = session.cycles
    await session.acquire(user)
    const response = await session.run(simpleQuery(statement))
    session.release()
    if (messageType(response) === 'E') console.error(`${statement}: ${response.toString('latin1')}`)
  }
  return runPeriodically(run, () => {}, everyMs)
}

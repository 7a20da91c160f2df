import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readSettings } from '../../src/settings.ts'
import { migrate } from '../../src/stores/migrations/migrate.ts'
import { openStores } from '../../src/stores/open.ts'
import { processIdOf } from '../kit/processes.ts'
import { freePort, startInstance } from '../kit/serverProcess.ts'
import { EventLoad } from './eventLoad.ts'
import { createLoadAccount } from './loadAccount.ts'
import { compareStoredEvents } from './storedEvents.ts'

/** One server process on embedded engines; a scenario can signal the server and each engine. */
export interface EmbeddedServer {
  /** Starts the server, always on the same port, after it has killed one that still runs; resolves when it listens. */
  serve(): Promise<ChildProcess>
  /** Sends events over that many connections until the load is finished. @param batchSize undefined: single events */
  load(connections: number, batchSize?: number): EventLoad
  /** Sends a signal to the running process of an engine or of the supervisor. */
  signal(program: Program, signal: NodeJS.Signals): void
  /** Compares the acknowledged events of all loads with stored ones. @returns the differences, empty when there are none */
  differences(): Promise<string[]>
  close(): Promise<void>
}

type Program = 'supervisor' | 'clickhouse/engine' | 'postgres/engine'

/** @param folder an empty folder, which the caller removes */
export async function openEmbeddedServer(folder: string): Promise<EmbeddedServer> {
  const environment = { DATA_DIR: folder, PORT: `${await freePort()}`, LOG_LEVEL: 'fatal' }
  const stores = await openStores(readSettings(environment), () => {})
  await migrate(stores)
  const key = await createLoadAccount(stores)
  let server: ChildProcess | undefined
  const loads: EventLoad[] = []

  return {
    async serve() {
      if (server?.exitCode === null && server.signalCode === null) {
        const exited = once(server, 'exit')
        server.kill('SIGKILL')
        await exited
      }
      server = (await startInstance(environment)).child
      return server
    },
    // Scenarios kill and stop the only server at any time.
    load(connections, batchSize) {
      const targets = [{ port: Number(environment.PORT), isDown: () => true }]
      const load = new EventLoad(targets, key, connections, { batchSize, idPrefix: `${loads.length}-` })
      loads.push(load)
      return load
    },
    signal(program, signal) {
      const id = processIdOf(folder, program)
      if (id === undefined) throw new Error(`${program} does not run.`)
      process.kill(id, signal)
    },
    differences: async () => [...loads.flatMap(({ faults }) => faults), ...(await compareStoredEvents(stores, loads))],
    async close() {
      server?.kill('SIGKILL')
      await stores.close()
    },
  }
}

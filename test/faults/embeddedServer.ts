import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { packageRoot } from '../../src/package.ts'
import { readSettings } from '../../src/settings.ts'
import { migrate } from '../../src/stores/migrations/migrate.ts'
import { openStores } from '../../src/stores/open.ts'
import { freePort } from '../kit/serverProcess.ts'
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
      const child = spawn(process.execPath, [join(packageRoot, 'dist/src/main.js'), 'serve', '--json'], {
        env: { PATH: process.env.PATH, ...environment },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      server = child
      await Promise.race([
        once(child.stdout as NodeJS.ReadableStream, 'data'),
        once(child, 'exit').then(([code]) => {
          throw new Error(`The server exited with code ${code}.`)
        }),
      ])
      return child
    },
    // Scenarios kill and stop the only server at any time.
    load(connections, batchSize) {
      const targets = [{ port: Number(environment.PORT), isDown: () => true }]
      const load = new EventLoad(targets, key, connections, { batchSize, idPrefix: `${loads.length}-` })
      loads.push(load)
      return load
    },
    signal(program, signal) {
      const lines = execFileSync('ps', ['-axo', 'pid=,args='], { encoding: 'utf8' }).split('\n')
      const line = lines.find((candidate) => candidate.endsWith(`/embedded/${program}.js ${folder}`))
      if (!line) throw new Error(`${program} does not run.`)
      process.kill(Number.parseInt(line, 10), signal)
    },
    differences: async () => [...loads.flatMap(({ faults }) => faults), ...(await compareStoredEvents(stores, loads))],
    async close() {
      server?.kill('SIGKILL')
      await stores.close()
    },
  }
}

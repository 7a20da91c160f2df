import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { packageRoot } from '../../src/package.ts'
import { readSettings } from '../../src/settings.ts'
import { migrate } from '../../src/stores/migrations/migrate.ts'
import { openStores } from '../../src/stores/open.ts'
import { freePort } from '../kit/serverProcess.ts'
import { fill, reckon } from './fill.ts'
import { Load } from './load.ts'

/** A server process on embedded engines, each of which can be made to fail, and what tells the truth afterwards. */
export interface Bed {
  /** Starts the server, always on the same port; resolves when it listens. */
  serve(): Promise<ChildProcess>
  /** Sends events on that many connections until it is told to finish. */
  load(connections: number): Load
  /** Sends a signal to an engine or to the supervisor, however they are called right now. */
  signal(program: Program, signal: NodeJS.Signals): void
  /** Waits until ClickHouse answers. */
  clickhouseAnswers(): Promise<void>
  /** Compares what the load was told with what is stored. @returns what differs, empty when nothing does */
  reckon(load: Load): Promise<string[]>
  close(): Promise<void>
}

type Program = 'supervisor' | 'clickhouse/engine' | 'postgres/engine'

/** @param folder an empty one; it is the caller's to remove */
export async function openBed(folder: string): Promise<Bed> {
  const environment = { DATA_DIR: folder, PORT: `${await freePort()}`, LOG_LEVEL: 'fatal' }
  const stores = await openStores(readSettings(environment), () => {})
  await migrate(stores)
  const key = await fill(stores)
  const servers: ChildProcess[] = []

  return {
    async serve() {
      const child = spawn(process.execPath, [join(packageRoot, 'dist/src/main.js'), 'serve', '--json'], {
        env: { PATH: process.env.PATH, ...environment },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      servers.push(child)
      await Promise.race([
        once(child.stdout as NodeJS.ReadableStream, 'data'),
        once(child, 'exit').then(([code]) => {
          throw new Error(`The server ended with ${code}.`)
        }),
      ])
      return child
    },
    // The one server is killed and stopped at any moment here.
    load: (connections) => new Load([{ port: Number(environment.PORT), isDown: () => true }], key, connections),
    signal(program, signal) {
      const lines = execFileSync('ps', ['-axo', 'pid=,args='], { encoding: 'utf8' }).split('\n')
      const line = lines.find((candidate) => candidate.endsWith(`/embedded/${program}.js ${folder}`))
      if (!line) throw new Error(`There is no ${program}.`)
      process.kill(Number.parseInt(line, 10), signal)
    },
    async clickhouseAnswers() {
      for (const deadline = Date.now() + 60_000; ; await sleep(100)) {
        if ((await stores.clickhouse.client.ping({ select: true })).success) return
        if (Date.now() > deadline) throw new Error('ClickHouse stays away.')
      }
    },
    reckon: async (load) => [...load.faults, ...(await reckon(stores, load))],
    async close() {
      for (const server of servers) server.kill('SIGKILL')
      await stores.close()
    },
  }
}

import { setTimeout as sleep } from 'node:timers/promises'
import { readSettings } from '../../src/settings/settings.ts'
import { migrate } from '../../src/stores/migrations/migrate.ts'
import { openStores } from '../../src/stores/open.ts'
import { processIdOf } from '../kit/processes.ts'
import { freePort, startInstance } from '../kit/serverProcess.ts'
import { fillDisk } from './fullDisk.ts'
import { type EventLoad, startEventLoad } from './load.ts'
import { clickCount, createLoadAccount } from './loadAccount.ts'
import { compareStoredEvents } from './storedEvents.ts'

export interface Effort {
  connections: number
  repetitions: number
  outageMs: number
}

interface Injection {
  load: EventLoad
  folder: string
  outageMs: number
  /** What broke a promise; the failure may add to it. */
  faults: string[]
  /** Sends a signal to the running process of an engine or of the supervisor. */
  signal(program: 'supervisor' | 'clickhouse/engine' | 'postgres/engine', name: NodeJS.Signals): void
  /** Ends the server by a signal and starts it again on the same port. @returns the exit code of the ended process */
  restart(name: NodeJS.Signals): Promise<unknown>
}

/** One kind of failure of a server on embedded engines, under a load of events. */
interface EmbeddedFault {
  inject(injection: Injection): Promise<unknown>
  isRepeated?: boolean
  hasBatches?: boolean
  /** The failed requests that are allowed, by status; `none` for a broken connection; all by default. */
  allowed?: readonly string[]
}

const killServer = { isRepeated: true, inject: ({ restart }: Injection) => restart('SIGKILL') }

const killClickHouse = {
  isRepeated: true,
  async inject({ signal }: Injection) {
    signal('clickhouse/engine', 'SIGKILL')
    await sleep(500)
  },
}

export const embeddedFaults: Record<string, EmbeddedFault> = {
  'the server is killed under load and restarted': killServer,
  'the server is killed under a load of batches and restarted': { ...killServer, hasBatches: true },
  'the server is terminated under load and restarted': {
    isRepeated: true,
    // Accepted requests are completed; only new connections fail.
    allowed: ['none'],
    async inject({ restart, faults }) {
      const code = await restart('SIGTERM')
      if (code !== 0) faults.push(`The server exited with code ${code}.`)
    },
  },
  'ClickHouse is killed under load': killClickHouse,
  'ClickHouse is killed under a load of batches': { ...killClickHouse, hasBatches: true },
  'ClickHouse hangs under load': {
    async inject({ signal, outageMs }) {
      signal('clickhouse/engine', 'SIGSTOP')
      await sleep(outageMs)
      signal('clickhouse/engine', 'SIGCONT')
    },
  },
  'Postgres is unavailable while caches are warm': {
    allowed: [],
    async inject({ signal, load, outageMs }) {
      signal('supervisor', 'SIGSTOP')
      signal('postgres/engine', 'SIGKILL')
      await Promise.all([sleep(outageMs), load.progress(eventsBetween)])
      signal('supervisor', 'SIGCONT')
    },
  },
  'the disk is full': {
    async inject({ load, folder, outageMs, faults }) {
      const freeDisk = await fillDisk(folder)
      await sleep(outageMs)
      if (!load.failures.has('503')) faults.push('No event was refused: the disk was not full.')
      await freeDisk()
    },
  },
}

/** Events acknowledged before and after each failure; each click has been looked up by then, so it is cached. */
const eventsBetween = 2 * clickCount
/** Batches are sent over few connections, so that several of them are in flight at each failure. */
const batches = { connections: 8, batchSize: 100 }

/**
 * Opens a server process on embedded engines, and runs failures on it, one after the other.
 * @param folder a folder without processes, which the caller removes
 */
export async function openEmbeddedServer(folder: string) {
  const environment = { DATA_DIR: folder, PORT: `${await freePort()}`, LOG_LEVEL: 'fatal' }
  const stores = await openStores(readSettings(environment), () => {})
  await migrate(stores)
  const key = await createLoadAccount(stores)
  let server: Awaited<ReturnType<typeof startInstance>> | undefined
  const loads: EventLoad[] = []

  const restart: Injection['restart'] = async (name) => {
    server?.child.kill(name)
    const [code] = (await server?.exited) ?? []
    server = await startInstance(environment)
    return code
  }
  const signal: Injection['signal'] = (program, name) => {
    const id = processIdOf(folder, program)
    if (id === undefined) throw new Error(`${program} does not run.`)
    process.kill(id, name)
  }

  return {
    /** @returns the load, and what broke a promise, empty when nothing did */
    async run(
      { inject, isRepeated, hasBatches, allowed }: EmbeddedFault,
      { connections, repetitions, outageMs }: Effort,
    ): Promise<{ load: EventLoad; faults: string[] }> {
      await restart('SIGKILL')
      const load = startEventLoad({
        // Failures end the only server at any time.
        targets: [{ port: Number(environment.PORT), isDown: () => true }],
        key,
        idPrefix: `${loads.length}-`,
        ...(hasBatches ? batches : { connections }),
      })
      loads.push(load)
      const faults: string[] = []
      for (let times = isRepeated ? repetitions : 1; times > 0; times--) {
        await load.progress(eventsBetween)
        await inject({ load, folder, outageMs, faults, signal, restart })
      }
      await load.progress(eventsBetween)
      await load.finish()
      if (server?.child.exitCode !== null || server.child.signalCode !== null) faults.push('The server exited.')
      for (const [status, count] of load.failures) {
        if (allowed?.includes(status) === false) faults.push(`${count} requests failed with ${status}.`)
      }
      return { load, faults: [...faults, ...load.faults, ...(await compareStoredEvents(stores, loads))] }
    },
    async close(): Promise<void> {
      server?.child.kill('SIGKILL')
      await stores.close()
    },
  }
}

import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { EmbeddedServer } from './embeddedServer.ts'
import type { EventLoad } from './eventLoad.ts'
import { fillDisk } from './fullDisk.ts'
import { clickCount } from './loadAccount.ts'

/** How demanding a scenario is. */
export interface Effort {
  connections: number
  /** Repetitions of kills and restarts. */
  repetitions: number
  /** How long a store is unavailable. */
  outageMs: number
}

/**
 * One kind of failure: starts the server, injects the failure under load, and finishes the load.
 * @returns the load, and faults that the scenario found itself
 */
type EmbeddedFault = (
  server: EmbeddedServer,
  effort: Effort,
  folder: string,
) => Promise<{ load: EventLoad; faults?: string[] }>

/** Events acknowledged before and after each failure. */
const eventsBetween = 200

/** Batches are sent over few connections, so that several of them are in flight at each failure. */
const batchConnections = 8
const batchSize = 100

export const embeddedFaults: Record<string, EmbeddedFault> = {
  'the server is killed under load and restarted': (server, { connections, repetitions }) =>
    killServer(server, () => server.load(connections), repetitions),

  'the server is killed under a load of batches and restarted': (server, { repetitions }) =>
    killServer(server, () => server.load(batchConnections, batchSize), repetitions),

  async 'the server is terminated under load and restarted'(server, { connections, repetitions }) {
    let child = await server.serve()
    const load = server.load(connections)
    const faults: string[] = []
    for (let repetition = 0; repetition < repetitions; repetition++) {
      await load.progress(eventsBetween)
      child.kill('SIGTERM')
      const [code] = await once(child, 'exit')
      if (code !== 0) faults.push(`The server exited with code ${code}.`)
      child = await server.serve()
    }
    await load.finish()
    // Accepted requests are completed; only new connections fail.
    if (load.failures.has('503')) faults.push('Requests were refused while the server stopped.')
    return { load, faults }
  },

  'ClickHouse is killed under load': (server, { connections, repetitions }) =>
    killClickHouse(server, () => server.load(connections), repetitions),

  'ClickHouse is killed under a load of batches': (server, { repetitions }) =>
    killClickHouse(server, () => server.load(batchConnections, batchSize), repetitions),

  async 'ClickHouse hangs under load'(server, { connections, outageMs }) {
    await server.serve()
    const load = server.load(connections)
    await load.progress(eventsBetween)
    server.signal('clickhouse/engine', 'SIGSTOP')
    await sleep(outageMs)
    server.signal('clickhouse/engine', 'SIGCONT')
    await load.progress(eventsBetween)
    await load.finish()
    return { load }
  },

  async 'Postgres is unavailable while caches are warm'(server, { connections, outageMs }) {
    await server.serve()
    const load = server.load(connections)
    // Each click has been looked up by then, so its campaign and the key are cached.
    await load.progress(2 * clickCount)
    server.signal('supervisor', 'SIGSTOP')
    server.signal('postgres/engine', 'SIGKILL')
    await Promise.all([sleep(outageMs), load.progress(eventsBetween)])
    server.signal('supervisor', 'SIGCONT')
    await load.progress(eventsBetween)
    await load.finish()
    const faults = load.failures.size > 0 ? [`Events were refused: ${JSON.stringify([...load.failures])}`] : []
    return { load, faults }
  },

  async 'the disk is full'(server, { connections, outageMs }, folder) {
    const child = await server.serve()
    const load = server.load(connections)
    await load.progress(eventsBetween)
    const freeDisk = await fillDisk(folder)
    await sleep(outageMs)
    const refused = load.failures.get('503') ?? 0
    await freeDisk()
    await load.progress(eventsBetween)
    await load.finish()
    const faults = child.exitCode === null ? [] : ['The server exited.']
    if (refused === 0) faults.push('No event was refused: the disk was not full.')
    return { load, faults }
  },
}

async function killServer(server: EmbeddedServer, start: () => EventLoad, repetitions: number) {
  let child = await server.serve()
  const load = start()
  for (let repetition = 0; repetition < repetitions; repetition++) {
    await load.progress(eventsBetween)
    child.kill('SIGKILL')
    await once(child, 'exit')
    child = await server.serve()
  }
  await load.progress(eventsBetween)
  await load.finish()
  return { load }
}

async function killClickHouse(server: EmbeddedServer, start: () => EventLoad, repetitions: number) {
  await server.serve()
  const load = start()
  for (let repetition = 0; repetition < repetitions; repetition++) {
    await load.progress(eventsBetween)
    server.signal('clickhouse/engine', 'SIGKILL')
    await sleep(500)
  }
  await load.progress(eventsBetween)
  await load.finish()
  return { load }
}

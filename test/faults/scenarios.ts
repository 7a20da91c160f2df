import { once } from 'node:events'
import { rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { clicks } from './fill.ts'
import type { Load } from './load.ts'
import type { Bed } from './processes.ts'

/** How hard a scenario is. */
export interface Effort {
  connections: number
  /** How often what can be repeated is. */
  times: number
  /** How long a store is away. */
  awayMs: number
}

/**
 * One way of failing: it starts the server, has a load run into the fault, and finishes the load.
 * @returns the load, and what it found wrong itself
 */
type Scenario = (bed: Bed, effort: Effort, folder: string) => Promise<{ load: Load; faults?: string[] }>

/** Events that are answered before a fault and after it. */
const calm = 200

export const scenarios: Record<string, Scenario> = {
  async 'the server is killed under load and started again'(bed, { connections, times }) {
    let server = await bed.serve()
    const load = bed.load(connections)
    for (let time = 0; time < times; time++) {
      await load.progress(calm)
      server.kill('SIGKILL')
      await once(server, 'exit')
      server = await bed.serve()
    }
    await load.progress(calm)
    await load.finish()
    return { load }
  },

  async 'the server is told to stop under load and started again'(bed, { connections, times }) {
    let server = await bed.serve()
    const load = bed.load(connections)
    const faults: string[] = []
    for (let time = 0; time < times; time++) {
      await load.progress(calm)
      server.kill('SIGTERM')
      const [code] = await once(server, 'exit')
      if (code !== 0) faults.push(`The server ended with ${code}.`)
      server = await bed.serve()
    }
    await load.finish()
    // What was taken was answered: only new connections found nobody.
    if (load.others.has('503')) faults.push('Calls were refused while the server stopped.')
    return { load, faults }
  },

  async 'ClickHouse is killed under load'(bed, { connections, times }) {
    await bed.serve()
    const load = bed.load(connections)
    for (let time = 0; time < times; time++) {
      await load.progress(calm)
      bed.signal('clickhouse/engine', 'SIGKILL')
      await sleep(500)
    }
    await load.progress(calm)
    await load.finish()
    return { load }
  },

  async 'ClickHouse hangs under load'(bed, { connections, awayMs }) {
    await bed.serve()
    const load = bed.load(connections)
    await load.progress(calm)
    bed.signal('clickhouse/engine', 'SIGSTOP')
    await sleep(awayMs)
    bed.signal('clickhouse/engine', 'SIGCONT')
    await load.progress(calm)
    await load.finish()
    return { load }
  },

  async 'Postgres is away while caches are warm'(bed, { connections, awayMs }) {
    await bed.serve()
    const load = bed.load(connections)
    // Every click was seen, hence its campaign and the key too.
    await load.progress(2 * clicks)
    bed.signal('supervisor', 'SIGSTOP')
    bed.signal('postgres/engine', 'SIGKILL')
    await Promise.all([sleep(awayMs), load.progress(calm)])
    bed.signal('supervisor', 'SIGCONT')
    await load.progress(calm)
    await load.finish()
    const faults = load.others.size > 0 ? [`Events were refused: ${JSON.stringify([...load.others])}`] : []
    return { load, faults }
  },

  async 'the disk is full'(bed, { connections, awayMs }, folder) {
    const server = await bed.serve()
    const load = bed.load(connections)
    await load.progress(calm)
    const filler = join(folder, 'filler')
    const { bavail, bsize } = await statfs(folder)
    // A hole would take no room.
    await writeFile(filler, Buffer.alloc(bavail * bsize, 1)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOSPC') throw error
    })
    await sleep(awayMs)
    const refused = load.others.get('503') ?? 0
    await rm(filler)
    await load.progress(calm)
    await load.finish()
    const faults = server.exitCode === null ? [] : ['The server ended.']
    if (refused === 0) faults.push('Nothing was refused: the disk was not full.')
    return { load, faults }
  },
}

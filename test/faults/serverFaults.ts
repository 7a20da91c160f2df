import { setTimeout as sleep } from 'node:timers/promises'
import type { ServerProcess } from '../kit/serverProcess.ts'
import type { Instance, Servers } from './servers.ts'

/** One kind of failure of servers under load. */
export interface ServerFault {
  /** Causes the failure, waits, and repairs it. */
  inject(servers: Servers): Promise<void>
  /** Instances that may respond other than 200; all others must not be affected. */
  affects(servers: Servers): readonly Instance[]
}

/** How long a server is unavailable. */
const outageMs = 2_000
/** Longer than the request timeouts of ClickHouse and Postgres. */
const longOutageMs = 23_000

const both = ({ one, other }: Servers) => [one, other]

const processes = {
  ClickHouse: { processOf: ({ clickhouse }: Servers) => clickhouse, affects: both },
  Postgres: { processOf: ({ postgres }: Servers) => postgres, affects: both },
  // The instance with RATE_LIMIT_WITHOUT_REDIS=open counts by itself and is not affected.
  Redis: { processOf: ({ redis }: Servers) => redis, affects: ({ other }: Servers) => [other] },
  'One instance': { processOf: ({ one }: Servers) => one, affects: ({ one }: Servers) => [one] },
}

const failures: Record<string, (process: ServerProcess) => Promise<void>> = {
  async 'is stopped and restarted'(process) {
    await process.stop()
    await sleep(outageMs)
    await process.start()
  },
  async 'is killed and restarted'(process) {
    await process.kill()
    await sleep(outageMs)
    await process.start()
  },
  async 'hangs and continues'(process) {
    process.pause()
    await sleep(outageMs)
    process.resume()
  },
}

export const serverFaults: Record<string, ServerFault> = {
  ...Object.fromEntries(
    Object.entries(processes).flatMap(([name, { processOf, affects }]) =>
      Object.entries(failures).map(([failure, fail]) => [
        `${name} ${failure}`,
        { affects, inject: (servers: Servers) => fail(processOf(servers)) },
      ]),
    ),
  ),
  'Both stores hang for 23 s and continue': {
    affects: both,
    async inject({ clickhouse, postgres }) {
      for (const process of [clickhouse, postgres]) process.pause()
      await sleep(longOutageMs)
      for (const process of [clickhouse, postgres]) process.resume()
    },
  },
  'All processes are killed at once and restarted': {
    affects: both,
    async inject({ clickhouse, postgres, redis, one, other }) {
      const all = [one, other, clickhouse, postgres, redis]
      await Promise.all(all.map((process) => process.kill()))
      await sleep(outageMs)
      // Instances first: at start they wait for their stores.
      await Promise.all(all.map((process) => process.start()))
    },
  },
  'The disk of ClickHouse is full': {
    affects: both,
    async inject({ fillClickHouseDisk }) {
      const freeDisk = await fillClickHouseDisk()
      await sleep(2 * outageMs)
      await freeDisk()
    },
  },
  'The clock of one instance is ten minutes ahead, then ten behind, then right': {
    affects: () => [],
    async inject({ other }) {
      for (const seconds of [600, -600, 0]) {
        await other.skewClock(seconds)
        await sleep(outageMs)
      }
    },
  },
}

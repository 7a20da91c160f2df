import { setTimeout as sleep } from 'node:timers/promises'
import type { ServerProcess } from '../kit/serverProcess.ts'
import type { Instance, Servers } from './servers.ts'

/** One way of failing, done to servers under load. */
export interface ServerFault {
  /** Makes it happen, lasts, and takes it back; resolves when everything has been put in order again. */
  happen(servers: Servers): Promise<void>
  /** Who may give another answer than 200 because of it; everybody else goes on as if nothing was. */
  mayTrouble(servers: Servers): readonly Instance[]
}

/** How long a server is away. */
const awayMs = 2_000
/** Longer than what a caller of ClickHouse or Postgres waits for it. */
const longMs = 23_000

const both = ({ one, other }: Servers) => [one, other]

const stores = {
  ClickHouse: { processOf: ({ clickhouse }: Servers) => clickhouse, mayTrouble: both },
  Postgres: { processOf: ({ postgres }: Servers) => postgres, mayTrouble: both },
  // An instance that counts alone meanwhile notices nothing.
  Redis: { processOf: ({ redis }: Servers) => redis, mayTrouble: ({ other }: Servers) => [other] },
  'One instance': { processOf: ({ one }: Servers) => one, mayTrouble: ({ one }: Servers) => [one] },
}

const failures: Record<string, (process: ServerProcess) => Promise<void>> = {
  async 'is stopped, and started again'(process) {
    await process.stop()
    await sleep(awayMs)
    await process.start()
  },
  async 'is killed, and started again'(process) {
    await process.kill()
    await sleep(awayMs)
    await process.start()
  },
  async 'hangs, and goes on'(process) {
    process.pause()
    await sleep(awayMs)
    process.resume()
  },
}

export const serverFaults: Record<string, ServerFault> = {
  ...Object.fromEntries(
    Object.entries(stores).flatMap(([name, { processOf, mayTrouble }]) =>
      Object.entries(failures).map(([what, fail]) => [
        `${name} ${what}`,
        { mayTrouble, happen: (servers: Servers) => fail(processOf(servers)) },
      ]),
    ),
  ),
  'Both stores hang for long, and go on': {
    mayTrouble: both,
    async happen({ clickhouse, postgres }) {
      for (const process of [clickhouse, postgres]) process.pause()
      await sleep(longMs)
      for (const process of [clickhouse, postgres]) process.resume()
    },
  },
  'Everything is killed at once, and started again': {
    mayTrouble: both,
    async happen({ clickhouse, postgres, redis, one, other }) {
      const all = [one, other, clickhouse, postgres, redis]
      await Promise.all(all.map((process) => process.kill()))
      await sleep(awayMs)
      // The instances first: they wait for their stores.
      await Promise.all(all.map((process) => process.start()))
    },
  },
  'The disk of ClickHouse is full': {
    mayTrouble: both,
    async happen({ fillDisk }) {
      const makeRoom = await fillDisk()
      await sleep(2 * awayMs)
      await makeRoom()
    },
  },
  'The clock of one instance is ten minutes ahead, then ten behind, then right': {
    mayTrouble: () => [],
    async happen({ other }) {
      for (const seconds of [600, -600, 0]) {
        await other.skewClock(seconds)
        await sleep(awayMs)
      }
    },
  },
}

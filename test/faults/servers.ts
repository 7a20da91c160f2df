import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { readSettings } from '../../src/settings.ts'
import { migrate } from '../../src/stores/migrations/migrate.ts'
import { openStores, type Stores } from '../../src/stores/open.ts'
import type { CleanUp } from '../kit/cleanUp.ts'
import { startClickHouse } from '../kit/clickhouseServer.ts'
import { createFakeClock } from '../kit/fakeClock.ts'
import { startPostgres } from '../kit/postgresServer.ts'
import { startRedis } from '../kit/redis.ts'
import { freePort, type ServerProcess, startInstance } from '../kit/serverProcess.ts'
import { fillDisk } from './fullDisk.ts'
import type { Target } from './httpRequest.ts'
import { createLoadAccount } from './loadAccount.ts'

/** An instance of the API. */
export interface Instance extends ServerProcess, Target {
  /** Shifts the clock of this instance only, by seconds from the true time. */
  skewClock(seconds: number): Promise<void>
}

/** Two instances on ClickHouse, Postgres and Redis servers, as in production; each process can be made to fail. */
export interface Servers {
  readonly clickhouse: ServerProcess
  readonly postgres: ServerProcess
  readonly redis: ServerProcess
  /** Runs with RATE_LIMIT_WITHOUT_REDIS=open: counts by itself while Redis is unavailable. */
  readonly one: Instance
  /** Runs with RATE_LIMIT_WITHOUT_REDIS=closed: responds 503 while Redis is unavailable. */
  readonly other: Instance
  /** Connections to both stores that no instance uses. */
  readonly stores: Stores
  /** API key of the load account. */
  readonly key: string
  /** Fills the disk of ClickHouse to the last byte. @returns a function that frees the space */
  fillClickHouseDisk(): Promise<() => Promise<void>>
}

/**
 * @param folder the mount point of a small disk, which the caller removes; ClickHouse stores its files there
 * @param cleanUp ends the processes and closes the connections, also when a later one does not start
 */
export async function openServers(folder: string, cleanUp: CleanUp): Promise<Servers> {
  const clickhouse = await startClickHouse(folder)
  cleanUp.add(() => clickhouse.close())
  const postgres = await startPostgres()
  cleanUp.add(() => postgres.close())
  const redis = await startRedis()
  cleanUp.add(() => redis.close())
  const shared = { DATABASE_URL: postgres.url('tributary'), REDIS_URL: redis.url, LOG_LEVEL: 'fatal' }
  const admin = readSettings({ ...shared, CLICKHOUSE_URL: clickhouse.url('admin') })
  const stores = await openStores(admin, () => {})
  cleanUp.add(() => stores.close())
  await migrate(stores)
  const key = await createLoadAccount(stores)
  const environment = {
    ...shared,
    CLICKHOUSE_URL: clickhouse.url('tributary_writer'),
    CLICKHOUSE_READER_URL: clickhouse.url('tributary_reader'),
  }
  const start = (RATE_LIMIT_WITHOUT_REDIS: 'open' | 'closed') =>
    openInstance(folder, { ...environment, RATE_LIMIT_WITHOUT_REDIS }, cleanUp)
  const [one, other] = await Promise.all([start('open'), start('closed')])
  return {
    clickhouse,
    postgres,
    redis,
    one,
    other,
    stores,
    key,
    fillClickHouseDisk: () => fillDisk(folder),
  }
}

async function openInstance(folder: string, environment: Record<string, string>, cleanUp: CleanUp): Promise<Instance> {
  const port = await freePort()
  const clock = await createFakeClock(join(folder, `clock-${port}`))
  let child: ChildProcess
  let exited: Promise<unknown[]>
  let isDown = true

  async function start(): Promise<void> {
    const started = await startInstance({ ...environment, ...clock.environment, PORT: `${port}` })
    child = started.child
    exited = started.exited
    isDown = false
  }

  async function kill(): Promise<void> {
    isDown = true
    child.kill('SIGKILL')
    await exited
  }

  cleanUp.add(kill)
  await start()
  return {
    port,
    start,
    kill,
    isDown: () => isDown,
    async stop() {
      isDown = true
      child.kill('SIGTERM')
      const [code] = await exited
      if (code !== 0) throw new Error(`A stopped instance exited with code ${code}.`)
    },
    pause() {
      isDown = true
      child.kill('SIGSTOP')
    },
    resume() {
      child.kill('SIGCONT')
      isDown = false
    },
    skewClock: (seconds) => clock.set(`${seconds < 0 ? '' : '+'}${seconds}`),
  }
}

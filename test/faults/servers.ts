import { join } from 'node:path'
import { readSettings } from '../../src/settings/settings.ts'
import { migrate } from '../../src/stores/migrations/migrate.ts'
import { openStores } from '../../src/stores/open.ts'
import type { CleanUp } from '../kit/cleanUp.ts'
import { startClickHouse } from '../kit/clickhouseServer.ts'
import { createFakeClock } from '../kit/fakeClock.ts'
import { startPostgres } from '../kit/postgresServer.ts'
import { startRedis } from '../kit/redis.ts'
import { freePort, type ServerProcess, startInstance } from '../kit/serverProcess.ts'
import { fillDisk } from './fullDisk.ts'
import type { Target } from './load.ts'
import { createLoadAccount } from './loadAccount.ts'

export type Servers = Awaited<ReturnType<typeof openServers>>

export interface Instance extends ServerProcess, Target {
  /** Shifts the clock of this instance only, by seconds from the true time. */
  skewClock(seconds: number): Promise<void>
}

/**
 * Opens two instances on ClickHouse, Postgres and Redis servers, as in production; each process can be made to fail.
 * @param folder the mount point of a small disk, which the caller removes; ClickHouse stores its files there
 * @param cleanUp ends the processes and closes the connections, also when a later one does not start
 */
export async function openServers(folder: string, cleanUp: CleanUp) {
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
  // While Redis is unavailable, `one` counts by itself and `other` responds 503.
  const one = await start('open')
  const other = await start('closed')
  const fillClickHouseDisk = () => fillDisk(folder)
  return { clickhouse, postgres, redis, one, other, stores, key, fillClickHouseDisk }
}

async function openInstance(folder: string, environment: Record<string, string>, cleanUp: CleanUp): Promise<Instance> {
  const port = await freePort()
  const clock = await createFakeClock(join(folder, `clock-${port}`))
  const start = () => startInstance({ ...environment, ...clock.environment, PORT: `${port}` })
  let running = await start()
  let isDown = false

  async function kill(): Promise<void> {
    isDown = true
    running.child.kill('SIGKILL')
    await running.exited
  }

  cleanUp.add(kill)
  return {
    port,
    isDown: () => isDown,
    kill,
    async start() {
      running = await start()
      isDown = false
    },
    async stop() {
      isDown = true
      running.child.kill('SIGTERM')
      const [code] = await running.exited
      if (code !== 0) throw new Error(`A stopped instance exited with code ${code}.`)
    },
    pause() {
      isDown = true
      running.child.kill('SIGSTOP')
    },
    resume() {
      running.child.kill('SIGCONT')
      isDown = false
    },
    skewClock: (seconds) => clock.set(`${seconds < 0 ? '' : '+'}${seconds}`),
  }
}

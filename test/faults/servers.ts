import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { packageRoot } from '../../src/package.ts'
import { readSettings } from '../../src/settings.ts'
import { migrate } from '../../src/stores/migrations/migrate.ts'
import { openStores, type Stores } from '../../src/stores/open.ts'
import { startClickHouse } from '../kit/clickhouseServer.ts'
import { makeFalseClock } from '../kit/falseClock.ts'
import { startPostgres } from '../kit/postgresServer.ts'
import { startRedis } from '../kit/redis.ts'
import { freePort, type ServerProcess } from '../kit/serverProcess.ts'
import { fill } from './fill.ts'
import type { Target } from './queries.ts'

/** An instance of the API. */
export interface Instance extends ServerProcess, Target {
  /** Puts its clock, and no other one, off by so many seconds. */
  skewClock(seconds: number): Promise<void>
}

/** As in production: two instances on three servers, each process of which can be made to fail. */
export interface Servers {
  readonly clickhouse: ServerProcess
  readonly postgres: ServerProcess
  readonly redis: ServerProcess
  /** Counts alone while Redis is away. */
  readonly one: Instance
  /** Answers 503 while Redis is away. */
  readonly other: Instance
  /** A view of both stores that none of the instances shares. */
  readonly stores: Stores
  /** Of an account with what `fill` makes. */
  readonly key: string
  /** Fills the disk of ClickHouse to the last byte. @returns what makes room again */
  fillDisk(): Promise<() => Promise<void>>
  close(): Promise<void>
}

/** @param folder a small disk of its own, which is the caller's to remove; files of ClickHouse go there */
export async function openServers(folder: string): Promise<Servers> {
  const clickhouse = await startClickHouse(folder)
  const postgres = await startPostgres()
  const redis = await startRedis()
  const shared = { DATABASE_URL: postgres.url('tributary'), REDIS_URL: redis.url, LOG_LEVEL: 'fatal' }
  const admin = readSettings({ ...shared, CLICKHOUSE_URL: clickhouse.url('admin') })
  const stores = await openStores(admin, () => {})
  await migrate(stores)
  const key = await fill(stores)
  const environment = {
    ...shared,
    CLICKHOUSE_URL: clickhouse.url('tributary_writer'),
    CLICKHOUSE_READER_URL: clickhouse.url('tributary_reader'),
  }
  const instances = await Promise.all(
    (['open', 'closed'] as const).map((RATE_LIMIT_WITHOUT_REDIS) =>
      startInstance(folder, { ...environment, RATE_LIMIT_WITHOUT_REDIS }),
    ),
  )
  const [one, other] = instances as [Instance, Instance]
  return {
    clickhouse,
    postgres,
    redis,
    one,
    other,
    stores,
    key,
    async fillDisk() {
      const filler = join(folder, 'filler')
      const { bavail, bsize } = await statfs(folder)
      // A hole would take no room.
      await writeFile(filler, Buffer.alloc(bavail * bsize, 1)).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOSPC') throw error
      })
      return () => rm(filler)
    },
    async close() {
      await Promise.all([one.kill(), other.kill()])
      await stores.close()
      redis.close()
      await Promise.all([clickhouse.close(), postgres.close()])
    },
  }
}

async function startInstance(folder: string, environment: Record<string, string>): Promise<Instance> {
  const port = await freePort()
  const clock = await makeFalseClock(join(folder, `clock-${port}`))
  let child: ChildProcess
  let exited: Promise<unknown[]>
  let isDown = true

  async function start(): Promise<void> {
    child = spawn(process.execPath, [join(packageRoot, 'dist/src/main.js'), 'serve', '--json'], {
      env: { PATH: process.env.PATH, ...environment, ...clock.environment, PORT: `${port}` },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    exited = once(child, 'exit')
    const listening = once(child.stdout as NodeJS.ReadableStream, 'data')
    const [code] = (await Promise.race([listening.then(() => []), exited])) as [number?]
    if (code !== undefined) throw new Error(`An instance ended with ${code}.`)
    isDown = false
  }

  await start()
  return {
    port,
    start,
    isDown: () => isDown,
    async stop() {
      isDown = true
      child.kill('SIGTERM')
      const [code] = await exited
      if (code !== 0) throw new Error(`An instance that was told to stop ended with ${code}.`)
    },
    async kill() {
      isDown = true
      child.kill('SIGKILL')
      await exited
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

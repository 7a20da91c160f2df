import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createKey } from '../../src/accounts/keys.ts'
import { setPlanLimits } from '../../src/accounts/plans.ts'
import { storedInMonthSql } from '../../src/events/sql.ts'
import { readSettings } from '../../src/settings.ts'
import { selectRows } from '../../src/sql/rows.ts'
import { migrate } from '../../src/stores/migrate.ts'
import { openStores } from '../../src/stores/open.ts'
import { packageRoot } from '../../src/stores/packageRoot.ts'
import { storeClicks, storeMetadata } from '../kit/rows.ts'
import { Load } from './load.ts'

export const clicks = 200
const account = 'acme'

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

type Program = 'supervisor' | 'clickhouseEngine' | 'postgresEngine'

/** @param folder an empty one; it is the caller's to remove */
export async function openBed(folder: string): Promise<Bed> {
  const environment = { DATA_DIR: folder, PORT: `${await freePort()}`, LOG_LEVEL: 'fatal' }
  const stores = await openStores(readSettings(environment), () => {})
  await migrate(stores)
  await setPlanLimits(stores.postgres, 'scale', { eventsPerMinute: 10_000_000, identifierEventsPerMinute: 10_000_000 })
  await createAccount(stores.postgres, { id: account, name: account, plan: 'scale', currency: 'USD' })
  const scopes = ['write:events'] as const
  const created = await createKey(stores.postgres, { accountId: account, name: 'load', scopes, expiresAt: null })
  if (!created) throw new Error('The account is missing.')
  await storeMetadata(stores, 'campaigns', account, [{ id: 'camp' }])
  const clicked_at = '2026-11-20 10:00:00.000'
  const rows = Array.from({ length: clicks }, (_, n) => ({ id: `click-${n}`, clicked_at, campaign_id: 'camp' }))
  await storeClicks(stores, account, rows)
  const servers: ChildProcess[] = []

  async function ask<Row>(query: string): Promise<Row[]> {
    const settings = { output_format_json_quote_64bit_integers: 0 } as const
    const answer = await stores.clickhouse.client.query({ query, format: 'JSONEachRow', clickhouse_settings: settings })
    return await answer.json<Row>()
  }

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
    load: (connections) => new Load(Number(environment.PORT), created.key, connections),
    signal(program, signal) {
      const lines = execFileSync('ps', ['-axo', 'pid=,args='], { encoding: 'utf8' }).split('\n')
      const line = lines.find((candidate) => candidate.endsWith(`/embedded/${program}.js ${folder}`))
      if (!line) throw new Error(`There is no ${program}.`)
      process.kill(Number.parseInt(line, 10), signal)
    },
    async clickhouseAnswers() {
      for (const deadline = Date.now() + 60_000; ; await sleep(100)) {
        const answers = await ask('SELECT 1').then(
          () => true,
          () => false,
        )
        if (answers) return
        if (Date.now() > deadline) throw new Error('ClickHouse stays away.')
      }
    },
    async reckon(load) {
      const faults = [...load.faults]
      const stored = new Map<string, number>()
      const counted = await ask<{ id: string; rows: number; generation: number }>(
        'SELECT id, count() AS rows, max(generation) AS generation FROM pixel_events FINAL GROUP BY id',
      )
      for (const { id, rows, generation } of counted) {
        stored.set(id, rows)
        if (rows !== 1 || generation !== 0)
          faults.push(`${id} is stored ${rows} times, last as generation ${generation}`)
        if (!load.answered.has(id)) faults.push(`${id} is stored and nobody sent it`)
      }
      for (const id of load.answered) if (!stored.has(id)) faults.push(`${id} was answered 200 and is not stored`)
      await stores.clickhouse.client.command({ query: 'OPTIMIZE TABLE pixel_events FINAL' })
      const month = new Date()
      const [ceiling] = await selectRows<{ stored: number }>(
        stores.clickhouse,
        storedInMonthSql([account], Date.UTC(month.getUTCFullYear(), month.getUTCMonth())),
        { label: 'faults', settings: { force_optimize_projection: 1 } },
      )
      if (ceiling?.stored !== stored.size) faults.push(`The ceiling counts ${ceiling?.stored} of ${stored.size} events`)
      return faults
    },
    async close() {
      for (const server of servers) server.kill('SIGKILL')
      await stores.close()
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

import { randomBytes } from 'node:crypto'
import { constants, cpSync } from 'node:fs'
import { cp, rm } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { ClickHouse } from '../clickhouse/connection.ts'
import { selectRows } from '../clickhouse/select.ts'
import { ch } from '../clickhouse/sql.ts'
import { migrationLease } from '../migrations/migrate.ts'
import type { Postgres } from '../postgres/connection.ts'
import { EmbeddedError, type EmbeddedPaths } from './paths.ts'

/** Clients of Postgres would have waited for longer than a lease lasts; nothing was changed, so the copy may be tried again. */
export class CopyTooSlow extends EmbeddedError {}

/**
 * Copies the files of both running engines to a new folder. Postgres has the state of one moment, and confirms no batch until the
 * tables of ClickHouse are linked, so the copy opens as after a kill of both engines. Clients of Postgres wait until then.
 * @throws EmbeddedError if a migration runs, CopyTooSlow
 */
export async function copyEngines(
  { clickhouse, postgres }: { clickhouse: ClickHouse; postgres: Postgres },
  paths: EmbeddedPaths,
  target: string,
  signal: AbortSignal,
): Promise<void> {
  const links = join(paths.clickhouse, 'shadow')
  // A killed copy leaves links, and a statement of it may still add some below its own name.
  await rm(links, { recursive: true, force: true })
  // TRAP: ClickHouse escapes other characters in the name of the folder.
  const name = randomBytes(16).toString('hex')
  const tables = await selectRows<{ name: string }>(
    { reader: clickhouse.client, onQuery: undefined },
    ch`SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree' ORDER BY name`,
    { label: 'backup.tables' },
  )
  const options = { recursive: true, mode: constants.COPYFILE_FICLONE }
  try {
    // An open transaction has exclusive use of the one session: no batch is confirmed between the two copies.
    await postgres.begin(async (transaction) => {
      const sinceMs = performance.now()
      const running = await transaction`
        SELECT 1 FROM leases WHERE name = ${migrationLease} AND expires_at > clock_timestamp()`
      if (running.length > 0) throw new EmbeddedError('a migration is running; run the command again after it')
      for (const table of tables) {
        await clickhouse.client.command({ query: `ALTER TABLE ${table.name} FREEZE WITH NAME '${name}'` })
      }
      const filter = (path: string) => definitions.test(relative(paths.clickhouse, path))
      cpSync(paths.clickhouse, join(target, 'clickhouse'), { ...options, filter })
      const inTime = () => {
        if (performance.now() - sinceMs < heldMsMax) return true
        throw new CopyTooSlow(`copying Postgres takes longer than ${heldMsMax / 1000} s`)
      }
      // An asynchronous copy of a thousand small files takes longer.
      cpSync(paths.postgres, join(target, 'postgres'), { ...options, filter: inTime })
    })
    cpSync(join(paths.run, 'clickhouse.json'), join(target, 'run/clickhouse.json'))
    const filter = () => {
      signal.throwIfAborted()
      return true
    }
    await cp(join(links, name), join(target, 'clickhouse'), { ...options, filter })
  } finally {
    await rm(links, { recursive: true, force: true })
  }
}

/** Leases of writers expire later, so a backup ends no import. */
const heldMsMax = 8_000

/** Files that define databases and tables. Unfinished mutations are left out: the writer or the server starts them again, as after a kill. */
const definitions = /^(metadata(\/[^/]+\.sql)?|store(\/[^/]+){0,2}(\/([^/]+\.sql|format_version\.txt))?)?$/

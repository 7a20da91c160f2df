import { randomBytes } from 'node:crypto'
import { constants, cpSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { cp, rm } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { selectRows } from '../clickhouse/select.ts'
import { ch } from '../clickhouse/sql.ts'
import type { ClickHouse } from '../cluster/connection.ts'
import { migrationLease } from '../migrations/migrate.ts'
import type { Postgres } from '../postgres/connection.ts'
import { EmbeddedError, type EmbeddedPaths } from './paths.ts'

/** Clients of Postgres would have waited for too long; nothing was changed, so the copy may be tried again. */
export class CopyTooSlow extends EmbeddedError {}

/**
 * Copies the files of both running engines to a new folder. Postgres has the state of one moment, and confirms no batch until the
 * tables of ClickHouse are linked, so the copy opens as after a kill of both engines. Clients of Postgres wait until then, and leases
 * expire later by this time, so that no import loses its account.
 * @param heldMsMax longest time for which clients of Postgres wait
 * @throws EmbeddedError if a migration runs, CopyTooSlow
 */
export async function copyEngines(
  { clickhouse, postgres }: { clickhouse: ClickHouse; postgres: Postgres },
  paths: EmbeddedPaths,
  target: string,
  heldMsMax: number,
  signal: AbortSignal,
): Promise<void> {
  const links = join(paths.clickhouse, 'shadow')
  // A killed copy leaves links, and a statement of it may still add some below its own name.
  await rm(links, { recursive: true, force: true })
  // TRAP: ClickHouse escapes other characters in the name of the folder.
  const name = randomBytes(16).toString('hex')
  const tables = await selectRows<{ name: string }>(
    { reader: clickhouse.client },
    ch`SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree' ORDER BY name`,
    { label: 'backup.tables' },
  )
  const options = { recursive: true, mode: constants.COPYFILE_FICLONE }
  try {
    // An open transaction has exclusive use of the one session: no batch is confirmed between the two copies.
    const failure = await postgres.begin(async (transaction) => {
      const sinceMs = performance.now()
      let activeMs = sinceMs
      const holdInTime = async () => {
        if (performance.now() - sinceMs > heldMsMax) {
          throw new CopyTooSlow(`copying Postgres takes longer than ${heldMsMax / 1000} s`)
        }
        if (performance.now() - activeMs < pingMs) return
        await transaction`SELECT 1`
        activeMs = performance.now()
      }
      const copy = async () => {
        const running = await transaction`
          SELECT 1 FROM leases WHERE name = ${migrationLease} AND expires_at > clock_timestamp()`
        if (running.length > 0) throw new EmbeddedError('a migration is running; run the command again after it')
        for (const table of tables) {
          await clickhouse.client.command({ query: `ALTER TABLE ${table.name} FREEZE WITH NAME '${name}'` })
          await holdInTime()
        }
        const filter = (path: string) => definitions.test(relative(paths.clickhouse, path))
        cpSync(paths.clickhouse, join(target, 'clickhouse'), { ...options, filter })
        mkdirSync(join(target, 'postgres'), folderOptions)
        // An asynchronous copy of a thousand small files takes longer.
        for (const file of readdirSync(paths.postgres, { recursive: true, encoding: 'utf8' })) {
          await holdInTime()
          const [from, to] = [join(paths.postgres, file), join(target, 'postgres', file)]
          if (statSync(from).isDirectory()) mkdirSync(to, folderOptions)
          else cpSync(from, to, options)
        }
      }
      const failed = await copy().catch((error: Error) => error)
      // The present time of Postgres is the beginning of the transaction.
      await transaction`
        UPDATE leases SET expires_at = expires_at + (clock_timestamp() - now())
        WHERE expires_at > now() AND expires_at < 'infinity'`
      return failed
    })
    if (failure) throw failure
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

/** Postgres ends a transaction that has no statement for 10 s. */
const pingMs = 1_000
const folderOptions = { recursive: true, mode: 0o700 }

/** Files that define databases and tables. Unfinished mutations are left out: the writer or the server starts them again, as after a kill. */
const definitions = /^(metadata(\/[^/]+\.sql)?|store(\/[^/]+){0,2}(\/([^/]+\.sql|format_version\.txt))?)?$/

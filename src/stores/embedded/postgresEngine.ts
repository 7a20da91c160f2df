// The process of the embedded Postgres: PGlite behind a Unix socket.
import { fork } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { lockFile } from './lock.ts'
import { type Places, placesOf } from './places.ts'
import { servePostgres } from './postgresServer.ts'
import { type EngineNotice, endMessage } from './protocol.ts'

/** An engine whose supervisor was killed may still be on its way out. */
const lockPatienceMs = 10_000
/** The version whose files PGlite reads; it writes it into PG_VERSION. */
const postgresVersion = '18'

// What was answered is in files already, so a dead supervisor is followed at once.
process.on('disconnect', () => process.exit(0))
process.on('SIGINT', () => {})

main(placesOf(process.argv[2] ?? '')).catch((error: unknown) => {
  const message = error instanceof Error ? error.message : String(error)
  tell({ kind: 'failed', message: message.replace(/\.$/, '') }, () => process.exit(1))
})

async function main(places: Places): Promise<void> {
  // TRAP: two PGlites on one folder corrupt it, and PGlite itself does not notice.
  if (!(await lockFile(join(places.run, 'postgres.lock'), lockPatienceMs))) {
    throw new Error('another process still has its folder')
  }
  const versionFile = join(places.postgres, 'PG_VERSION')
  if (!existsSync(versionFile)) await makeFolder(places)
  const version = readFileSync(versionFile, 'utf8').trim()
  if (version !== postgresVersion) {
    throw new Error(`its folder belongs to Postgres ${version}, this is ${postgresVersion}`)
  }
  chmodSync(places.postgres, 0o700)
  const engine = await PGlite.create(places.postgres, { startParams })
  const server = await servePostgres(engine, places.postgresSocket)
  let ending = false
  const end = async () => {
    if (ending) return
    ending = true
    await server.close()
    await engine.close()
    process.exit(0)
  }
  process.on('message', (message) => {
    if (message === endMessage) void end()
  })
  process.on('SIGTERM', () => void end())
  tell({ kind: 'ready', address: { path: places.postgresSocket } })
}

/** PGlite's own parameters with less memory and less WAL kept. */
const startParams = [
  ...PGlite.defaultStartParams,
  ...[
    'shared_buffers=32MB',
    'min_wal_size=32MB',
    'max_wal_size=64MB',
    'wal_level=minimal',
    'max_wal_senders=0',
  ].flatMap((setting) => ['-c', setting]),
]

/**
 * Makes the database in a folder beside and renames it when it is whole, so that a start which is killed half-way leaves
 * nothing that looks like a database. In a process of its own, because making one takes 500 MB that it would keep.
 */
async function makeFolder(places: Places): Promise<void> {
  const prefix = 'postgres.making-'
  for (const name of readdirSync(places.dataDir)) {
    if (name.startsWith(prefix)) rmSync(join(places.dataDir, name), { recursive: true, force: true })
  }
  const draft = join(places.dataDir, `${prefix}${process.pid}`)
  await new Promise<void>((resolve, reject) => {
    const child = fork(join(import.meta.dirname, 'postgresMake.js'), [draft], { stdio: 'inherit', env: { TZ: 'UTC' } })
    child.on('error', reject)
    child.on('exit', (code, signal) => {
      if (code === 0) resolve()
      else reject(new Error(`its folder could not be made (${signal ?? `exit code ${code}`})`))
    })
  })
  rmSync(places.postgres, { recursive: true, force: true })
  renameSync(draft, places.postgres)
}

function tell(notice: EngineNotice, sent = () => {}): void {
  process.send?.(notice, sent)
}

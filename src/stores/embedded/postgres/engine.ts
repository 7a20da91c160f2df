// The process of the embedded Postgres: PGlite behind a Unix socket.
import { fork } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { lockFile, syncDisks } from '../fileLock.ts'
import { type EmbeddedPaths, embeddedPathsOf } from '../paths.ts'
import type { EngineNotice, EngineOrder } from '../protocol.ts'
import { servePostgres } from './server.ts'
import { openSession } from './session.ts'

/** An engine whose supervisor was killed may still be on its way out. */
const lockTimeoutMs = 10_000
/** The version whose files PGlite reads; it writes it into PG_VERSION. */
const postgresVersion = '18'

// What was answered is in files already, so a dead supervisor is followed at once.
process.on('disconnect', () => process.exit(0))
// TRAP: one that died while the modules above were loaded was announced before anybody listened.
if (!process.connected) process.exit(0)
process.on('SIGINT', () => {})
process.on('SIGTERM', () => end())
process.on('message', (order: EngineOrder) => {
  if (order.kind === 'end') end()
  else notify({ kind: 'alive' })
})
/** Ends in order; until there is something to put in order, at once. */
let end = (): void => process.exit(0)

main(embeddedPathsOf(process.argv[2] ?? '')).catch((error: unknown) => {
  const message = error instanceof Error ? error.message : String(error)
  notify({ kind: 'failed', message: message.replace(/\.$/, '') }, () => process.exit(1))
})

async function main(places: EmbeddedPaths): Promise<void> {
  // TRAP: two PGlites on one folder corrupt it, and PGlite itself does not notice.
  if (!(await lockFile(join(places.run, 'postgres.lock'), lockTimeoutMs))) {
    throw new Error('another process still has its folder')
  }
  const versionFile = join(places.postgres, 'PG_VERSION')
  if (isMissingOrEmpty(places.postgres)) await makeFolder(places)
  else if (!existsSync(versionFile)) {
    throw new Error(`${places.postgres} is not empty and holds no whole database; put back a backup, or remove it`)
  }
  const version = readFileSync(versionFile, 'utf8').trim()
  if (version !== postgresVersion) {
    throw new Error(`its folder belongs to Postgres ${version}, this is ${postgresVersion}`)
  }
  chmodSync(places.postgres, 0o700)
  const session = await openSession(places.postgres)
  const server = await servePostgres(session, places.postgresSocket)
  const close = async () => {
    await server.close()
    await session.close()
    process.exit(0)
  }
  end = () => {
    end = () => {}
    void close()
  }
  notify({ kind: 'ready', address: { path: places.postgresSocket } })
}

/** Only then is it ours to fill: anything else may be a backup that is being put back. */
function isMissingOrEmpty(folder: string): boolean {
  return !existsSync(folder) || readdirSync(folder).length === 0
}

/**
 * Makes the database in a folder beside and renames it when it is whole, so that a start which is killed half-way leaves
 * nothing that looks like a database. In a process of its own, because making one takes 500 MB that it would keep.
 */
async function makeFolder(places: EmbeddedPaths): Promise<void> {
  const prefix = 'postgres.making-'
  for (const name of readdirSync(places.dataDir)) {
    if (name.startsWith(prefix)) rmSync(join(places.dataDir, name), { recursive: true, force: true })
  }
  const draft = join(places.dataDir, `${prefix}${process.pid}`)
  await new Promise<void>((resolve, reject) => {
    const child = fork(join(import.meta.dirname, 'init.js'), [draft], { stdio: 'inherit', env: { TZ: 'UTC' } })
    child.on('error', reject)
    child.on('exit', (code, signal) => {
      if (code === 0) resolve()
      else reject(new Error(`its folder could not be made (${signal ?? `exit code ${code}`})`))
    })
  })
  syncDisks()
  rmSync(places.postgres, { recursive: true, force: true })
  renameSync(draft, places.postgres)
}

function notify(notice: EngineNotice, sent = () => {}): void {
  process.send?.(notice, sent)
}

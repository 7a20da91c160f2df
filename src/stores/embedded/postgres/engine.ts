// The process of the embedded Postgres: PGlite behind a Unix socket.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { reasonOf } from '../../timing/periodic.ts'
import { lockFile, syncDisks } from '../fileLock.ts'
import { type EmbeddedPaths, embeddedPathsOf } from '../paths.ts'
import type { EngineNotice, EngineOrder } from '../protocol.ts'
import { servePostgres } from './server.ts'
import { openSession } from './session.ts'

/** The engine of a killed supervisor may still be ending. */
const lockTimeoutMs = 10_000
/** The version of PGlite's files, as in PG_VERSION. */
const postgresVersion = '18'

// V8 optimizes a function of PGlite when it has executed this many bytes. The default of Node.js 20 is so small that V8 optimizes many
// functions which run only at the start.
setFlagsFromString('--wasm-tiering-budget=30000000')

// Committed data is in files already, so the engine ends with its supervisor at once.
process.on('disconnect', () => process.exit(0))
// TRAP: the event of a supervisor that died while the modules were loading is lost.
if (!process.connected) process.exit(0)
process.on('SIGINT', () => {})
process.on('SIGTERM', () => end())
process.on('message', (order: EngineOrder) => {
  if (order.kind === 'end') end()
  else notify({ kind: 'alive' })
})
/** Ends the process; in order once the session is open. */
let end = (): void => process.exit(0)

main(embeddedPathsOf(process.argv[2] ?? '')).catch((error: unknown) => {
  notify({ kind: 'failed', message: reasonOf(error).replace(/\.$/, '') }, () => process.exit(1))
})

async function main(paths: EmbeddedPaths): Promise<void> {
  // TRAP: two PGlites on one folder corrupt it, and PGlite itself does not notice.
  if (!(await lockFile(join(paths.run, 'postgres.lock'), lockTimeoutMs))) {
    throw new Error('another process still uses its folder')
  }
  const versionFile = join(paths.postgres, 'PG_VERSION')
  // Only such a folder is initialised: anything else may be a backup that is being restored.
  if (!existsSync(paths.postgres) || readdirSync(paths.postgres).length === 0) await initialise(paths)
  else if (!existsSync(versionFile)) {
    throw new Error(`${paths.postgres} is not empty and contains no complete database; restore a backup, or remove it`)
  }
  const version = readFileSync(versionFile, 'utf8').trim()
  if (version !== postgresVersion) {
    throw new Error(`its folder belongs to Postgres ${version}, this is ${postgresVersion}`)
  }
  chmodSync(paths.postgres, 0o700)
  const session = await openSession(paths.postgres)
  const server = await servePostgres(session, paths.postgresSocket)
  const close = async () => {
    await server.close()
    await session.close()
    process.exit(0)
  }
  end = () => {
    end = () => {}
    void close()
  }
  notify({ kind: 'ready', address: { path: paths.postgresSocket } })
}

/** Creates the database in a temporary folder and renames it when it is complete. A process of its own releases the 500 MB. */
async function initialise(paths: EmbeddedPaths): Promise<void> {
  const prefix = 'postgres.making-'
  for (const name of readdirSync(paths.dataDir)) {
    if (name.startsWith(prefix)) rmSync(join(paths.dataDir, name), { recursive: true, force: true })
  }
  const draft = join(paths.dataDir, `${prefix}${process.pid}`)
  const child = fork(join(import.meta.dirname, 'init.js'), [draft], { stdio: 'inherit', env: { TZ: 'UTC' } })
  const [code, signal] = await once(child, 'exit')
  if (code !== 0) throw new Error(`its folder could not be created (${signal ?? `exit code ${code}`})`)
  syncDisks()
  rmSync(paths.postgres, { recursive: true, force: true })
  renameSync(draft, paths.postgres)
}

function notify(notice: EngineNotice, sent = () => {}): void {
  process.send?.(notice, sent)
}

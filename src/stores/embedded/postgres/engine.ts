// The process of the embedded Postgres: PGlite behind a Unix socket.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { syncDisks } from '../fileLock.ts'
import type { EmbeddedPaths } from '../paths.ts'
import type { EmbeddedPostgres } from '../protocol.ts'
import { runEngine } from '../runEngine.ts'
import { servePostgres } from './server.ts'
import { openSession } from './session.ts'

/** The version of PGlite's files, as in PG_VERSION. */
const postgresVersion = '18'

// V8 optimizes a function of PGlite when it has executed this many bytes. The default of Node.js 20 is so small that V8 optimizes many
// functions which run only at the start.
setFlagsFromString('--wasm-tiering-budget=30000000')

// Committed data is in files already, so the engine ends with its supervisor at once.
const die = (): void => process.exit(0)
/** Ends the process; in order once the session is open. */
let end: () => void = die
process.on('SIGINT', () => {})
runEngine('postgres', start, () => end(), die)

async function start(paths: EmbeddedPaths): Promise<EmbeddedPostgres> {
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
  end = async () => {
    end = () => {}
    await server.close()
    await session.close()
    die()
  }
  return { path: paths.postgresSocket }
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

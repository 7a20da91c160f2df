import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { fileOf, isInstalled } from './isInstalled.ts'
import { listProcesses } from './processes.ts'
import { freePort, type ServerProcess } from './serverProcess.ts'
import { holds, until } from './until.ts'

const programs = fileOf('postgresql-15')

const startTimeoutMs = 60_000

export const hasPostgres = () => isInstalled('postgresql-15')

/**
 * Creates a server with an empty database `tributary` on a free port.
 * @param environment variables of its process, in addition to the defaults
 * @throws Error when postgresql-15 is not installed
 */
export async function startPostgres(environment: Record<string, string> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'tributary-postgres-'))
  const user = userOfServer()
  if (user) await chown(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  execFileSync(join(programs, 'initdb'), ['-D', data, '-A', 'trust', '-U', 'postgres', '-E', 'UTF8', '--no-sync'], {
    ...user,
    stdio: 'ignore',
    cwd: folder,
  })
  const port = await freePort()
  const url = (database: string, atPort = port) => `postgres://postgres@127.0.0.1:${atPort}/${database}`
  let child: ChildProcess
  let exited: Promise<unknown>

  /** Sends a signal to the child processes of the server, one per connection and a few others, and to the server, which starts no more. */
  function signal(name: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): void {
    const pid = child.pid ?? 0
    process.kill(pid, 'SIGSTOP')
    for (const { id, parent } of listProcesses()) if (parent === pid) process.kill(id, name)
    process.kill(pid, name)
  }

  async function start(atPort = port): Promise<void> {
    for (const deadlineMs = performance.now() + startTimeoutMs; ; await sleep(100)) {
      const options = ['listen_addresses=127.0.0.1', 'dynamic_shared_memory_type=mmap'].flatMap((one) => ['-c', one])
      const words = ['-D', data, '-p', `${atPort}`, '-k', folder, ...options]
      child = spawn(join(programs, 'postgres'), words, {
        ...user,
        stdio: 'ignore',
        cwd: folder,
        env: { ...process.env, ...environment },
      })
      exited = once(child, 'exit')
      if (await waitUntilReady(child, url('postgres', atPort))) return
      if (performance.now() > deadlineMs) throw new Error('PostgreSQL does not start.')
    }
  }

  await start()
  const sql = postgres(url('postgres'), { max: 1 })
  await sql`CREATE DATABASE tributary`
  await sql.end()
  const server: ServerProcess = {
    start: () => start(),
    async stop() {
      child.kill('SIGINT')
      await exited
    },
    async kill() {
      signal('SIGKILL')
      await exited
    },
    pause: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
  }
  return {
    ...server,
    port,
    /** Process id of the server; changes with each start. */
    get pid() {
      return child.pid ?? 0
    },
    get ended() {
      return exited
    },
    /** The URL of one of its databases, as administrator without a password; only from this machine. */
    url: (database: string) => url(database),
    /** Starts it again on another port. @returns the new URL of its database `tributary` */
    async startOnNewPort(): Promise<string> {
      const otherPort = await freePort()
      await start(otherPort)
      return url('tributary', otherPort)
    },
    async close(): Promise<void> {
      if (child.exitCode === null && child.signalCode === null) await server.kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** PostgreSQL refuses to run as root. */
function userOfServer(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const [uid = 0, gid = 0] = ['-u', '-g'].map((what) => Number(execFileSync('id', [what, 'postgres'])))
  return { uid, gid }
}

/** Waits until a server responds. @returns false when its process exited, as it does while files of a killed one remain */
async function waitUntilReady(child: ChildProcess, url: string): Promise<boolean> {
  const sql = postgres(url, { max: 1, backoff: () => 0.05, connect_timeout: 1 })
  try {
    let isUp = false
    await until(async () => {
      isUp = await holds(() => sql`SELECT 1`)
      return isUp || child.exitCode !== null
    }, startTimeoutMs)
    return isUp
  } finally {
    await sql.end({ timeout: 1 })
  }
}

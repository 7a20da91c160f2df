import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync, statSync, truncateSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { installedVersion, optionalDependencies, packageRoot } from '../../package.ts'
import { createEmbeddedPaths, EmbeddedError, type EmbeddedPaths } from './paths.ts'
import {
  type EmbeddedClickHouse,
  type EmbeddedPostgres,
  type EngineName,
  engineNames,
  type LogLine,
  type Notice,
  protocolVersion,
  readJsonLines,
  writeJsonLine,
} from './protocol.ts'

export interface EmbeddedOptions {
  dataDir: string
  clickhouse: boolean
  postgres: boolean
  /** Memory of ClickHouse, in MB; counts when this process starts the engines. */
  clickhouseMemoryMb?: number | undefined
  log: (line: LogLine) => void
}

/** A first start of an empty folder takes 5 s on an idle machine; a large ClickHouse folder on a slow disk takes longer. */
const startTimeoutMs = 120_000
const retryPauseMs = 50
const reconnectPauseMs = 5_000
const logSizeMax = 5 * 1024 * 1024

/**
 * Connects to the supervisor of a folder, or starts it; resolves when the engines are ready. They are restarted when they die.
 * @throws EmbeddedError naming the setting
 */
export async function connectEmbedded(options: EmbeddedOptions) {
  const { dataDir, log } = options
  const wants = engineNames.filter((name) => options[name])
  let connection: Socket | undefined
  let isClosed = false
  /** The addresses of the engines; each restart of ClickHouse changes its address. */
  const engines = {
    clickhouse: undefined as EmbeddedClickHouse | undefined,
    postgres: undefined as EmbeddedPostgres | undefined,
    /** Called with the address after each restart of ClickHouse, and after each connection to a supervisor. */
    onClickHouseMoved: undefined as ((address: EmbeddedClickHouse) => void) | undefined,
    /** Closes the connection; the engines end 2 s after the last client has closed its own. */
    async close() {
      isClosed = true
      if (!connection || connection.closed) return
      connection.ref()
      connection.destroy()
      await once(connection, 'close')
    },
  }
  if (wants.length === 0) return engines
  requirePackages(wants)
  const paths = createEmbeddedPaths(dataDir)
  await open()
  return engines

  async function open(): Promise<void> {
    const deadline = Date.now() + startTimeoutMs
    let supervisor: ChildProcess | undefined
    while (!isClosed) {
      if (Date.now() > deadline) {
        throw new EmbeddedError(`DATA_DIR=${dataDir}: the engines do not start; see ${paths.log}.`)
      }
      const socket = await connectTo(paths.controlSocket)
      if (socket && (await handshake(socket, deadline))) return
      if (!socket && hasEnded(supervisor, paths)) supervisor = startSupervisor(paths, options.clickhouseMemoryMb)
      await sleep(retryPauseMs)
    }
  }

  /** @returns false when the supervisor ended before the engines were ready */
  function handshake(socket: Socket, deadline: number): Promise<boolean> {
    connection = socket
    return new Promise((resolve, reject) => {
      const missing = new Set(wants)
      let isConnected = false
      const timeout = setTimeout(() => socket.destroy(), deadline - Date.now())
      socket.on('close', () => {
        clearTimeout(timeout)
        if (isConnected) void reconnect()
        resolve(false)
      })
      readJsonLines(socket, (value) => {
        const notice = value as Notice
        if (notice.kind === 'log') log(notice.line)
        if (notice.kind === 'failed') {
          reject(new EmbeddedError(`DATA_DIR=${dataDir}: ${notice.message}`))
          socket.destroy()
        }
        if (notice.kind !== 'ready') return
        Object.assign(engines, { [notice.engine]: notice.address })
        if (notice.engine === 'clickhouse') engines.onClickHouseMoved?.(notice.address as EmbeddedClickHouse)
        missing.delete(notice.engine)
        if (missing.size > 0 || isConnected) return
        isConnected = true
        clearTimeout(timeout)
        // The connection does not keep the process running.
        socket.unref()
        resolve(true)
      })
      writeJsonLine(socket, { version: protocolVersion, wants })
    })
  }

  /** Starts another supervisor after one has died; its engines end with it. */
  async function reconnect(): Promise<void> {
    if (isClosed) return
    log({ level: 'error', message: 'The supervisor of the embedded engines ended unexpectedly; starting another.' })
    while (!isClosed) {
      try {
        await open()
        if (!isClosed) log({ level: 'info', message: 'Attached to the embedded engines again.' })
        return
      } catch (error) {
        log({ level: 'error', message: (error as Error).message })
        await sleep(reconnectPauseMs, undefined, { ref: false })
      }
    }
  }
}

/** The connection to the supervisor of a folder, and the addresses of its engines. */
export type EmbeddedEngines = Awaited<ReturnType<typeof connectEmbedded>>

const packagesOf: Record<EngineName, { packages: string[]; setting: string }> = {
  clickhouse: { packages: ['chdb', 'ffi-rs'], setting: 'CLICKHOUSE_URL' },
  postgres: { packages: ['@electric-sql/pglite', 'ffi-rs'], setting: 'DATABASE_URL' },
}

/** @throws EmbeddedError that names the packages of an engine, if one is not installed in the version of package.json */
export function requirePackages(wants: readonly EngineName[]): void {
  for (const { packages, setting } of wants.map((name) => packagesOf[name])) {
    if (packages.every((name) => installedVersion(name) === optionalDependencies[name])) continue
    const list = packages.map((name) => `${name}@${optionalDependencies[name]}`).join(' and ')
    throw new EmbeddedError(`the optional packages ${list} are not installed; set ${setting} or install them.`)
  }
}

/** @returns undefined when no process listens there */
function connectTo(path: string): Promise<Socket | undefined> {
  const socket = connect(path).on('error', () => {})
  return once(socket, 'connect').then(
    () => socket,
    () => undefined,
  )
}

/** Starts a supervisor that outlives this process. It ends at once with 0 when another one owns the folder: it is starting or ending. */
function startSupervisor(paths: EmbeddedPaths, clickhouseMemoryMb = 0): ChildProcess {
  const entry = join(packageRoot, 'dist/src/stores/embedded/supervisor.js')
  if (!existsSync(entry)) throw new EmbeddedError(`the program is not compiled (${entry} is missing): npm run build.`)
  if (existsSync(paths.log) && statSync(paths.log).size > logSizeMax) truncateSync(paths.log)
  const log = openSync(paths.log, 'a', 0o600)
  const child = spawn(process.execPath, [entry, paths.dataDir], {
    detached: true,
    stdio: ['ignore', log, log],
    cwd: '/',
    // The engines inherit it.
    env: { TZ: 'UTC', ...(clickhouseMemoryMb && { CLICKHOUSE_MEMORY_MB: `${clickhouseMemoryMb}` }) },
  })
  closeSync(log)
  child.on('error', () => {}).unref()
  return child
}

/** Whether no supervisor was started, or it found another one. @throws EmbeddedError when it has failed, or a restore owns the folder */
function hasEnded(supervisor: ChildProcess | undefined, paths: EmbeddedPaths): boolean {
  if (!supervisor) return true
  const { exitCode, signalCode } = supervisor
  if (exitCode === null && signalCode === null) return false
  if (exitCode !== 0) {
    const reason = signalCode ? `signal ${signalCode}` : readFileSync(paths.log, 'utf8').trimEnd().split('\n').at(-1)
    throw new EmbeddedError(`the supervisor of the embedded engines did not start: ${reason}.`)
  }
  if (existsSync(paths.restoring)) {
    throw new EmbeddedError(`DATA_DIR=${paths.dataDir}: a restore into this folder is running; wait until it ends.`)
  }
  return true
}

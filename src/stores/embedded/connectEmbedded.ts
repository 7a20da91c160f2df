import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync, statSync, truncateSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
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
const spawnTimeoutMs = 30_000
const retryPauseMs = 100
const reconnectPauseMinMs = 1000
const reconnectPauseMaxMs = 30_000
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
    /** Called with the new address after each restart of ClickHouse. */
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
    while (!isClosed) {
      if (Date.now() > deadline) {
        throw new EmbeddedError(`DATA_DIR=${dataDir}: the engines do not start; see ${paths.log}.`)
      }
      const socket = await connectTo(paths.controlSocket)
      if (!socket) {
        if ((await startSupervisor(paths, options.clickhouseMemoryMb)) === 'listening') continue
        if (existsSync(paths.restoring)) {
          throw new EmbeddedError(`DATA_DIR=${dataDir}: a restore into this folder is running; wait until it ends.`)
        }
      } else if (await handshake(socket, deadline)) return
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
        const previous = engines.clickhouse?.socketPath
        Object.assign(engines, { [notice.engine]: notice.address })
        const { clickhouse } = engines
        if (previous && clickhouse && clickhouse.socketPath !== previous) engines.onClickHouseMoved?.(clickhouse)
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
    for (let pauseMs = reconnectPauseMinMs; !isClosed; pauseMs = Math.min(pauseMs * 2, reconnectPauseMaxMs)) {
      try {
        await open()
        if (!isClosed) log({ level: 'info', message: 'Attached to the embedded engines again.' })
        return
      } catch (error) {
        log({ level: 'error', message: (error as Error).message })
        await sleep(pauseMs, undefined, { ref: false })
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

/** @throws EmbeddedError that names the packages of an engine which are not installed, or not in the version of package.json */
export function requirePackages(wants: readonly EngineName[]): void {
  for (const { packages, setting } of wants.map((name) => packagesOf[name])) {
    for (const wanted of packages) {
      const [found, needed] = [installedVersion(wanted), optionalDependencies[wanted]]
      if (found === needed) continue
      const list = packages.map((one) => `${one} ${optionalDependencies[one]}`).join(' and ')
      const [reason, missing] = found
        ? [`this version of Tributary needs ${wanted} ${needed}, but ${found} is installed`, `${wanted}@${needed}`]
        : [`the optional packages ${list} are not installed`, 'them']
      throw new EmbeddedError(`${reason}; set ${setting} or install ${missing}.`)
    }
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

/** Starts a supervisor that outlives this process. @returns `taken` when another one owns the folder: it is starting or ending */
async function startSupervisor(paths: EmbeddedPaths, clickhouseMemoryMb = 0): Promise<'listening' | 'taken'> {
  const entry = join(packageRoot, 'dist/src/stores/embedded/supervisor.js')
  if (!existsSync(entry)) throw new EmbeddedError(`the program is not compiled (${entry} is missing): npm run build.`)
  if (existsSync(paths.log) && statSync(paths.log).size > logSizeMax) truncateSync(paths.log)
  const log = openSync(paths.log, 'a', 0o600)
  const child = spawn(process.execPath, [entry, paths.dataDir], {
    detached: true,
    stdio: ['ignore', 'pipe', log],
    cwd: '/',
    // The engines inherit it.
    env: { TZ: 'UTC', ...(clickhouseMemoryMb && { CLICKHOUSE_MEMORY_MB: `${clickhouseMemoryMb}` }) },
  })
  closeSync(log)
  // Standard output is a pipe.
  const stdout = child.stdout as Readable
  const firstLine = once(createInterface(stdout), 'line').then(([line]) => String(line))
  const end = once(child, 'close').then(
    ([, signal]) => (signal ? `failed: signal ${signal}` : 'failed: '),
    (error: Error) => `failed: ${error.message}`,
  )
  const timeout = sleep(spawnTimeoutMs, `failed: no response within ${spawnTimeoutMs / 1000} s`, { ref: false })
  const line = await Promise.race([firstLine, end, timeout])
  stdout.destroy()
  child.unref()
  if (line === 'listening' || line === 'taken') return line
  const reason = line.replace(/^failed: /, '') || readFileSync(paths.log, 'utf8').trimEnd().split('\n').at(-1)
  throw new EmbeddedError(`the supervisor of the embedded engines did not start: ${reason}.`)
}

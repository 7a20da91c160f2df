// Owns the engines of one DATA_DIR. The first client starts it; it ends 2 s after the last client has detached. If it does not start, the
// last line of its log says why.
import { once } from 'node:events'
import { existsSync, rmSync, writeSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { packageRoot } from '../../package.ts'
import { reasonOf } from '../timing/periodic.ts'
import { EngineProcess } from './engineProcess.ts'
import { lockFile } from './fileLock.ts'
import { createEmbeddedPaths, type EmbeddedPaths, embeddedPathsOf } from './paths.ts'
import {
  type EngineName,
  engineNames,
  type Hello,
  type LogLine,
  type Notice,
  protocolVersion,
  readJsonLines,
  writeJsonLine,
} from './protocol.ts'

/** Time until the engines end without a client; long enough for two commands in a row. */
const idleTimeoutMs = 2000

function openSupervisor(paths: EmbeddedPaths) {
  const clients = new Map<Socket, Set<EngineName>>()
  const engines = { clickhouse: openEngine('clickhouse', 'ClickHouse'), postgres: openEngine('postgres', 'Postgres') }
  const server = createServer(acceptClient)
  let idleTimer: NodeJS.Timeout | undefined
  return { listen, end, log }

  async function listen(): Promise<void> {
    // The lock guarantees that no other supervisor listens there.
    rmSync(paths.controlSocket, { force: true })
    await once(server.listen(paths.controlSocket), 'listening')
    stopWhenIdle()
  }

  /** Ends the engines, then the process. Clients that connect meanwhile start another supervisor. */
  async function end(): Promise<void> {
    server.close()
    await Promise.all(engineNames.map((name) => engines[name].end()))
    log({ level: 'info', message: 'The engines have ended.' })
    process.exit(0)
  }

  function log(line: LogLine): void {
    writeLog(`${new Date().toISOString()} ${line.level} ${line.message}\n`)
    for (const socket of clients.keys()) writeJsonLine(socket, { kind: 'log', line })
  }

  function openEngine(name: EngineName, title: string): EngineProcess {
    return new EngineProcess({
      title,
      entry: join(packageRoot, 'dist/src/stores/embedded', name, 'engine.js'),
      args: [paths.dataDir],
      ready: (address) => notify(name, { kind: 'ready', engine: name, address }),
      failed: (message) => {
        writeLog(`${new Date().toISOString()} error ${message}\n`)
        notify(name, { kind: 'failed', message })
      },
      log,
      print: writeLog,
    })
  }

  function acceptClient(socket: Socket): void {
    socket.on('error', () => {})
    socket.on('close', () => {
      clients.delete(socket)
      stopWhenIdle()
    })
    readJsonLines(socket, (value) => {
      const hello = value as Hello
      if (hello.version !== protocolVersion) {
        const message = 'another version of this program runs the engines; stop it first'
        writeJsonLine(socket, { kind: 'failed', message: `${message}.` })
        socket.end()
        return
      }
      clearTimeout(idleTimer)
      clients.set(socket, new Set(hello.wants))
      for (const name of hello.wants) {
        const engine = engines[name]
        engine.start()
        if (engine.address) writeJsonLine(socket, { kind: 'ready', engine: name, address: engine.address })
      }
    })
  }

  function notify(name: EngineName, notice: Notice): void {
    for (const [socket, wants] of clients) if (wants.has(name)) writeJsonLine(socket, notice)
  }

  function stopWhenIdle(): void {
    clearTimeout(idleTimer)
    if (clients.size === 0) idleTimer = setTimeout(end, idleTimeoutMs)
  }
}

/** Writes to the log of the engines. TRAP: on a full disk that fails; `process.stderr` would end this process and the engines. */
function writeLog(text: string): void {
  try {
    writeSync(2, text)
  } catch {}
}

async function main(dataDir: string): Promise<void> {
  process.umask(0o077)
  const { restoring, supervisorLock } = embeddedPathsOf(dataDir)
  const release = await lockFile(supervisorLock, 0)
  if (!release) return
  if (existsSync(restoring)) {
    // A restore that is started again at once, before this process has ended, gets the lock.
    release()
    throw new Error('a restore into this folder was interrupted; run tributary restore again')
  }
  const supervisor = openSupervisor(createEmbeddedPaths(dataDir))
  await supervisor.listen()
  process.on('SIGTERM', supervisor.end)
  process.on('SIGINT', supervisor.end)
  process.on('SIGHUP', () => {})
  supervisor.log({ level: 'info', message: `Supervisor ${process.pid} runs the engines of ${dataDir}.` })
}

main(process.argv[2] ?? '').catch((error: unknown) => {
  writeLog(`${(error as Error).stack}\n${reasonOf(error)}\n`)
  process.exitCode = 1
})

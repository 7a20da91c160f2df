// The process of the embedded ClickHouse: its worker thread runs the engine by libchdb, its main thread watches the supervisor.
// It ends by `kill -9`: acknowledged data is in files.
import { hash, randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { libchdbPath } from 'chdb/libchdb'
import { isLater } from '../../../package.ts'
import { clickhouseSocketName, type EmbeddedPaths, isClickHouseSocket } from '../paths.ts'
import type { EmbeddedClickHouse } from '../protocol.ts'
import { runEngine } from '../runEngine.ts'
import { configXml, startStatements } from './config.ts'
import { memoryLimits } from './memory.ts'
import { relay } from './relay.ts'
import type { ClickHouseCall } from './thread.ts'
import { embeddedUsers, readerName, usersXml, writerName } from './users.ts'

const pollMs = 5
/** Files from which the engine reads memory, processors, their use, and random numbers. */
const systemFiles = [
  ...['self', 'meminfo', 'cpuinfo', 'stat', 'loadavg', 'uptime', 'sys'].map((name) => `/proc/${name}`),
  ...['fs/cgroup', 'devices/system/cpu', 'block'].map((name) => `/sys/${name}`),
  '/dev/urandom',
  '/dev/random',
]

process.on('SIGINT', die)
runEngine('clickhouse', start, die, die)

async function start(paths: EmbeddedPaths): Promise<EmbeddedClickHouse> {
  // Links of a backup that was killed keep files that were replaced, such as rows before an erasure.
  rmSync(join(paths.clickhouse, 'shadow'), { recursive: true, force: true })
  const library = libchdbPath()
  const versionFile = join(paths.run, 'clickhouse.json')
  const previous = readVersion(versionFile)
  const version = versionOf(library)
  if (previous && isLater(previous, version)) {
    throw new Error(`its folder was last used by version ${previous}, this is ${version}`)
  }
  writePrivateFile(versionFile, JSON.stringify({ version }))

  const writer = { username: writerName, password: makePassword() }
  const reader = { username: readerName, password: makePassword() }
  const usersFile = join(paths.run, 'clickhouse-users.xml')
  const configFile = join(paths.run, 'clickhouse-config.xml')
  const portFile = join(paths.clickhouse, 'port')
  const { CLICKHOUSE_MEMORY_MB: limitMb } = process.env
  const memory = memoryLimits(limitMb ? Number(limitMb) * 1e6 : undefined)
  const users = embeddedUsers({ writer: sha256(writer.password), reader: sha256(reader.password) }, memory)
  writePrivateFile(usersFile, usersXml(users))
  writePrivateFile(configFile, configXml(usersFile, paths.clickhouseLog, memory.server))
  rmSync(portFile, { force: true })
  const call = new Worker(new URL('./thread.js', import.meta.url), {
    workerData: {
      library,
      files: {
        readable: [...systemFiles, configFile, usersFile],
        writable: [paths.clickhouse, '/dev/null'],
      },
      argv: [
        'clickhouse',
        `--path=${paths.clickhouse}`,
        '--http_port=0',
        '--listen_host=127.0.0.1',
        `--config-file=${configFile}`,
        '--query',
        startStatements(portFile),
      ],
    } satisfies ClickHouseCall,
  })
  // The call returns only after a failure; the engine printed the reason.
  call.on('exit', die)
  let port = 0
  // The engine creates the file before it writes the number.
  while (port === 0) {
    await sleep(pollMs)
    if (existsSync(portFile)) port = Number(readFileSync(portFile, 'utf8'))
  }
  // TRAP: a client that resets its connection in the headers of a request makes the engine abort, after 4 s in its own handler.
  process.on('SIGABRT', die)
  const socketPath = newSocket(paths)
  await relay(socketPath, port)
  return { socketPath, writer, reader }
}

/** A path unique to this start: a client with earlier passwords meets an outage, which it retries. Removes earlier sockets. */
function newSocket(paths: EmbeddedPaths): string {
  for (const name of readdirSync(paths.sockets)) {
    if (isClickHouseSocket(name)) rmSync(join(paths.sockets, name))
  }
  return join(paths.sockets, clickhouseSocketName(randomBytes(4).toString('hex')))
}

const makePassword = () => randomBytes(24).toString('base64url')

const sha256 = (text: string) => hash('sha256', text)

/** TRAP: process.exit() would wait for the worker thread, which never returns from the engine. */
function die(): void {
  process.kill(process.pid, 'SIGKILL')
}

/** @returns such as `26.7`, of the engine that used the folder last; undefined if it is not known */
function readVersion(file: string): string | undefined {
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as { version?: string }).version
  } catch {
    return undefined
  }
}

function writePrivateFile(file: string, text: string): void {
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, text, { mode: 0o600 })
  renameSync(draft, file)
}

/** `26.7` of `26.7.3-stable.1`, the version of the library's package. */
function versionOf(library: string): string {
  const { version } = JSON.parse(readFileSync(join(dirname(library), 'package.json'), 'utf8')) as { version: string }
  return version.split('.').slice(0, 2).join('.')
}

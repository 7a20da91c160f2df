// The process of the embedded ClickHouse: its worker thread calls into libchdb and stays there for the engine's life, its
// main thread watches the supervisor. Ending is `kill -9`: what was answered is in files, and nothing else matters to them.
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { libchdbPath } from 'chdb/libchdb'
import { configXml, startStatements, usersXml } from './clickhouseConfig.ts'
import { lockFile } from './kernel.ts'
import { type Places, placesOf } from './places.ts'
import type { ClickHouseAddress, EngineNotice, EngineOrder } from './protocol.ts'

/** An engine whose supervisor was killed may still be on its way out. */
const lockPatienceMs = 10_000
const pollMs = 20
const answerPatienceMs = 5_000
const username = 'tributary'

/** What is kept from one start to the next, so that clients need not change anything. */
interface Access {
  port: number
  password: string
  /** `26.7`, of the engine that used the folder last. */
  version: string
}

process.on('disconnect', die)
// TRAP: a supervisor that died while the modules above were loaded was announced before anybody listened.
if (!process.connected) die()
process.on('message', (order: EngineOrder) => {
  if (order.kind === 'end') die()
  tell({ kind: 'alive' })
})
process.on('SIGTERM', die)
process.on('SIGINT', die)

main(placesOf(process.argv[2] ?? '')).catch((error: unknown) => {
  tell({ kind: 'failed', message: (error instanceof Error ? error.message : String(error)).replace(/\.$/, '') })
})

async function main(places: Places): Promise<void> {
  if (!(await lockFile(join(places.run, 'clickhouse.lock'), lockPatienceMs))) {
    throw new Error('another process still has its folder')
  }
  const library = libchdbPath()
  const accessFile = join(places.run, 'clickhouse.json')
  const previous = readAccess(accessFile)
  const version = versionOf(library)
  if (previous && isNewer(previous.version, version)) {
    throw new Error(`its folder was last used by version ${previous.version}, this is ${version}`)
  }
  const password = previous?.password ?? randomBytes(24).toString('base64url')
  const port = await freePort(previous?.port)
  writePrivately(accessFile, JSON.stringify({ port, password, version } satisfies Access))

  const usersFile = join(places.run, 'clickhouse-users.xml')
  const configFile = join(places.run, 'clickhouse-config.xml')
  writePrivately(usersFile, usersXml(username, createHash('sha256').update(password).digest('hex')))
  writePrivately(configFile, configXml({ usersFile, logFile: places.clickhouseLog }))
  const call = new Worker(new URL('./clickhouseCall.js', import.meta.url), {
    workerData: {
      library,
      argv: [
        'clickhouse',
        `--path=${places.clickhouse}`,
        `--http_port=${port}`,
        '--listen_host=127.0.0.1',
        `--config-file=${configFile}`,
        '--query',
        startStatements,
      ],
    },
  })
  // The call comes back only when something went wrong; the engine printed the reason.
  call.on('exit', die)
  const address = { url: `http://127.0.0.1:${port}`, username, password }
  while (!(await answers(address))) await sleep(pollMs)
  tell({ kind: 'ready', address })
}

function tell(notice: EngineNotice): void {
  process.send?.(notice, () => {
    if (notice.kind === 'failed') die()
  })
}

/** TRAP: process.exit() would wait for the worker thread, which is inside the engine and never comes back. */
function die(): void {
  process.kill(process.pid, 'SIGKILL')
}

/** @returns the port when it can be had, else any free one */
async function freePort(wanted: number | undefined): Promise<number> {
  const server = createServer()
  const listen = (port: number) =>
    new Promise<number | undefined>((resolve) => {
      server.once('error', () => resolve(undefined))
      server.listen(port, '127.0.0.1', () => resolve((server.address() as { port: number }).port))
    })
  const port = (wanted && (await listen(wanted))) || (await listen(0))
  await new Promise((resolve) => server.close(resolve))
  if (!port) throw new Error('no port is free on 127.0.0.1')
  return port
}

async function answers(address: ClickHouseAddress): Promise<boolean> {
  try {
    const headers = { 'X-ClickHouse-User': address.username, 'X-ClickHouse-Key': address.password }
    const response = await fetch(`${address.url}/?query=SELECT%201`, {
      headers,
      signal: AbortSignal.timeout(answerPatienceMs),
    })
    await response.text()
    return response.ok
  } catch {
    return false
  }
}

function readAccess(file: string): Access | undefined {
  if (!existsSync(file)) return undefined
  try {
    const { port, password, version } = JSON.parse(readFileSync(file, 'utf8')) as Partial<Access>
    return Number.isInteger(port) && password && version ? { port: port as number, password, version } : undefined
  } catch {
    return undefined
  }
}

function writePrivately(file: string, text: string): void {
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, text, { mode: 0o600 })
  renameSync(draft, file)
}

/** `26.7` of `26.7.3-stable.1`, the version of the package that the library lies in. */
function versionOf(library: string): string {
  const { version } = JSON.parse(readFileSync(join(dirname(library), 'package.json'), 'utf8')) as { version: string }
  return version.split('.').slice(0, 2).join('.')
}

function isNewer(version: string, than: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [thanMajor = 0, thanMinor = 0] = than.split('.').map(Number)
  return major > thanMajor || (major === thanMajor && minor > thanMinor)
}

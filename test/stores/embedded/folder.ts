import { execFileSync, fork } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { afterAll, inject, vi } from 'vitest'
import { packageRoot } from '../../../src/package.ts'
import {
  connectEmbedded,
  type EmbeddedEngines,
  type EmbeddedOptions,
} from '../../../src/stores/embedded/connectEmbedded.ts'
import type {
  ClickHouseAddress,
  ClickHouseCredentials,
  LogLine,
  PostgresAddress,
} from '../../../src/stores/embedded/protocol.ts'
import { processesOf } from '../../kit/processes.ts'

// Starting engines takes a second on an idle machine and half a minute on a busy one.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 })

/** A fresh DATA_DIR; everything that was attached to it, or runs on it, is gone after `leave`. */
export interface Folder {
  readonly path: string
  readonly log: LogLine[]
  attach(wants?: Partial<EmbeddedOptions>): Promise<EmbeddedEngines>
  /** A client in a process of its own. */
  startClient(): Promise<Client>
  /** The processes that run on the folder, by program: `supervisor`, `clickhouse/engine`, `postgres/engine`. */
  processes(): { id: number; program: string }[]
  /** The one process of a program. */
  process(program: string): number
  leave(): Promise<void>
}

/** Another process that is attached to the same folder. */
export interface Client {
  readonly id: number
  readonly clickhouse: ClickHouseAddress
  readonly postgres: PostgresAddress
  /** Has it open a transaction on Postgres, and write in it, without ever ending it. */
  openTransaction(statement: string): Promise<void>
  kill(signal: NodeJS.Signals): Promise<void>
}

/** With a Postgres that was made before, because making one takes seconds; `makeEmptyFolder` has none. */
export function makeFolder(): Folder {
  const folder = makeEmptyFolder()
  cpSync(madePostgres(), join(folder.path, 'postgres'), { recursive: true })
  return folder
}

let made: string | undefined
afterAll(() => {
  if (made) rmSync(dirname(made), { recursive: true, force: true })
})

/** The one that the suite has made for its stores, or, where it runs on servers, one of the test file's. */
function madePostgres(): string {
  const ofSuite = join(inject('engines').template, 'postgres')
  if (existsSync(ofSuite)) return ofSuite
  if (made) return made
  const parent = mkdtempSync(join(tmpdir(), 'tributary-embedded-made-'))
  made = join(parent, 'postgres')
  execFileSync(process.execPath, [join(packageRoot, 'dist/src/stores/embedded/postgres/init.js'), made])
  return made
}

export function makeEmptyFolder(): Folder {
  const path = mkdtempSync(join(tmpdir(), 'tributary-embedded-'))
  const log: LogLine[] = []
  const attached: EmbeddedEngines[] = []
  const clients: Client[] = []
  const processes = () => processesOf(path)
  return {
    path,
    log,
    async attach(wants = {}) {
      const engines = await connectEmbedded({
        dataDir: path,
        clickhouse: true,
        postgres: true,
        log: (line) => log.push(line),
        ...wants,
      })
      attached.push(engines)
      return engines
    },
    async startClient() {
      const client = await startClient(path)
      clients.push(client)
      return client
    },
    processes,
    process(program) {
      const found = processes().filter((running) => running.program === program)
      if (!found[0] || found.length > 1) throw new Error(`${found.length} processes are ${program}`)
      return found[0].id
    },
    async leave() {
      await Promise.all(attached.map((engines) => engines.close()))
      await Promise.all(clients.map((client) => client.kill('SIGKILL')))
      // The engines would linger for the next client; that they end by themselves is a test of its own.
      for (const { id } of processes()) kill(id)
      await until(() => processes().length === 0)
      rmSync(path, { recursive: true, force: true })
    },
  }
}

function kill(id: number): void {
  try {
    process.kill(id, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}

async function startClient(path: string): Promise<Client> {
  const child = fork(new URL('./client.mjs', import.meta.url), [path], { execArgv: [] })
  const hear = () =>
    new Promise<Record<string, unknown>>((resolve, reject) => {
      child.once('message', (message) => resolve(message as Record<string, unknown>))
      child.once('exit', () => reject(new Error('the client ended')))
    })
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const { clickhouse, postgres } = (await hear()) as unknown as Client
  return {
    id: child.pid ?? 0,
    clickhouse,
    postgres,
    async openTransaction(statement) {
      const response = hear()
      child.send({ statement })
      await response
    },
    async kill(signal) {
      child.kill(signal)
      await gone
    },
  }
}

/**
 * Runs a query over HTTP, as the writer unless another user is named.
 * @returns the text of the response without the last line end
 * @throws Error with the text of ClickHouse
 */
export async function execute(
  { socketPath, writer }: ClickHouseAddress,
  query: string,
  user: ClickHouseCredentials = writer,
): Promise<string> {
  return await post({ socketPath }, query, user)
}

/** The same by any way to an HTTP server. */
export function post(
  where: { socketPath: string } | { host: string; port: number },
  query: string,
  { username, password }: ClickHouseCredentials,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { 'X-ClickHouse-User': username, 'X-ClickHouse-Key': password }
    const sent = request({ ...where, method: 'POST', headers }, (response) => {
      text(response).then((body) => {
        if (response.statusCode === 200) resolve(body.trimEnd())
        else reject(new Error(body.trimEnd()))
      }, reject)
    })
    sent.on('error', reject).end(query)
  })
}

/** A pool as the program's own, of any size. */
export function pool(address: PostgresAddress | undefined, max = 1): postgres.Sql {
  return postgres({
    path: address?.path ?? '',
    max,
    backoff: () => 0.1,
    user: 'postgres',
    database: 'postgres',
    onnotice: () => {},
  })
}

/** Polls until the condition holds. @throws when it does not within the time */
export async function until(condition: () => boolean | Promise<boolean>, withinMs = 40_000): Promise<void> {
  const deadline = Date.now() + withinMs
  for (;;) {
    if (await condition()) return
    if (Date.now() > deadline) throw new Error(`not within ${withinMs} ms: ${condition}`)
    await sleep(25)
  }
}

/** Whether a promise came to something good. */
export async function holds(attempt: () => Promise<unknown>): Promise<boolean> {
  try {
    await attempt()
    return true
  } catch {
    return false
  }
}

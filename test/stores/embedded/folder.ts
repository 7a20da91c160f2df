import { fork } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import postgres from 'postgres'
import { vi } from 'vitest'
import {
  connectEmbedded,
  type EmbeddedEngines,
  type EmbeddedOptions,
} from '../../../src/stores/embedded/connectEmbedded.ts'
import type {
  ClickHouseCredentials,
  EmbeddedClickHouse,
  EmbeddedPostgres,
  LogLine,
} from '../../../src/stores/embedded/protocol.ts'
import { engineTemplate } from '../../kit/engineTemplate.ts'
import { processesOf } from '../../kit/processes.ts'
import { holds, until } from '../../kit/until.ts'

// Starting engines takes a second on an idle machine and half a minute on a busy one.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 })

export type Folder = ReturnType<typeof makeEmptyFolder>

/** With a Postgres that was made before, because making one takes seconds; `makeEmptyFolder` has none. */
export async function makeFolder(): Promise<Folder> {
  const folder = makeEmptyFolder()
  cpSync(join(await engineTemplate(), 'postgres'), join(folder.path, 'postgres'), { recursive: true })
  return folder
}

/** A fresh DATA_DIR; everything that was attached to it, or runs on it, is gone after `leave`. */
export function makeEmptyFolder() {
  const path = mkdtempSync(join(tmpdir(), 'tributary-embedded-'))
  const log: LogLine[] = []
  const attached: EmbeddedEngines[] = []
  const clients: Awaited<ReturnType<typeof startClient>>[] = []
  const processes = () => processesOf(path)
  return {
    path,
    log,
    async attach(wants: Partial<EmbeddedOptions> = {}): Promise<EmbeddedEngines> {
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
    process(program: string): number {
      const found = processes().filter((running) => running.program === program)
      if (!found[0] || found.length > 1) throw new Error(`${found.length} processes are ${program}`)
      return found[0].id
    },
    async leave(): Promise<void> {
      await Promise.all(attached.map((engines) => engines.close()))
      await Promise.all(clients.map((client) => client.kill('SIGKILL')))
      // The engines would linger for the next client; that they end by themselves is a test of its own.
      for (const { id } of processes()) await holds(() => process.kill(id, 'SIGKILL'))
      await until(() => processes().length === 0)
      rmSync(path, { recursive: true, force: true })
    },
  }
}

async function startClient(path: string) {
  const child = fork(new URL('./client.mjs', import.meta.url), [path], { execArgv: [] })
  const hear = () =>
    new Promise<Record<string, unknown>>((resolve, reject) => {
      child.once('message', (message) => resolve(message as Record<string, unknown>))
      child.once('exit', () => reject(new Error('the client ended')))
    })
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const addresses = (await hear()) as unknown as { clickhouse: EmbeddedClickHouse; postgres: EmbeddedPostgres }
  return {
    ...addresses,
    /** Has it open a transaction on Postgres, and write in it, without ever ending it. */
    async openTransaction(statement: string): Promise<void> {
      const response = hear()
      child.send({ statement })
      await response
    },
    async kill(signal: NodeJS.Signals): Promise<void> {
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
  { socketPath, writer }: EmbeddedClickHouse,
  query: string,
  user: ClickHouseCredentials = writer,
): Promise<string> {
  return await post({ socketPath }, query, user)
}

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
export function pool(address: EmbeddedPostgres | undefined, max = 1): postgres.Sql {
  return postgres({
    path: address?.path ?? '',
    max,
    backoff: () => 0.1,
    user: 'postgres',
    database: 'postgres',
    onnotice: () => {},
  })
}

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Tally } from '../../../src/import/tally.ts'
import { exitOf, start } from '../../cli/runCommand.ts'
import { freePort, startInstance } from '../../kit/serverProcess.ts'
import { type ChangeName, changes } from './changes.ts'
import { type CrashAccount, openCrashAccount } from './crashAccount.ts'
import { type CrashStores, withOpened } from './crashStores.ts'
import { type Hold, openStoreProxies } from './storeProxies.ts'

/** A step of an import at which its process is paused: the store that it uses then, and what the proxy holds. */
interface PauseStep extends Hold {
  store: 'clickhouse' | 'postgres'
}

const insert = /^POST [^ ]*INSERT(?:\+|%20)INTO(?:\+|%20)(?:clicks|conversions)\b/

const numbers = [0, 1]

/** The steps of a batch, in order. What the proxy holds reaches the store after another import has ended. */
export const pauseSteps = {
  'before the journal entry': { store: 'postgres', request: /INSERT INTO import_batches/, holds: 'request' },
  'between journal entry and insert': { store: 'postgres', request: /INSERT INTO import_batches/, holds: 'response' },
  'before ClickHouse receives the insert': { store: 'clickhouse', request: insert, holds: 'request' },
  'between header and rows of the insert': { store: 'clickhouse', request: insert, holds: 'body' },
  'after the insert': { store: 'clickhouse', request: insert, holds: 'response' },
  'before the confirmation': { store: 'postgres', request: /DELETE FROM import_batches/, holds: 'request' },
  'after the confirmation': { store: 'postgres', request: /DELETE FROM import_batches/, holds: 'response' },
} as const satisfies Record<string, PauseStep>

/**
 * Pauses an import of rows 0 and 1 at a step, runs another import of the same rows to its end, and resumes the first one.
 * @param pauseMs minimum duration of the pause; the other import starts writing when the lease has expired, after 10 s
 * @returns faults in what the two imports printed, empty when there are none
 */
export async function pauseImport(
  stores: CrashStores,
  account: CrashAccount,
  change: ChangeName,
  step: PauseStep,
  pauseMs: number,
): Promise<string[]> {
  const { resource, rowOf } = changes[change]
  const folder = await mkdtemp(join(tmpdir(), 'tributary-paused-'))
  const file = join(folder, 'rows.ndjson')
  await writeFile(file, numbers.map((number) => `${JSON.stringify(rowOf(number))}\n`).join(''))
  const proxies = await openStoreProxies(stores)
  const proxy = step.store === 'postgres' ? proxies.postgres : proxies.nodes[0]
  const held = proxy.hold(step)
  const child = start(['import', resource, file, '--account', account.id, '--json'], proxies.environment)
  child.stdin.end()
  const [stdout, stderr, exit] = [text(child.stdout), text(child.stderr), exitOf(child)]
  try {
    const hasEnded = await Promise.race([held.then(() => false), exit.then(() => true)])
    if (hasEnded) throw new Error(`The import ended before it was paused: ${await stdout} ${await stderr}`)
    child.kill('SIGSTOP')
    const [counted] = await Promise.all([account.import(change, numbers, false), sleep(pauseMs)])
    proxy.release()
    child.kill('SIGCONT')
    const code = await exit
    // The next import repairs what the paused one left unfinished.
    await account.import(change, numbers, false)
    // The paused import may fail; if it does not, one of the two inserted or updated each row.
    const { inserted = 0, updated = 0 } = code === 0 ? (JSON.parse(await stdout) as Partial<Tally>) : {}
    if (code === 1 || (code === 0 && inserted + updated + counted === numbers.length)) return []
    return [
      `The other import counted ${counted} rows; the paused one exited with ${code}: ${await stdout} ${await stderr}`,
    ]
  } finally {
    child.kill('SIGKILL')
    await exit
    await proxies.close()
    await rm(folder, { recursive: true })
  }
}

/** The query for stored events with the same id, by its `log_comment`. */
const duplicateLookup = /^POST [^ ]*log_comment=events\.duplicates\b/
const eventInsert = /^POST [^ ]*INSERT(?:\+|%20)INTO(?:\+|%20)pixel_events\b/

/** The steps of storing an event. The held request reaches ClickHouse after another server has stored the event. */
export const eventPauseSteps = {
  'before the duplicate lookup': { request: duplicateLookup, holds: 'request' },
  'between lookup and insert': { request: duplicateLookup, holds: 'response' },
  'before ClickHouse receives the insert': { request: eventInsert, holds: 'request' },
  'between header and row of the insert': { request: eventInsert, holds: 'body' },
  'after the insert': { request: eventInsert, holds: 'response' },
} as const satisfies Record<string, Hold>

/**
 * Pauses a server process at each step of an event, sends the event to another server, and resumes the first one.
 * @param pauseMs minimum duration of each pause
 * @returns faults of the responses, and events that are missing, wrong or stored twice; empty when there are none
 */
export async function pauseServer(stores: CrashStores, pauseMs: number): Promise<string[]> {
  return await withOpened(openCrashAccount(stores), async (account) => {
    await account.import('clicks', [0])
    const faults = await pauseAtEachStep(stores, account, pauseMs)
    return [...faults, ...(await account.differences())]
  })
}

async function pauseAtEachStep(stores: CrashStores, account: CrashAccount, pauseMs: number): Promise<string[]> {
  const proxies = await openStoreProxies(stores)
  const PORT = `${await freePort()}`
  const { child, exited } = await startInstance({ ...proxies.environment, PORT })
  const faults: string[] = []
  try {
    for (const [name, step] of Object.entries(eventPauseSteps)) {
      const id = `paused ${name}`.replaceAll(' ', '-')
      const held = proxies.nodes[0].hold(step)
      const response = fetch(`http://127.0.0.1:${PORT}/api/v1/events`, {
        method: 'POST',
        headers: { authorization: `ApiKey ${account.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ click_id: 'click-0', event_name: 'paid', event_id: id, value: 1 }),
      })
      const early = await Promise.race([held, response])
      if (early) throw new Error(`${name}: responded before the pause: ${early.status} ${await early.text()}`)
      child.kill('SIGSTOP')
      await Promise.all([account.sendEvents(0, [id]), sleep(pauseMs)])
      proxies.nodes[0].release()
      child.kill('SIGCONT')
      const { status } = await response
      if (status !== 200 && status !== 503) faults.push(`${name}: responded ${status}`)
    }
    return faults
  } finally {
    child.kill('SIGKILL')
    await exited
    await proxies.close()
  }
}

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Tally } from '../../../src/import/run.ts'
import { exitOf, start } from '../../cli/runCommand.ts'
import type { Change } from './changes.ts'
import type { CrashAccount } from './crashAccount.ts'
import type { CrashStores } from './crashStores.ts'
import type { Hold } from './holdingProxy.ts'
import { openStoreProxies } from './storeProxies.ts'

/** A step of an import at which its process is stopped: the store that it talks to, and what is held. */
export interface PauseStep extends Hold {
  store: 'clickhouse' | 'postgres'
}

const insert = /^POST [^ ]*INSERT(?:\+|%20)INTO(?:\+|%20)(?:clicks|conversions)\b/

/** Every step of a batch, in order. What is held reaches the store after another import has ended. */
export const pauseSteps = {
  'before the journal entry': { store: 'postgres', request: /INSERT INTO import_batches/, keeps: 'request' },
  'between journal entry and insert': { store: 'postgres', request: /INSERT INTO import_batches/, keeps: 'response' },
  'while the insert is on its way': { store: 'clickhouse', request: insert, keeps: 'request' },
  'while the rows of the insert are on their way': { store: 'clickhouse', request: insert, keeps: 'body' },
  'after the insert': { store: 'clickhouse', request: insert, keeps: 'response' },
  'before the confirmation': { store: 'postgres', request: /DELETE FROM import_batches/, keeps: 'request' },
  'after the confirmation': { store: 'postgres', request: /DELETE FROM import_batches/, keeps: 'response' },
} as const satisfies Record<string, PauseStep>

/**
 * Stops the process of an import at a step, lets another import of the same rows take over and end, and lets the first
 * one go on.
 * @param pauseMs for how long it is stopped at least; the other import takes over when the lease has expired, after 10 s
 * @returns what was wrong with what the two printed, empty when nothing was
 */
export async function pauseImport(
  stores: CrashStores,
  account: CrashAccount,
  change: Change,
  step: PauseStep,
  pauseMs = 0,
): Promise<string[]> {
  const { resource, rows } = change
  const folder = await mkdtemp(join(tmpdir(), 'tributary-paused-'))
  const file = join(folder, 'rows.ndjson')
  await writeFile(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  const proxies = await openStoreProxies(stores)
  const held = proxies[step.store].hold(step)
  const child = start(['import', resource, file, '--account', account.id, '--json'], proxies.environment)
  child.stdin.end()
  const [stdout, stderr, exit] = [text(child.stdout), text(child.stderr), exitOf(child)]
  try {
    const isOver = await Promise.race([held.then(() => false), exit.then(() => true)])
    if (isOver) throw new Error(`The import ended before it was paused: ${await stdout} ${await stderr}`)
    child.kill('SIGSTOP')
    const [counted] = await Promise.all([account.import(change, false), sleep(pauseMs)])
    proxies[step.store].release()
    child.kill('SIGCONT')
    const code = await exit
    // What the paused one left, if anything, the next import brings in order.
    await account.import(change, false)
    // It may end with an error; if it does not, each row was inserted or updated by one of the two.
    const { inserted = 0, updated = 0 } = code === 0 ? (JSON.parse(await stdout) as Partial<Tally>) : {}
    if (code === 1 || (code === 0 && inserted + updated + counted === rows.length)) return []
    return [
      `The other import counted ${counted} rows; the paused one ended with ${code}: ${await stdout} ${await stderr}`,
    ]
  } finally {
    child.kill('SIGKILL')
    await exit
    await proxies.close()
    await rm(folder, { recursive: true })
  }
}

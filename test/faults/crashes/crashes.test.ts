import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { changes } from './changes.ts'
import { type CrashAccount, withCrashAccount } from './crashAccount.ts'
import { type CrashStores, openCrashStores } from './crashStores.ts'
import { openDisk } from './disk.ts'
import { eventPauseSteps, pauseImport, pauseServer, pauseSteps } from './pauses.ts'
import { cutPower } from './powerCuts.ts'
import { hasStrace } from './syscallKiller.ts'
import { runTrials, type Sweep, type TrialName, trials } from './trials.ts'
import { killAtStatements } from './verbKills.ts'
import { verbs } from './verbs.ts'

// The short form of the crash scenarios; `npm run faults -- Crashes` runs the long form. Pauses and power cuts have their own
// stores and mostly wait for retries and for leases to expire, so they run concurrently.

// Each kill restarts an engine, which takes seconds on a busy machine.
const timeout = 240_000

// In the suite a process is killed at every third call; the long form kills it at each one.
const every = 3

describe('kill -9', { timeout }, () => {
  let stores: CrashStores
  beforeAll(async () => {
    stores = await openShortLivedStores()
  })
  afterAll(() => stores?.close())

  it.runIf(hasStrace()).each(['changed conversion', 'event'] as const)(
    'of ClickHouse right before any rename: an acknowledged %s is stored once in every table and sum',
    (name) => expectStoredOnce(name, { call: 'rename', victims: stores.nodes }),
  )

  it.runIf(hasStrace())(
    'of ClickHouse right before any rename: an acknowledged click is stored once in every table and sum',
    { tags: 'long' },
    () => expectStoredOnce('click', { call: 'rename', victims: stores.nodes }),
  )

  it.runIf(hasStrace())('of the embedded Postgres right before any flush: an acknowledged campaign is stored', () =>
    expectStoredOnce('campaign', { call: 'fsync', victims: [stores.postgres] }),
  )

  it('of "key create" before and after each change of keys: run again, it leaves one key, which it has shown', {
    tags: 'long',
  }, async () => {
    const verb = { ...verbs['key create'], isMoment: (statement: string) => /(INTO|UPDATE) api_keys/.test(statement) }
    const { faults, killed, trials } = await killAtStatements(stores, verb, 'command', 1)
    expect(faults).toEqual([])
    expect([killed, trials]).toEqual([4, 4])
  })

  async function expectStoredOnce(name: TrialName, sweep: Pick<Sweep, 'call' | 'victims'>): Promise<void> {
    const { faults, kills } = await runTrials(stores, trials[name], { ...sweep, repetitions: 1, every })
    expect(faults).toEqual([])
    expect(kills.size).toBeGreaterThan(0)
  }
})

describe.concurrent('a pause or a power cut', { timeout }, () => {
  it('an import that is paused while another one takes over stores no row a second time', { tags: 'long' }, () =>
    withShortLivedAccount(async (stores, account) => {
      await account.import(changes.conversions([0]))
      const step = pauseSteps['between header and rows of the insert']
      expect(await pauseImport(stores, account, changes.approvals([0]), step)).toEqual([])
    }),
  )

  it('a server that is paused at any step of an event stores the event once', () =>
    withShortLivedAccount(async (stores, account) => {
      expect(await pauseServer(stores, account, 0, eventPauseSteps)).toEqual([])
    }))

  it('a power cut right after an acknowledged event does not lose it', async ({ skip }) => {
    const disk = await openDisk()
    if (!disk) return skip('mounting a disk is not allowed here')
    try {
      expect(await cutPower(disk, { event: trials.event }, openShortLivedStores)).toEqual([])
    } finally {
      await disk.close()
    }
  })
})

/** Copies the Postgres database that the suite has created once, since creating one takes seconds. */
function openShortLivedStores(folder?: string): Promise<CrashStores> {
  const postgresTemplate = join(inject('engines').template, 'postgres')
  return openCrashStores({ ...(existsSync(postgresTemplate) && { postgresTemplate }), ...(folder && { folder }) })
}

/** Runs with an account with a click, and compares its rows afterwards. */
async function withShortLivedAccount(
  run: (stores: CrashStores, account: CrashAccount) => Promise<void>,
): Promise<void> {
  const stores = await openShortLivedStores()
  try {
    await withCrashAccount(stores, async (account) => {
      await account.import(changes.clicks([0]))
      await run(stores, account)
      expect(await account.differences()).toEqual([])
    })
  } finally {
    await stores.close()
  }
}

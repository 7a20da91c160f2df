import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import { changes } from './changes.ts'
import { CrashAccount } from './crashAccount.ts'
import { type CrashStores, withCrashStores } from './crashStores.ts'
import { openDisk } from './disk.ts'
import { pauseImport, pauseSteps } from './pauses.ts'
import { cutPower } from './powerCuts.ts'
import { eventPauseSteps, pauseServer } from './serverPauses.ts'
import { type FileCall, hasStrace } from './syscallKiller.ts'
import { runTrials, type TrialName, trials } from './trials.ts'

// The short form of the crash scenarios; `npm run faults -- Crashes` runs the long form. Each test opens its own stores and
// mostly waits for engines to start, for retries and for leases to expire, so the tests run concurrently.

// Each kill restarts an engine, which takes seconds on a busy machine.
const timeout = 240_000

describe.concurrent('crashes', { timeout }, () => {
  it.runIf(hasStrace()).each(['click', 'changed conversion', 'event'] as const)(
    'kill -9 of ClickHouse right before any rename: an acknowledged %s is stored once in every table and sum',
    (name) => expectStoredOnce(name, 'rename', ({ nodes }) => nodes),
  )

  it.runIf(hasStrace())(
    'kill -9 of the embedded Postgres right before any flush: an acknowledged campaign is stored',
    () => expectStoredOnce('campaign', 'fsync', ({ postgres }) => [postgres]),
  )

  it('an import that is paused while another one takes over stores no row a second time', () =>
    withShortLivedStores(async (stores) => {
      const account = await CrashAccount.open(stores)
      await account.import(changes.clicks([0]))
      await account.import(changes.conversions([0]))
      const step = pauseSteps['between header and rows of the insert']
      expect(await pauseImport(stores, account, changes.approvals([0]), step)).toEqual([])
      expect(await account.differences()).toEqual([])
      await account.close()
    }))

  it('a server that is paused at any step of an event stores the event once', () =>
    withShortLivedStores(async (stores) => {
      const account = await CrashAccount.open(stores)
      await account.import(changes.clicks([0]))
      expect(await pauseServer(stores, account, 0, eventPauseSteps)).toEqual([])
      expect(await account.differences()).toEqual([])
      await account.close()
    }))

  it('a power cut right after an acknowledged event does not lose it', async ({ skip }) => {
    const disk = await openDisk()
    if (!disk) return skip('mounting a disk is not allowed here')
    try {
      expect(await cutPower(disk, { event: trials.event })).toEqual([])
    } finally {
      await disk.close()
    }
  })
})

async function expectStoredOnce(
  name: TrialName,
  call: FileCall,
  victimsOf: (stores: CrashStores) => Parameters<typeof runTrials>[2]['victims'],
): Promise<void> {
  await withShortLivedStores(async (stores) => {
    const sweep = { call, repetitions: 1, victims: victimsOf(stores) }
    const { faults, kills } = await runTrials(stores, trials[name], sweep)
    expect(faults).toEqual([])
    expect(kills.size).toBeGreaterThan(0)
  })
}

/** Copies the Postgres database that the suite has created once, since creating one takes seconds. */
function withShortLivedStores(run: (stores: CrashStores) => Promise<void>): Promise<void> {
  const postgresTemplate = join(inject('engines').template, 'postgres')
  return withCrashStores(existsSync(postgresTemplate) ? { postgresTemplate } : {}, run)
}

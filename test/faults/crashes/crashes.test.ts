import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { changes } from './changes.ts'
import { CrashAccount } from './crashAccount.ts'
import { type CrashStores, openCrashStores } from './crashStores.ts'
import { openDisk } from './disk.ts'
import { pauseImport, pauseSteps } from './pauses.ts'
import { cutPower } from './powerCuts.ts'
import { eventPauseSteps, pauseServer } from './serverPauses.ts'
import { hasStrace } from './syscallKiller.ts'
import { runTrials, trials } from './trials.ts'

// Every engine is started anew many times; on a busy machine that takes seconds.
const timeout = 240_000

let stores: CrashStores
beforeAll(async () => {
  const postgresTemplate = join(inject('engines').template, 'postgres')
  stores = await openCrashStores(existsSync(postgresTemplate) ? { postgresTemplate } : {})
}, timeout)
afterAll(() => stores.close())

describe.runIf(hasStrace())('after kill -9 of ClickHouse right before any rename', { timeout }, () => {
  it.each(['click', 'conversion', 'changed conversion', 'event', 'pixel event'] as const)(
    'an acknowledged %s is stored once in every table and sum',
    async (name) => {
      const { faults, deaths } = await runTrials(stores, trials[name], {
        call: 'rename',
        times: 1,
        victims: stores.nodes,
      })
      expect(faults).toEqual([])
      expect(deaths.size).toBeGreaterThan(0)
    },
  )
})

describe.runIf(hasStrace())('after kill -9 of the embedded Postgres right before any flush', { timeout }, () => {
  it('an acknowledged campaign is stored', async () => {
    const sweep = { call: 'fsync', times: 1, victims: [stores.postgres] } as const
    const { faults, deaths } = await runTrials(stores, trials.campaign, sweep)
    expect(faults).toEqual([])
    expect(deaths.size).toBeGreaterThan(0)
  })
})

describe('a process that was stopped while another one took over', { timeout }, () => {
  it('stores no row of its import a second time, at whatever step it was stopped', async () => {
    const faults = Object.values(pauseSteps).map(async (step) => {
      const account = await CrashAccount.open(stores)
      await account.import(changes.clicks([0]))
      await account.import(changes.conversions([0]))
      const found = await pauseImport(stores, account, changes.approvals([0]), step)
      found.push(...(await account.differences()))
      await account.close()
      return found
    })
    expect(await Promise.all(faults)).toEqual(faults.map(() => []))
  })

  it('stores an event once, at whatever step of it the server was stopped', async () => {
    const account = await CrashAccount.open(stores)
    await account.import(changes.clicks([0]))
    expect(await pauseServer(stores, account, 0, eventPauseSteps)).toEqual([])
    expect(await account.differences()).toEqual([])
    await account.close()
  })
})

it('a power cut right after a write loses nothing that was acknowledged', { timeout }, async ({ skip }) => {
  const disk = await openDisk()
  if (!disk) return skip('a disk can not be mounted here')
  try {
    const { event, campaign, 'changed conversion': changed } = trials
    expect(await cutPower(disk, { changed, event, campaign })).toEqual([])
  } finally {
    await disk.close()
  }
})

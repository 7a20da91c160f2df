// @module-tag all

import { join } from 'node:path'
import { expect, it } from 'vitest'
import { engineTemplate } from '../../kit/engineTemplate.ts'
import { useOpened } from '../../kit/fixtures.ts'
import { openCrashStores } from './crashStores.ts'
import { pauseServer } from './pauses.ts'
import { cutPower, openDisk } from './powerCuts.ts'
import { hasStrace } from './syscallKiller.ts'
import { runTrials, trials } from './trials.ts'

// The short form of the crash scenarios; `npm run faults -- Crashes` runs the long form. Each kill restarts an engine, which takes
// seconds on a busy machine.

const disk = useOpened(openDisk)
const stores = useOpened(async () => {
  // The Postgres database that the suite has created once, since creating one takes seconds.
  const postgresTemplate = join(await engineTemplate(), 'postgres')
  return await openCrashStores({ postgresTemplate, folder: disk.folder })
})

it('a server that is paused at any step of an event stores the event once', async () => {
  expect(await pauseServer(stores, 0)).toEqual([])
})

for (const [victim, call, name, tags] of [
  // In the suite, test/feed/kills.test.ts kills ClickHouse while conversions change.
  ['ClickHouse', 'rename', 'changed conversion', ['long']],
  ['ClickHouse', 'rename', 'event', []],
  ['the embedded Postgres', 'fsync', 'campaign', []],
] as const)
  it.runIf(hasStrace())(
    `kill -9 of ${victim} right before any ${call}: an acknowledged ${name} is stored once in every table and sum`,
    { tags: [...tags] },
    async () => {
      const victims = victim === 'ClickHouse' ? stores.nodes : [stores.postgres]
      // The long form kills at each call.
      const { faults, kills } = await runTrials(stores, trials[name], { call, victims, repetitions: 1, every: 24 })
      expect(faults).toEqual([])
      expect(kills.size).toBeGreaterThan(0)
    },
  )

// The last test, since a power cut closes the stores.
it('a power cut right after an acknowledged event does not lose it', async ({ skip }) => {
  if (!disk.mounted) return skip('mounting a disk is not allowed here')
  expect(await cutPower(disk, stores, { event: trials.event })).toEqual([])
})

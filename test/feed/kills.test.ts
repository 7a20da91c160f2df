// @module-tag all

import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openFeedEngines } from '../faults/feed/feedEngines.ts'
import { runFeedKills } from '../faults/feed/feedKills.ts'
import { engineTemplate } from '../kit/engineTemplate.ts'
import { useOpened } from '../kit/fixtures.ts'

// The short form of `npm run faults -- Feeds`. Most of its time it waits for leases of killed feeds to expire.

describe('random rows of several accounts', () => {
  const engines = useOpened(async () => {
    return await openFeedEngines({ postgresTemplate: join(await engineTemplate(), 'postgres') })
  })

  for (const [seed, fault, title, tags] of [
    [1, 'ClickHouse', 'ClickHouse and a feed are killed', []],
    [2, 'suspension', 'a feed is suspended until another one has stored its rows', ['long']],
  ] as const) {
    it(`are stored once, and conflicts and rejects are named, though ${title}`, { tags: [...tags] }, async () => {
      const { faults, moments } = await runFeedKills(engines, seed, { scale: 0.25, faults: [fault] })
      expect([faults, moments]).toEqual([[], [expect.stringMatching(new RegExp(`^${fault}`))]])
    })
  }
})

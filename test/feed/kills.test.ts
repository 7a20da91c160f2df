import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openFeedEngines } from '../faults/feed/feedEngines.ts'
import { runFeedKills } from '../faults/feed/feedKills.ts'
import { engineTemplate } from '../kit/engineTemplate.ts'
import { useOpened } from '../kit/fixtures.ts'
import { hasRedis } from '../kit/redis.ts'

// The short form of `npm run faults -- Feeds`. Most of its time it waits for leases of killed feeds to expire.

const seed = 1

describe.skipIf(!hasRedis())('random rows of several accounts', () => {
  const engines = useOpened(async () => {
    return await openFeedEngines({ postgresTemplate: join(await engineTemplate(), 'postgres') })
  })

  it('are stored once, and conflicts and rejects are named, though a feed is suspended, engines are killed, and feeds are killed', async () => {
    const options = { scale: 0.25, faults: ['suspension', 'ClickHouse'] } as const
    const { faults, moments } = await runFeedKills(engines, seed, options)
    expect([faults, moments]).toEqual([[], moments])
    expect(moments).toHaveLength(options.faults.length)
  })
})

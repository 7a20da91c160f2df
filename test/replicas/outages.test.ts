// @module-tag long

import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { inTurn } from '../faults/crashes/crashStores.ts'
import { hasStrace } from '../faults/crashes/syscallKiller.ts'
import { runTrials, trials } from '../faults/crashes/trials.ts'
import { killAtStatements } from '../faults/crashes/verbKills.ts'
import { verbs } from '../faults/crashes/verbs.ts'
import { openFeedEngines } from '../faults/feed/feedEngines.ts'
import { runReplicaOutages } from '../faults/replicas/replicaRuns.ts'
import { canReplicate } from '../kit/canReplicate.ts'
import { useOpened } from '../kit/fixtures.ts'
import { openPair, openReplicatedStores, without } from './openPair.ts'

const canRun = canReplicate()

describe.runIf(canRun && hasStrace())('kills of either replica, and of both in turn', () => {
  const stores = useOpened(openReplicatedStores)

  // The long form, `npm run faults -- replica`, kills at each call and at each statement.
  it.each(['click', 'conversion', 'changed conversion', 'event', 'batch of events'] as const)(
    'before any change of a file: an acknowledged %s is stored once, in every table and sum',
    async (name) => {
      const victims = [...stores.nodes, inTurn(stores.nodes)]
      const { faults, kills } = await runTrials(stores, trials[name], {
        call: 'rename',
        victims,
        repetitions: victims.length,
        every: 1,
      })
      expect(faults).toEqual([])
      expect(kills.size).toBeGreaterThan(0)
    },
  )
})

describe.runIf(canRun).each(['import', 'erase', 'verify --repair'] as const)('the command %s', (name) => {
  it.each([0, 1])(
    'gives the same when replica %i is killed before or after a statement, and it is run again',
    { timeout: 1_200_000 },
    async (victim) => {
      const stores = await openReplicatedStores()
      onTestFinished(() => stores.close())
      const { faults, killed } = await killAtStatements(stores, verbs[name], victim, 7)
      expect(faults).toEqual([])
      expect(killed).toBeGreaterThan(0)
    },
  )
})

describe.runIf(canRun)('two replicas', () => {
  const pair = useOpened(openPair)
  beforeAll(async () => {
    await pair.accounts[0].import('clicks', [0, 1, 2])
    await pair.accounts[0].import('conversions', [0, 1])
  })

  it('without Keeper, reads are 200, also on a node that is restarted, and no write is acknowledged; afterwards the writes are completed', async () => {
    const { keeper, nodes } = pair.replicas
    const [one, other] = pair.accounts
    const isReadonly = (node: (typeof nodes)[number]) =>
      node.run('admin', 'SELECT min(is_readonly) FROM system.replicas')
    const writes = await without(keeper, async () => {
      for (const node of nodes) await expect.poll(() => isReadonly(node)).toBe('1')
      await nodes[1].kill()
      await nodes[1].start()
      const sent = [one.sendEvents(0, ['without-keeper']), other.import('approvals', [0])]
      for (const { app, key } of pair.accounts) {
        const headers = { authorization: `ApiKey ${key}` }
        const url = '/api/v1/reports?group_by=day&from=2020-01-01&to=2020-01-31'
        await expect.poll(async () => (await app.inject({ url, headers })).statusCode).toBe(200)
      }
      expect([one.acknowledged.events.size, one.acknowledged.approvals.size]).toEqual([0, 0])
      return sent
    })
    await Promise.all(writes)
    expect(await pair.differences()).toEqual([])
  })
})

it.runIf(canRun).each([1, 2])(
  '%i shards of two replicas lose and double nothing in random outages',
  async (replicatedShards) => {
    const engines = await openFeedEngines({ replicatedShards })
    onTestFinished(() => engines.close())
    const { faults } = await runReplicaOutages(engines, Number(process.env.TRIBUTARY_TEST_SEED), { outages: 3 })
    expect(faults).toEqual([])
  },
)

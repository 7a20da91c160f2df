// @module-tag long

import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { post } from '../api/events/send.ts'
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

  // The short form of `npm run faults -- Replicas`.
  it('have the same rows as soon as a write through either of them is acknowledged', { tags: 'replicas' }, async () => {
    const [one, other] = pair.accounts
    await other.import('conversions', [2])
    await one.import('approvals', [1])
    await other.sendEvents(0, ['single'])
    await one.sendEvents(1, ['first-of-batch', 'second-of-batch'])
    await Promise.all(pair.accounts.map((account) => account.sendEvents(2, ['raced'])))
    const [present, same] = await pair.contents()
    expect(same).toBe(present)
  })

  it.each([0, 1] as const)(
    'while replica %i is dead, reads are 200, and no event is acknowledged that only the other one has',
    { tags: 'replicas' },
    async (index) => {
      const node = pair.replicas.nodes[index]
      const living = pair.accounts[index === 0 ? 1 : 0]
      const id = `without-${index}`
      const waiting = await without(node, async () => {
        for (const { app, key } of pair.accounts) {
          const headers = { authorization: `ApiKey ${key}` }
          const read = () => app.inject({ url: '/api/v1/reports?group_by=day&from=2020-01-01&to=2020-01-31', headers })
          await expect.poll(async () => (await read()).statusCode).toBe(200)
        }
        const event = { click_id: 'click-0', event_name: 'paid', event_id: id, value: 1 }
        expect((await post(living.app, living.key, event)).statusCode).toBe(503)
        return [living.import('clicks', [10 + index]), living.sendEvents(0, [id])]
      })
      await Promise.all(waiting)
      expect(await living.differences()).toEqual([])
    },
  )

  it('without Keeper, reads are 200, also on a node that is restarted, and no write is acknowledged; afterwards the writes are completed', async () => {
    const { keeper, nodes } = pair.replicas
    const [one, other] = pair.accounts
    const isReadonly = (node: (typeof nodes)[number]) =>
      node.run('admin', 'SELECT min(is_readonly) FROM system.replicas')
    const acknowledged = () => [one.acknowledged.events.size, one.acknowledged.approvals.size]
    const before = acknowledged()
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
      expect(acknowledged()).toEqual(before)
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

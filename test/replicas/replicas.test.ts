// @module-tag long
// @module-tag replicas

import { beforeAll, describe, expect, it } from 'vitest'
import { post } from '../api/events/send.ts'
import { canReplicate } from '../kit/canReplicate.ts'
import { useOpened } from '../kit/fixtures.ts'
import { openPair, without } from './openPair.ts'

// The short form of `npm run faults -- Replicas`.
describe.runIf(canReplicate())('two replicas', () => {
  const pair = useOpened(openPair)
  beforeAll(() => pair.accounts[0].import('clicks', [0, 1, 2]))

  it('have the same rows as soon as a write through either of them is acknowledged', async () => {
    const [one, other] = pair.accounts
    await other.import('conversions', [0, 1])
    await one.import('approvals', [1])
    await other.sendEvents(0, ['single'])
    await one.sendEvents(1, ['first-of-batch', 'second-of-batch'])
    await Promise.all(pair.accounts.map((account) => account.sendEvents(2, ['raced'])))
    const [present, same] = await pair.contents()
    expect(same).toBe(present)
  })

  it.each([0, 1] as const)(
    'while replica %i is dead, reads are 200, and no event is acknowledged that only the other one has',
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
})

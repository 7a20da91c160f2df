import { beforeAll, expect, it } from 'vitest'
import { testNowMs, useTestApp } from '../../kit/app.ts'
import { storeClicks, storeMetadata } from '../../kit/rows.ts'
import { accepted, refused, send, storedEvents } from './send.ts'

const api = useTestApp()
let key: string

beforeAll(async () => {
  key = await api.account('acme')
})

const byClick = (click_id: string, rest: object = {}) => ({ click_id, event_name: 'paid', ...rest })
const storeClick = (id: string, campaign_id: string) =>
  storeClicks(api.stores, 'acme', [{ id, clicked_at: '2026-11-20 10:00:00.000', campaign_id }])

it('a rejected event is accepted under the same event_id with valid fields, once its click and the campaign of the click are stored', async () => {
  const event = byClick('late', { event_id: 'e1' })
  expect(await send(api.app, key, { ...event, value: 'x' })).toEqual(refused(400, 'invalid_value'))
  expect(await send(api.app, key, event)).toEqual(refused(404, 'click_not_found'))
  await storeClick('late', 'k1')
  expect(await send(api.app, key, event)).toEqual(refused(404, 'click_not_found'))
  expect(await storedEvents(api.stores, 'acme')).toEqual([])
  await storeMetadata(api.stores, 'campaigns', 'acme', [{ id: 'k1' }])
  expect(await send(api.app, key, event)).toEqual(accepted)
})

it.each([
  ['within seconds', 60_000],
  ['also after the clock was set back', -3_600_000],
])('a cached campaign shows a new owner %s', async (_when, laterMs) => {
  const id = `sold${laterMs}`
  await storeMetadata(api.stores, 'campaigns', 'acme', [{ id, user_id: 'ann' }])
  const sendAt = async (nowMs: number, event_id: string) => {
    api.setNow(nowMs)
    const body = { visitor_id: 'v1', campaign_id: id, event_name: 'seen', event_id }
    expect(await send(api.app, key, body)).toEqual(accepted)
  }
  await sendAt(testNowMs, `${id}-1`)
  await api.stores.postgres`UPDATE campaigns SET user_id = 'bob' WHERE account_id = 'acme' AND id = ${id}`
  await sendAt(testNowMs + laterMs, `${id}-2`)
  const events = (await storedEvents(api.stores, 'acme')).filter(({ campaign_id }) => campaign_id === id)
  expect(events.map(({ user_id }) => user_id)).toEqual(['ann', 'bob'])
})

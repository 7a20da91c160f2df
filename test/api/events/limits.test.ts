import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { setPlanLimits } from '../../../src/accounts/plans.ts'
import { testNowMs, useTestApp } from '../../kit/app.ts'
import { accepted, newAccount, post, refused, send } from './send.ts'

const api = useTestApp()
let key: string

beforeAll(() => setPlanLimits(api.stores.postgres, 'pro', { eventsPerMinute: 1_000, identifierEventsPerMinute: 3 }))
beforeEach(async () => {
  key = (await newAccount(api, { plan: 'pro' })).key
})

const byClick = (click_id: string, rest: object = {}) => ({ click_id, event_name: 'a', ...rest })
const byVisitor = (visitor_id: string) => ({ visitor_id, campaign_id: 'camp', event_name: 'a' })

describe('the rate limit of a click or visitor', () => {
  it('rejects events above the limit with the seconds to wait, and accepts events of a visitor', async () => {
    for (let count = 0; count < 3; count++) expect(await send(api.app, key, byClick('click'))).toEqual(accepted)
    api.setNow(testNowMs + 12_500)
    const response = await post(api.app, key, byClick('click'))
    expect([response.statusCode, response.json().error]).toEqual([429, 'rate_limited'])
    expect(response.headers).toMatchObject({
      'retry-after': '48',
      'x-ratelimit-limit': '3',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': '48',
    })
    expect(await send(api.app, key, byVisitor('v1'))).toEqual(accepted)
    api.setNow(testNowMs + 60_000)
    expect(await send(api.app, key, byClick('click'))).toEqual(accepted)
  })

  it('is in the response headers when it is smaller than the limit of the key', async () => {
    const { headers } = await post(api.app, key, byClick('click'))
    expect(headers).toMatchObject({ 'x-ratelimit-limit': '3', 'x-ratelimit-remaining': '2', 'x-ratelimit-reset': '60' })
    await setPlanLimits(api.stores.postgres, 'scale', { eventsPerMinute: 2, identifierEventsPerMinute: 1_000 })
    const narrow = await api.account('narrow')
    const response = await post(api.app, narrow, byVisitor('v1'))
    expect(response.headers).toMatchObject({ 'x-ratelimit-limit': '2', 'x-ratelimit-remaining': '1' })
  })

  it('counts a click and a visitor with the same id separately, and each account separately', async () => {
    const other = await api.account('other', { plan: 'pro' })
    for (let count = 0; count < 3; count++) {
      expect(await send(api.app, key, byVisitor('same'))).toEqual(accepted)
      expect(await send(api.app, key, byClick('same'))).toEqual(refused(404, 'click_not_found'))
      expect(await send(api.app, other, byVisitor('same'))).toEqual(refused(404, 'campaign_not_found'))
    }
    for (const [who, body] of [
      [key, byVisitor('same')],
      [key, byClick('same')],
      [other, byVisitor('same')],
    ] as const)
      expect(await send(api.app, who, body)).toEqual(refused(429, 'rate_limited'))
  })

  it('counts events after validation and before the look-up: invalid events are not counted, unknown and duplicate ones are', async () => {
    for (let count = 0; count < 5; count++)
      expect(await send(api.app, key, byClick('click', { value: 'x' }))).toEqual(refused(400, 'invalid_value'))
    for (let count = 0; count < 3; count++)
      expect(await send(api.app, key, byClick('click', { event_id: 'again' }))).toMatchObject([200, { accepted: true }])
    expect(await send(api.app, key, byClick('click', { event_id: 'again' }))).toEqual(refused(429, 'rate_limited'))
    expect(await send(api.app, key, byClick('click', { value: 'x' }))).toEqual(refused(400, 'invalid_value'))
  })
})

import { beforeAll, describe, expect, it } from 'vitest'
import { useTestApp } from '../../kit/app.ts'
import { storeClicks, storeMetadata } from '../../kit/rows.ts'
import { accepted, post, refused, send, storedEvents } from './send.ts'

const api = useTestApp()
let key: string

const clicked_at = '2026-11-20 10:00:00.000'
const byClick = (click_id: string, rest: object = {}) => ({ click_id, event_name: 'paid', ...rest })
const byVisitor = (campaign_id: string, rest: object = {}) => ({
  visitor_id: 'v1',
  campaign_id,
  event_name: 'seen',
  ...rest,
})

beforeAll(async () => {
  key = await api.account('acme')
  await api.account('other')
  await storeMetadata(api.stores, 'campaigns', 'acme', [{ id: 'k1', user_id: 'ann' }, { id: 'k2' }])
  await storeMetadata(api.stores, 'campaigns', 'other', [{ id: 'theirs' }])
  await storeClicks(api.stores, 'acme', [
    { id: 'c1', clicked_at, campaign_id: 'k1' },
    { id: 'c2', clicked_at, campaign_id: 'k2' },
    { id: 'of-no-campaign', clicked_at, campaign_id: '' },
    { id: 'of-unknown-campaign', clicked_at, campaign_id: 'gone' },
    { id: 'of-their-campaign', clicked_at, campaign_id: 'theirs' },
  ])
  await storeClicks(api.stores, 'other', [{ id: 'their-click', clicked_at, campaign_id: 'theirs' }])
})

describe('an event of a click', () => {
  it("has the campaign and user of the click's campaign, never those of the body", async () => {
    const body = byClick('c1', { event_id: 'a1', campaign_id: 'k2', user_id: 'eve', visitor_id: 'v7' })
    expect(await send(api.app, key, body)).toEqual(accepted)
    expect(await send(api.app, key, byClick('c2', { event_id: 'a2' }))).toEqual(accepted)
    expect(await storedEvents(api.stores, 'acme')).toMatchObject([
      { id: 'a1', click_id: 'c1', visitor_id: 'v7', campaign_id: 'k1', user_id: 'ann', origin: 'server' },
      { id: 'a2', click_id: 'c2', visitor_id: '', campaign_id: 'k2', user_id: 'acme', origin: 'server' },
    ])
  })

  it('gets the same error when the click is unknown, belongs to another account, or has no campaign of the account', async () => {
    const bodies = []
    for (const id of ['nope', 'their-click', 'of-no-campaign', 'of-unknown-campaign', 'of-their-campaign']) {
      const response = await post(api.app, key, byClick(id, { event_id: `r-${id}` }))
      const { requestId, ...body } = response.json()
      expect(requestId).toBe(response.headers['x-request-id'])
      bodies.push([response.statusCode, body])
    }
    for (const body of bodies) expect(body).toEqual(bodies[0])
    expect(bodies[0]).toEqual([404, { error: 'click_not_found', message: expect.any(String), param: 'click_id' }])
  })

  it('is accepted as soon as its click is stored, also right after a rejection', async () => {
    expect(await send(api.app, key, byClick('late'))).toEqual(refused(404, 'click_not_found'))
    await storeClicks(api.stores, 'acme', [{ id: 'late', clicked_at, campaign_id: 'k1' }])
    expect(await send(api.app, key, byClick('late'))).toEqual(accepted)
  })

  it('is accepted as soon as its campaign is stored', async () => {
    await storeClicks(api.stores, 'acme', [{ id: 'early', clicked_at, campaign_id: 'k5' }])
    expect(await send(api.app, key, byClick('early'))).toEqual(refused(404, 'click_not_found'))
    await storeMetadata(api.stores, 'campaigns', 'acme', [{ id: 'k5' }])
    expect(await send(api.app, key, byClick('early'))).toEqual(accepted)
  })
})

describe('an event of a visitor', () => {
  it('has the user of the named campaign', async () => {
    expect(await send(api.app, key, byVisitor('k1', { event_id: 'v1', user_id: 'eve' }))).toEqual(accepted)
    const stored = (await storedEvents(api.stores, 'acme')).find(({ id }) => id === 'v1')
    expect(stored).toMatchObject({ click_id: '', visitor_id: 'v1', campaign_id: 'k1', user_id: 'ann' })
  })
})

describe('a rejected event', () => {
  it('is not remembered: once its click is stored, the same event_id is new', async () => {
    expect(await send(api.app, key, byClick('later', { event_id: 't1' }))).toEqual(refused(404, 'click_not_found'))
    expect(await send(api.app, key, byClick('c1', { event_id: 't2', value: 'x' }))).toEqual(
      refused(400, 'invalid_value'),
    )
    const before = await storedEvents(api.stores, 'acme')
    expect(before.filter(({ id }) => id.startsWith('t') || id.startsWith('r-'))).toEqual([])
    await storeClicks(api.stores, 'acme', [{ id: 'later', clicked_at, campaign_id: 'k1' }])
    expect(await send(api.app, key, byClick('later', { event_id: 't1' }))).toEqual(accepted)
    expect(await send(api.app, key, byClick('c1', { event_id: 't2' }))).toEqual(accepted)
  })

  it('does not fail concurrent events', async () => {
    const bodies = Array.from({ length: 300 }, (_, n) =>
      n % 3 === 0 ? byClick('c1', { event_id: `n${n}` }) : n % 3 === 1 ? byClick(`nope-${n}`) : byVisitor(`nope-${n}`),
    )
    const responses = await Promise.all(bodies.map((body) => send(api.app, key, body)))
    for (const [n, response] of responses.entries()) {
      const expected = [accepted, refused(404, 'click_not_found'), refused(404, 'campaign_not_found')][n % 3]
      expect(response).toEqual(expected)
    }
  })
})

describe('a cached campaign', () => {
  it('shows a new owner within seconds', async () => {
    await storeMetadata(api.stores, 'campaigns', 'acme', [{ id: 'sold', user_id: 'ann' }])
    const start = Date.UTC(2026, 10, 22)
    api.setNow(start)
    expect(await send(api.app, key, byVisitor('sold', { event_id: 's1' }))).toEqual(accepted)
    await api.stores.postgres`UPDATE campaigns SET user_id = 'bob' WHERE account_id = 'acme' AND id = 'sold'`
    api.setNow(start + 60_000)
    expect(await send(api.app, key, byVisitor('sold', { event_id: 's2' }))).toEqual(accepted)
    const users = (await storedEvents(api.stores, 'acme')).filter(({ campaign_id }) => campaign_id === 'sold')
    expect(users.map(({ user_id }) => user_id)).toEqual(['ann', 'bob'])
  })

  it('is read again after the clock was set back', async () => {
    await storeMetadata(api.stores, 'campaigns', 'acme', [{ id: 'back', user_id: 'ann' }])
    const start = Date.UTC(2026, 10, 23)
    api.setNow(start)
    expect(await send(api.app, key, byVisitor('back', { event_id: 'back1' }))).toEqual(accepted)
    await api.stores.postgres`UPDATE campaigns SET user_id = 'bob' WHERE account_id = 'acme' AND id = 'back'`
    api.setNow(start - 3_600_000)
    expect(await send(api.app, key, byVisitor('back', { event_id: 'back2' }))).toEqual(accepted)
    const users = (await storedEvents(api.stores, 'acme')).filter(({ campaign_id }) => campaign_id === 'back')
    expect(new Map(users.map(({ id, user_id }) => [id, user_id]))).toEqual(
      new Map([
        ['back1', 'ann'],
        ['back2', 'bob'],
      ]),
    )
  })
})

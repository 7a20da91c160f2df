import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  Campaign,
  CampaignPage,
  LandingPage,
  LandingPagePage,
  Offer,
  OfferPage,
  TrafficSource,
  TrafficSourcePage,
} from '../../../schema/metadata.ts'
import { openTestApp, type TestApp, testNowMs } from '../../kit/app.ts'
import { storeMetadata } from '../../kit/rows.ts'

let api: TestApp
let key: string
let otherKey: string

const kinds = [
  { path: '/campaigns', table: 'campaigns', scope: 'read:campaigns', one: Campaign, page: CampaignPage },
  { path: '/offers', table: 'offers', scope: 'read:offers', one: Offer, page: OfferPage },
  {
    path: '/landing-pages',
    table: 'landing_pages',
    scope: 'read:landing-pages',
    one: LandingPage,
    page: LandingPagePage,
  },
  {
    path: '/traffic-sources',
    table: 'traffic_sources',
    scope: 'read:traffic-sources',
    one: TrafficSource,
    page: TrafficSourcePage,
  },
] as const

beforeAll(async () => {
  api = await openTestApp()
  key = await api.account('acme')
  otherKey = await api.account('other')
  for (const { table } of kinds) {
    await storeMetadata(api.stores, table, 'acme', [
      // Ties on the millisecond; ids sort bytewise: digits, uppercase, lowercase.
      ...['a', 'B', '1', 'b:2', 'A.x', 'a-1', 'z_', '10'].map((id) => ({
        id,
        created_at: new Date(testNowMs - 1_000),
      })),
      ...Array.from({ length: 12 }, (_, n) => ({ id: `n${n}`, created_at: new Date(testNowMs - 5_000 + n) })),
      { id: 'old', status: 'paused', created_at: new Date('1969-07-20T20:17:40.123Z') },
      { id: 'gone', status: 'archived' },
    ])
    await storeMetadata(api.stores, table, 'other', [{ id: 'a', name: 'theirs' }, { id: 'only-theirs' }])
  }
  const both = { currency: 'EUR', tags: ['x', 'ünï'], updated_at: new Date('2026-11-01T00:00:00.001Z') }
  await storeMetadata(api.stores, 'traffic_sources', 'acme', [
    { id: 'full', name: 'Färber', category: 'social', cost_model: 'cpc', currency: 'EUR' },
  ])
  await storeMetadata(api.stores, 'campaigns', 'acme', [
    { id: 'full', user_id: 'u1', traffic_source_id: 'full', cost_model: 'cpc', cost_value: '0.123456', ...both },
    { id: 'stray', traffic_source_id: 'only-theirs' },
  ])
  await storeMetadata(api.stores, 'offers', 'acme', [
    {
      ...{ id: 'full', url: 'https://offer.example', affiliate_network: 'Net', payout_type: 'cpa' },
      ...{ payout: '999999999999.5', countries: ['US', 'DE'], ...both },
    },
  ])
})
afterAll(() => api?.close())

describe.each(kinds)('GET $path', ({ path, scope, page }) => {
  const read = (query: string) => api.read(`${path}?${query}`, key, page)

  async function walk(query: string, limit: number): Promise<string[]> {
    const ids: string[] = []
    let cursor: string | null = null
    do {
      const answer: typeof page.static = await read(`${query}&limit=${limit}${cursor ? `&cursor=${cursor}` : ''}`)
      expect(answer.nextCursor !== null).toBe(answer.hasMore)
      expect(answer.data.length).toBeLessThanOrEqual(limit)
      ids.push(...answer.data.map(({ id }) => id))
      cursor = answer.nextCursor
    } while (cursor)
    return ids
  }

  it('gives each row exactly once, newest first, whatever the page size, ties included', async () => {
    const all = await walk('', 200)
    expect(new Set(all).size).toBe(all.length)
    const tied = ['z_', 'b:2', 'a-1', 'a', 'B', 'A.x', '10', '1']
    expect(all.slice(all.indexOf('z_'))).toEqual([
      ...tied,
      ...Array.from({ length: 12 }, (_, n) => `n${11 - n}`),
      'old',
    ])
    for (const limit of [1, 2, 7, 21]) expect(await walk('', limit)).toEqual(all)
  })

  it('filters by status', async () => {
    expect(await walk('status=paused', 1)).toEqual(['old'])
    expect(await walk('status=archived', 1)).toEqual(['gone'])
    expect(await walk('status=active', 5)).not.toContain('gone')
  })

  it('never shows a row of another account', async () => {
    expect(await walk('', 200)).not.toContain('only-theirs')
    const { data } = await api.read(path, otherKey, page)
    expect(data.map(({ id }) => id).sort()).toEqual(['a', 'only-theirs'])
  })

  it('refuses cursors of other filters, other lists, other accounts, and forged ones', async () => {
    const { nextCursor } = await read('limit=1')
    const [bound, atMs, id] = JSON.parse(Buffer.from(nextCursor ?? '', 'base64url').toString()) as unknown[]
    const forged = (parts: unknown) => Buffer.from(JSON.stringify(parts)).toString('base64url')
    const others = kinds.filter((kind) => kind.path !== path).map((kind) => kind.path)
    const refused = [
      [`${path}?status=active&cursor=${nextCursor}`, key],
      [`${others[0]}?cursor=${nextCursor}`, key],
      [`${path}?cursor=${nextCursor}`, otherKey],
      [`${path}?cursor=${forged([bound, -8.64e15, id])}`, key],
      [`${path}?cursor=${forged([bound, atMs, 'a\u0000'])}`, key],
      [`${path}?cursor=${forged([bound, 0.5, id])}`, key],
      [`${path}?cursor=${forged([bound, atMs])}`, key],
      [`${path}?cursor=x`, key],
    ] as const
    for (const [url, from] of refused) {
      expect([url, (await api.get(url, from)).json().error]).toEqual([url, 'invalid_cursor'])
    }
    expect((await api.get(`${path}?cursor=${forged([bound, atMs, id])}`, key)).statusCode).toBe(200)
  })

  it('takes a forged cursor of any year for one that is not ours, or reads on from there, and never fails', async () => {
    const { nextCursor } = await read('limit=1')
    const [bound, , id] = JSON.parse(Buffer.from(nextCursor ?? '', 'base64url').toString()) as unknown[]
    for (const [moment, status] of [
      ['-000001-12-31T23:59:59.999Z', 400],
      ['0000-01-01T00:00:00.000Z', 400],
      ['0000-12-31T23:59:59.999Z', 400],
      ['0001-01-01T00:00:00.000Z', 200],
      ['9999-12-31T23:59:59.999Z', 200],
      ['+010000-01-01T00:00:00.000Z', 400],
    ] as const) {
      const cursor = Buffer.from(JSON.stringify([bound, Date.parse(moment), id])).toString('base64url')
      expect([moment, (await api.get(`${path}?cursor=${cursor}`, key)).statusCode]).toEqual([moment, status])
    }
  })

  it('says which parameter is wrong', async () => {
    const cases = {
      'limit=0': 'invalid_limit',
      'limit=201': 'invalid_limit',
      'limit=': 'invalid_limit',
      'limit=1&limit=2': 'invalid_limit',
      'status=dead': 'invalid_status',
      'status=Active': 'invalid_status',
      'from=2026-11-01': 'unknown_parameter',
    }
    for (const [query, code] of Object.entries(cases)) {
      expect([query, (await api.get(`${path}?${query}`, key)).json().error]).toEqual([query, code])
    }
  })

  it('needs its own scope, for single items too', async () => {
    const others = kinds.map((kind) => kind.scope).filter((wanted) => wanted !== scope)
    const poor = await api.account(`no-${scope.replace(':', '-')}`, { scopes: others })
    for (const url of [path, `${path}/a`]) {
      const answer = await api.get(url, poor)
      expect([answer.statusCode, answer.json().required]).toEqual([403, scope])
    }
  })
})

describe.each(kinds)('GET $path/:id', ({ path, one }) => {
  it('gives the row that the list gives', async () => {
    expect(await api.read(`${path}/old`, key, one)).toMatchObject({
      id: 'old',
      status: 'paused',
      createdAt: '1969-07-20T20:17:40.123Z',
    })
    expect(await api.read(`${path}/b:2`, key, one)).toMatchObject({ id: 'b:2' })
    expect((await api.read(`${path}/a`, key, one)).name).toBe('a')
    expect((await api.read(`${path}/a`, otherKey, one)).name).toBe('theirs')
  })

  it('answers alike for a row that is absent, somebody else’s, or can’t exist', async () => {
    const answers = await Promise.all(
      ['nowhere', 'only-theirs', 'a%00', 'a%20b', `${'x'.repeat(65)}`, '%F0%9F%98%80', '..%2Fa'].map((id) =>
        api.get(`${path}/${id}`, key),
      ),
    )
    const bodies = answers.map((answer) => ({ status: answer.statusCode, ...answer.json(), requestId: '' }))
    for (const body of bodies) expect(body).toEqual(bodies[0])
    expect(bodies[0]).toMatchObject({ status: 404, error: 'not_found' })
  })

  it('takes no parameter', async () => {
    expect((await api.get(`${path}/a?limit=1`, key)).json().error).toBe('unknown_parameter')
  })
})

describe('a row of metadata', () => {
  it('shows every field: campaign', async () => {
    expect(await api.read('/campaigns/full', key, Campaign)).toEqual({
      id: 'full',
      name: 'full',
      userId: 'u1',
      status: 'active',
      trafficSourceId: 'full',
      trafficSourceName: 'Färber',
      costModel: 'cpc',
      costValue: 0.123456,
      currency: 'EUR',
      tags: ['x', 'ünï'],
      createdAt: '2026-11-21T15:00:00.000Z',
      updatedAt: '2026-11-01T00:00:00.001Z',
    })
  })

  it('shows every field: offer', async () => {
    expect(await api.read('/offers/full', key, Offer)).toEqual({
      id: 'full',
      name: 'full',
      status: 'active',
      url: 'https://offer.example',
      affiliateNetwork: 'Net',
      payoutType: 'cpa',
      payout: 999999999999.5,
      currency: 'EUR',
      countries: ['US', 'DE'],
      tags: ['x', 'ünï'],
      createdAt: '2026-11-21T15:00:00.000Z',
      updatedAt: '2026-11-01T00:00:00.001Z',
    })
  })

  it('shows every field: landing page and traffic source, absent ones as null', async () => {
    const made = { createdAt: '2026-11-21T15:00:00.000Z', updatedAt: '2026-11-21T15:00:00.000Z' }
    const gone = { id: 'gone', name: 'gone', status: 'archived' }
    expect(await api.read('/landing-pages/gone', key, LandingPage)).toEqual({ ...gone, url: null, tags: [], ...made })
    expect(await api.read('/traffic-sources/gone', key, TrafficSource)).toEqual({
      ...gone,
      category: null,
      costModel: null,
      currency: null,
      ...made,
    })
  })

  it('has a null name for a traffic source that is somebody else’s', async () => {
    expect(await api.read('/campaigns/stray', key, Campaign)).toMatchObject({
      trafficSourceId: 'only-theirs',
      trafficSourceName: null,
    })
  })
})

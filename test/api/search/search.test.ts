// @module-tag postgres

import { beforeAll, describe, expect, it } from 'vitest'
import {
  CampaignSearchPage,
  type ConversionSearchField,
  ConversionSearchPage,
  campaignSearchFields,
  conversionSearchFields,
} from '../../../schema/search.ts'
import { subIdNames } from '../../../schema/subIds.ts'
import { searchCampaigns as searchAllCampaigns } from '../../../src/api/search/campaigns.ts'
import { planSearch } from '../../../src/api/search/plan.ts'
import { importContent } from '../../import/runImport.ts'
import { useTestApp } from '../../kit/app.ts'
import { readPages } from '../../kit/readRows.ts'
import { storeConversions, storeMetadata } from '../../kit/rows.ts'

const api = useTestApp()
let key: string

const columnOf: Partial<Record<ConversionSearchField, string>> = {
  id: 'id',
  clickId: 'click_id',
  transactionId: 'transaction_id',
  externalStatus: 'external_status',
  campaignId: 'campaign_id',
  offerId: 'offer_id',
  country: 'country',
  couponCode: 'coupon_code',
  visitorId: 'visitor_id',
  externalClickId: 'click_external_id',
  referrer: 'click_referrer',
  ...Object.fromEntries(subIdNames.map((name) => [name, name])),
}
const at = '2026-11-20 10:00:00.000'

beforeAll(async () => {
  key = await api.account('acme')
  await storeMetadata(api.stores, 'campaigns', 'acme', [{ id: 'kn', name: 'The Needle-campaignName' }])
  await storeMetadata(api.stores, 'offers', 'acme', [{ id: 'on', name: 'needle-offername!' }])
  await storeConversions(api.stores, 'acme', [
    // For every field one that holds the text there and nowhere else.
    ...conversionSearchFields.flatMap((field) => {
      const column = columnOf[field]
      return column ? [{ id: `of-${field}`, converted_at: at, [column]: `Needle-${field}` }] : []
    }),
    { id: 'named-1', converted_at: at, campaign_id: 'kn' },
    { id: 'named-2', converted_at: at, offer_id: 'on' },
    { id: 'a-test', converted_at: at, sub1: 'Needle-sub1', is_test: true },
    { id: 'new', converted_at: at, sub4: 'two words' },
    { id: 'old', converted_at: '2026-10-01 00:00:00.000', sub1: 'two words' },
    { id: 'changed', converted_at: at, external_status: 'waiting-room' },
  ])
  await storeConversions(api.stores, 'acme', [{ id: 'changed', converted_at: at, external_status: 'done', version: 2 }])
})

const search = (query: string, from = key) => api.read(`/conversions/search?${query}`, from, ConversionSearchPage)
const searchCampaigns = (query: string) => api.read(`/campaigns/search?${query}`, key, CampaignSearchPage)
const found = async (text: string, more = '') =>
  (await search(`q=${encodeURIComponent(text)}${more}`)).data.map(({ id }) => id).sort()

const readAll = async (
  path: '/conversions/search' | '/campaigns/search',
  query: string,
  limit: number,
  from = key,
): Promise<string[]> => {
  const schema = path === '/campaigns/search' ? CampaignSearchPage : ConversionSearchPage
  return (await readPages<{ id: string }>(api, `${path}?${query}&limit=${limit}`, from, schema)).map(({ id }) => id)
}

describe('GET /conversions/search', () => {
  it('searches all fields by default and returns every matching field with its value', async () => {
    const { data, searchedFields } = await search('q=needle-&limit=200')
    expect(searchedFields).toEqual([...conversionSearchFields])
    expect(data).toHaveLength(conversionSearchFields.length)
    expect(data.find(({ id }) => id === 'named-1')?.matches).toEqual([
      { field: 'campaignName', value: 'The Needle-campaignName' },
    ])
    expect(data.find(({ id }) => id === 'of-externalClickId')?.matches).toEqual([
      { field: 'externalClickId', value: 'Needle-externalClickId' },
    ])
    expect((await search('q=of-sub1&fields=id,sub1')).data.map(({ matches }) => matches)).toEqual([
      [{ field: 'id', value: 'of-sub10' }],
      [{ field: 'id', value: 'of-sub1' }],
    ])
  })

  it('finds a conversion by its latest version only', async () => {
    expect(await found('waiting-room')).toEqual([])
    expect(await found('done')).toEqual(['changed'])
  })

  it('returns conversions in the range only', async () => {
    expect(await readAll('/conversions/search', 'q=two%20words', 1)).toEqual(['new', 'old'])
    expect(await found('two words', '&to=2026-10-31')).toEqual(['old'])
    expect(await found('two words', '&from=2026-10-02')).toEqual(['new'])
  })
})

describe('GET /campaigns/search', () => {
  it('searches all fields by default', async () => {
    expect((await searchCampaigns('q=ab')).searchedFields).toEqual([...campaignSearchFields])
  })

  it('finds imported campaigns and offers by their present values', async () => {
    const imported = await api.account('imported')
    const createdAt = '2026-11-20T10:00:00Z'
    const found = async (q: string) => [
      ...(await readAll('/campaigns/search', `q=${encodeURIComponent(q)}`, 10, imported)),
      ...(await readAll('/conversions/search', `q=${encodeURIComponent(q)}&fields=offerName`, 10, imported)),
    ]
    await importContent(api.stores, 'imported', 'conversions', [
      { id: 'v1', offerId: 'O1', convertedAt: createdAt, status: 'approved' },
    ])
    for (const [name, tags] of [
      ['Ärger ΟΔΟΣ', ['Sommer']],
      ['Zürich', ['WINTER']],
    ] as const) {
      await importContent(api.stores, 'imported', 'campaigns', [{ id: 'K1', name, tags, createdAt }])
      await importContent(api.stores, 'imported', 'offers', [{ id: 'O1', name, tags, createdAt }])
      expect(await found(name)).toEqual(['K1', 'v1'])
    }
    expect([await found('ZÜRI'), await found('winter'), await found('ärger'), await found('sommer')]).toEqual([
      ['K1', 'v1'],
      ['K1'],
      [],
      [],
    ])
  })

  it('works when a campaign has the id “search”', async () => {
    await storeMetadata(api.stores, 'campaigns', 'acme', [{ id: 'search', name: 'zz' }])
    expect((await api.get('/campaigns/search', key)).json().error).toBe('invalid_q')
    expect((await searchCampaigns('q=zz')).data.map(({ id }) => id)).toEqual(['search'])
  })
})

it.each(['/conversions/search', '/campaigns/search'])(
  '%s limits q by characters, not by bytes or code units',
  async (path) => {
    for (const q of ['😀😀', '😀'.repeat(100), `  ${'x'.repeat(100)}  `])
      expect((await api.get(`${path}?q=${encodeURIComponent(q)}`, key)).statusCode).toBe(200)
  },
)

it('a search of campaigns stops reading when its client disconnects', async () => {
  const plan = planSearch('campaigns/search', { q: 'sommer' }, { accountId: 'acme', currency: 'USD' })
  const context = { stores: api.stores, signal: AbortSignal.abort(new Error('gone')) }
  await expect(searchAllCampaigns(context, plan)).rejects.toThrow('gone')
})

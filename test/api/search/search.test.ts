// @module-tag postgres

import fc from 'fast-check'
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
import type { RouteContext } from '../../../src/http/context.ts'
import { fold } from '../../../src/query/searchText.ts'
import { importContent } from '../../import/runImport.ts'
import { testNowMs, useTestApp } from '../../kit/app.ts'
import { randomCases } from '../../kit/randomCases.ts'
import { readPages } from '../../kit/readRows.ts'
import { type StoredRow, storeConversions, storeMetadata } from '../../kit/rows.ts'

const api = useTestApp()
let key: string

const columnOf: Partial<Record<ConversionSearchField, string>> = {
  ...{ id: 'id', clickId: 'click_id', transactionId: 'transaction_id', externalStatus: 'external_status' },
  ...{ campaignId: 'campaign_id', offerId: 'offer_id', country: 'country', couponCode: 'coupon_code' },
  ...{ visitorId: 'visitor_id', externalClickId: 'click_external_id', referrer: 'click_referrer' },
  ...Object.fromEntries(subIdNames.map((name) => [name, name])),
}
const at = '2026-11-20 10:00:00.000'

beforeAll(async () => {
  key = await api.account('acme')
  await api.account('other')
  await storeMetadata(api.stores, 'campaigns', 'acme', [
    { id: 'kn', name: 'The Needle-campaignName' },
    { id: 'plain', name: 'Ärger 100%_sure', tags: ['Sommer', 'sommer-2', 'x'], status: 'paused' },
    { id: 'sale', name: 'Sommerschlußverkauf', status: 'archived', created_at: new Date(testNowMs - 1_000) },
    { id: 'odd', name: '\u212aelvin \u0130stanbul ΟΔΟΣ' },
  ])
  await storeMetadata(api.stores, 'offers', 'acme', [{ id: 'on', name: 'needle-offername!' }])
  await storeMetadata(api.stores, 'campaigns', 'other', [{ id: 'kn', name: 'theirs' }, { id: 'needle' }])
  await storeMetadata(api.stores, 'offers', 'other', [{ id: 'on', name: 'Summer' }])
  await storeConversions(api.stores, 'acme', [
    // For every field one that holds the text there and nowhere else.
    ...conversionSearchFields.flatMap((field) => {
      const column = columnOf[field]
      return column ? [{ id: `of-${field}`, converted_at: at, [column]: `Needle-${field}` }] : []
    }),
    { id: 'named-1', converted_at: at, campaign_id: 'kn' },
    { id: 'named-2', converted_at: at, offer_id: 'on' },
    { id: 'a-test', converted_at: at, sub1: 'Needle-sub1', is_test: true },
    { id: 'literal', converted_at: at, sub1: '100%_sure\\', sub2: 'ΟΔΟΣ', sub3: 'Ünï', sub4: 'two words' },
    { id: 'old', converted_at: '2026-10-01 00:00:00.000', sub1: 'two words' },
    { id: 'changed', converted_at: at, external_status: 'waiting-room' },
  ])
  await storeConversions(api.stores, 'acme', [{ id: 'changed', converted_at: at, external_status: 'done', version: 2 }])
  await storeConversions(api.stores, 'other', [
    { id: 'of-id', converted_at: at, sub1: 'Needle', campaign_id: 'kn', offer_id: 'on' },
  ])
})

const search = (query: string, from = key) => api.read(`/conversions/search?${query}`, from, ConversionSearchPage)
const searchCampaigns = (query: string, from = key) => api.read(`/campaigns/search?${query}`, from, CampaignSearchPage)
const found = async (text: string, more = '', from = key) =>
  (await search(`q=${encodeURIComponent(text)}${more}`, from)).data.map(({ id }) => id).sort()

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
  it.each(conversionSearchFields)('finds text in %s, and says so', async (field) => {
    const { data, query, searchedFields } = await search(`q=NEEDLE-${field}&fields=${field}`)
    expect([query, searchedFields]).toEqual([`NEEDLE-${field}`, [field]])
    const ids: Partial<Record<ConversionSearchField, string>> = {
      ...{ id: 'Needle-id', campaignName: 'named-1', offerName: 'named-2' },
    }
    expect(data[0]?.id).toBe(ids[field] ?? `of-${field}`)
    for (const { matched, matches } of data) {
      expect(matched).toBe(true)
      expect(matches.map((match) => match.field)).toEqual([field])
      expect(fold(matches[0]?.value ?? '')).toContain(fold(`needle-${field}`))
    }
  })

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

  it('treats %, _ and \\ literally, and finds texts of two characters', async () => {
    expect(await found('100%_SURE')).toEqual(['literal'])
    expect(await found('%_')).toEqual(['literal'])
    expect(await found('e\\')).toEqual(['literal'])
    expect(await found('%%')).toEqual([])
    expect(await found('0_')).toEqual([])
  })

  it('ignores case, also beyond ASCII', async () => {
    expect(await found('üNÏ')).toEqual(['literal'])
    expect(await found('οδος')).toEqual(['literal'])
    expect(await found('δοσ')).toEqual(['literal'])
  })

  it('trims the text, and finds no text across two fields', async () => {
    const { data, query } = await search('q=%20%20two%20words%20&from=2026-11-01')
    expect([query, data.map(({ id }) => id)]).toEqual(['two words', ['literal']])
    expect(await found('sure\\οδος')).toEqual([])
  })

  it('finds a conversion by its latest version only', async () => {
    expect(await found('waiting-room')).toEqual([])
    expect(await found('done')).toEqual(['changed'])
  })

  it('returns conversions in the range only', async () => {
    expect(await readAll('/conversions/search', 'q=two%20words', 1)).toEqual(['literal', 'old'])
    expect(await found('two words', '&to=2026-10-31')).toEqual(['old'])
    expect(await found('two words', '&from=2026-10-02')).toEqual(['literal'])
  })

  it('finds conversions by a name that very many campaigns have', { tags: 'long' }, async () => {
    const big = await api.account('big')
    const id = (n: number) => `campaign-with-a-long-id-to-fill-the-request-${n}`
    await api.stores.postgres`
      INSERT INTO campaigns (account_id, id, name, user_id, status, created_at, updated_at, search_text)
      SELECT 'big', ${id(0)} || n, 'Mass ' || n, 'big', 'active', now(), now(), ${id(0)} || format('%sXmass %1$sXactive', n)
      FROM generate_series(1, 30000) AS n`
    await storeConversions(api.stores, 'big', [
      { id: 'v1', converted_at: at, campaign_id: `${id(0)}29999` },
      { id: 'v2', converted_at: at, campaign_id: 'unknown' },
    ])
    expect((await search('q=mass&fields=campaignName', big)).data).toMatchObject([
      { id: 'v1', matches: [{ field: 'campaignName', value: 'Mass 29999' }] },
    ])
  })

  it('matches a plain model for any text and any fields', async () => {
    const letters = fc.constantFrom(...'aAbBkK\u212aıIİiσςΣßẞéÉ%_\\ \n|')
    const value = fc.string({ unit: letters, maxLength: 6 })
    const fields = ['transactionId', 'externalStatus', 'couponCode', 'referrer', 'sub1', 'campaignName'] as const
    const row = fc.record({
      ...{ transactionId: value, externalStatus: value, couponCode: value },
      ...{ referrer: value, sub1: value, campaignName: value },
    })
    let runs = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { minLength: 1, maxLength: 12 }),
        fc.string({ unit: letters, minLength: 2, maxLength: 3 }),
        fc.subarray([...fields], { minLength: 1 }),
        fc.integer({ min: 1, max: 4 }),
        async (rows, q, wanted, limit) => {
          fc.pre([...q.trim()].length >= 2)
          const account = `model-${runs++}`
          const reader = await api.account(account)
          const names = rows.map(({ campaignName }, n) => ({ id: `k${n}`, name: campaignName }))
          await storeMetadata(api.stores, 'campaigns', account, names)
          const stored = rows.map(
            (of, n): StoredRow => ({
              ...{ id: `-${n}`, converted_at: `2026-11-20 00:00:00.${100 + n}`, campaign_id: `k${n}` },
              ...{ transaction_id: of.transactionId, external_status: of.externalStatus, coupon_code: of.couponCode },
              ...{ click_referrer: of.referrer, sub1: of.sub1 },
            }),
          )
          await storeConversions(api.stores, account, stored)
          const expected = rows
            .flatMap((of, n) => (wanted.some((field) => fold(of[field]).includes(fold(q.trim()))) ? [`-${n}`] : []))
            .reverse()
          const query = new URLSearchParams({ q, fields: wanted.join(',') })
          expect(await readAll('/conversions/search', `${query}`, limit, reader)).toEqual(expected)
        },
      ),
      { numRuns: randomCases(25) },
    )
  })
})

describe('GET /campaigns/search', () => {
  const ids = async (text: string) => (await searchCampaigns(`q=${encodeURIComponent(text)}`)).data.map(({ id }) => id)

  it('finds text in every field and names the field', async () => {
    expect((await searchCampaigns('q=SOMMER')).data.map(({ id, matches }) => [id, matches])).toEqual([
      [
        'plain',
        [
          { field: 'tags', value: 'Sommer' },
          { field: 'tags', value: 'sommer-2' },
        ],
      ],
      ['sale', [{ field: 'name', value: 'Sommerschlußverkauf' }]],
    ])
    expect((await searchCampaigns('q=archi&fields=status')).data.map(({ id }) => id)).toEqual(['sale'])
    expect((await searchCampaigns('q=plain&fields=id,tags')).data.map(({ id }) => id)).toEqual(['plain'])
    expect((await searchCampaigns('q=plain&fields=name')).data).toEqual([])
    expect((await searchCampaigns('q=ab')).searchedFields).toEqual([...campaignSearchFields])
  })

  it('treats %, _ and \\ literally and ignores case, also beyond ASCII', async () => {
    expect(await ids('%_')).toEqual(['plain'])
    expect(await ids('0_')).toEqual([])
    expect(await ids('\\\\')).toEqual([])
    expect(await ids('äRGER')).toEqual(['plain'])
    expect(await ids('KELVIN')).toEqual(['odd'])
    expect(await ids('i̇stan')).toEqual(['odd'])
    expect(await ids('οδοσ')).toEqual(['odd'])
    expect(await ids('sommer\nsommer')).toEqual([])
  })

  it('finds imported campaigns and offers by their present values', async () => {
    const imported = await api.account('imported')
    const createdAt = '2026-11-20T10:00:00Z'
    for (const [name, tags] of [
      ['Ärger ΟΔΟΣ', ['Sommer']],
      ['Zürich', ['WINTER']],
    ] as const) {
      await importContent(api.stores, 'imported', 'campaigns', [{ id: 'K1', name, tags, createdAt }])
      await importContent(api.stores, 'imported', 'offers', [{ id: 'O1', name, tags, createdAt }])
    }
    await importContent(api.stores, 'imported', 'conversions', [
      { id: 'v1', offerId: 'O1', convertedAt: createdAt, status: 'approved' },
    ])
    const found = async (q: string) => [
      ...(await readAll('/campaigns/search', `q=${encodeURIComponent(q)}`, 10, imported)),
      ...(await readAll('/conversions/search', `q=${encodeURIComponent(q)}&fields=offerName`, 10, imported)),
    ]
    expect([await found('ZÜRI'), await found('winter'), await found('ärger'), await found('sommer')]).toEqual([
      ['K1', 'v1'],
      ['K1'],
      [],
      [],
    ])
  })

  it('lists each row once, newest first, also when few of many rows match', async () => {
    const many = await api.account('many')
    await api.stores.postgres`
      INSERT INTO campaigns (account_id, id, name, user_id, status, created_at, updated_at, search_text)
      SELECT 'many', 'k' || n, CASE WHEN n % 100 = 0 THEN 'öö' ELSE 'other' END, 'many', 'active',
        to_timestamp(n / 3), now(), format('k%sX%sXactive', n, CASE WHEN n % 100 = 0 THEN 'öö' ELSE 'other' END)
      FROM generate_series(1, 1000) AS n`
    const expected = Array.from({ length: 10 }, (_, n) => `k${1000 - 100 * n}`)
    for (const limit of [3, 200]) {
      expect(await readAll('/campaigns/search', `q=${encodeURIComponent('ÖÖ')}`, limit, many)).toEqual(expected)
    }
  })

  it('works when a campaign has the id “search”', async () => {
    await storeMetadata(api.stores, 'campaigns', 'acme', [{ id: 'search', name: 'zz' }])
    expect((await api.get('/campaigns/search', key)).json().error).toBe('invalid_q')
    expect(await ids('zz')).toEqual(['search'])
  })
})

it.each(['/conversions/search', '/campaigns/search'])(
  '%s limits q by characters, not by bytes or code units',
  async (path) => {
    for (const q of ['😀😀', '😀'.repeat(100), `  ${'x'.repeat(100)}  `]) {
      expect((await api.get(`${path}?q=${encodeURIComponent(q)}`, key)).statusCode).toBe(200)
    }
  },
)

describe('a search of campaigns', () => {
  it('stops reading when its client disconnects', async () => {
    const plan = planSearch('campaigns/search', { q: 'sommer' }, { accountId: 'acme', currency: 'USD' })
    const gone = AbortSignal.abort(new Error('gone'))
    await expect(searchAllCampaigns({ stores: api.stores } as unknown as RouteContext, plan, gone)).rejects.toThrow(
      'gone',
    )
  })
})

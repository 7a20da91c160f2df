import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CampaignSearchPage, ConversionSearchPage, campaignSearchFields } from '../../../schema/search.ts'
import { fold } from '../../../src/query/searchText.ts'
import { useTestApp } from '../../kit/app.ts'
import { randomCases } from '../../kit/randomCases.ts'
import { readPages } from '../../kit/readRows.ts'
import { type StoredRow, storeConversions, storeMetadata } from '../../kit/rows.ts'

const api = useTestApp()

const letters = fc.constantFrom(...'aAbBxXkK\u212aıIİiσςΣßẞéÉ%_\\ \n|', 'e\u0301', '😀')
const value = fc.string({ unit: letters, maxLength: 6 })
const texts = fc
  .oneof(
    { weight: 4, arbitrary: fc.string({ unit: letters, minLength: 2, maxLength: 3 }) },
    { weight: 1, arbitrary: fc.constantFrom('TIVE', 'k1', 'us') },
  )
  .filter((q) => [...q.trim()].length >= 2)
const campaign = fc.record({
  name: value,
  status: fc.constantFrom('active', 'paused'),
  tags: fc.array(value, { maxLength: 3 }),
})
const conversionFields = ['transactionId', 'externalStatus', 'couponCode', 'referrer', 'sub1', 'campaignName'] as const
const conversion = fc.record({
  transactionId: value,
  externalStatus: value,
  couponCode: value,
  referrer: value,
  sub1: value,
  campaignName: value,
})
const pageRows = fc.integer({ min: 1, max: 4 })
const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => id)
const several = <T>(one: fc.Arbitrary<T>) => fc.array(one, { minLength: 1, maxLength: 12 })
let accounts = 0

it('GET /campaigns/search matches a plain model for any text, any fields and any page size', async () => {
  const fields = fc.subarray([...campaignSearchFields], { minLength: 1 })
  await fc.assert(
    fc.asyncProperty(several(campaign), texts, fields, pageRows, async (rows, q, wanted, limit) => {
      const account = `campaign-model-${accounts++}`
      const key = await api.account(account)
      const stored = rows.map((of, n) => ({ id: `k${10 + n}`, ...of }))
      await storeMetadata(api.stores, 'campaigns', account, stored)
      const expected = stored.reverse().flatMap(({ id, name, status, tags }) => {
        const valuesOf = { id: [id], name: [name], status: [status], tags }
        const matches = campaignSearchFields
          .filter((field) => wanted.includes(field))
          .flatMap((field) => valuesOf[field].map((one) => ({ field, value: one })))
          .filter((match) => fold(match.value).includes(fold(q.trim())))
        return matches.length === 0 ? [] : [{ id, matches }]
      })
      const path = `/campaigns/search?${new URLSearchParams({ q, fields: wanted.join() })}&limit=`
      const { data, query } = await api.read(`${path}200`, key, CampaignSearchPage)
      expect(query).toBe(q.trim())
      expect(data.map(({ id, matches }) => ({ id, matches }))).toEqual(expected)
      expect(idsOf(await readPages(api, path + limit, key, CampaignSearchPage))).toEqual(idsOf(expected))
    }),
    { numRuns: randomCases(2) },
  )
})

it('GET /conversions/search matches a plain model for any text, any fields and any page size', async () => {
  const fields = fc.subarray([...conversionFields], { minLength: 1 })
  await fc.assert(
    fc.asyncProperty(several(conversion), texts, fields, pageRows, async (rows, q, wanted, limit) => {
      const account = `conversion-model-${accounts++}`
      const key = await api.account(account)
      const names = rows.map(({ campaignName }, n) => ({ id: `k${n}`, name: campaignName }))
      await storeMetadata(api.stores, 'campaigns', account, names)
      const stored = rows.map(
        (of, n): StoredRow => ({
          id: `-${n}`,
          converted_at: `2026-11-20 00:00:00.${100 + n}`,
          campaign_id: `k${n}`,
          transaction_id: of.transactionId,
          external_status: of.externalStatus,
          coupon_code: of.couponCode,
          click_referrer: of.referrer,
          sub1: of.sub1,
        }),
      )
      await storeConversions(api.stores, account, stored)
      const matches = (of: (typeof rows)[number]) => wanted.some((field) => fold(of[field]).includes(fold(q.trim())))
      const expected = rows.flatMap((of, n) => (matches(of) ? [`-${n}`] : [])).reverse()
      const path = `/conversions/search?${new URLSearchParams({ q, fields: wanted.join() })}&limit=${limit}`
      expect(idsOf(await readPages(api, path, key, ConversionSearchPage))).toEqual(expected)
    }),
    { numRuns: randomCases(4) },
  )
})

it('GET /conversions/search lists each conversion once when thousands of names match', {
  tags: 'long',
}, async () => {
  const wide = await api.account('wide')
  const prefix = 'campaign-with-a-long-id-to-fill-the-request-'
  await api.stores.postgres`
      INSERT INTO campaigns (account_id, id, name, user_id, status, created_at, updated_at, search_text)
      SELECT 'wide', ${prefix} || n, 'Wide ' || n, 'wide', 'active', to_timestamp(n), now(),
        ${prefix} || format('%sXwide %1$sXactive', n)
      FROM generate_series(1, 12000) AS n`
  await api.stores.postgres`
      INSERT INTO offers (account_id, id, name, status, created_at, updated_at, search_text)
      SELECT 'wide', 'o' || n, 'Wide offer ' || n, 'active', to_timestamp(n), now(),
        format('o%sXwide offer %1$sXactive', n)
      FROM generate_series(1, 6000) AS n`
  const rows = Array.from(
    { length: 60 },
    (_, n): StoredRow => ({
      id: `r${n}`,
      converted_at: `2026-11-20 10:00:00.${100 + Math.floor(n / 2)}`,
      campaign_id: n % 3 === 0 ? 'none' : `${prefix}${1 + ((n * 4_999) % 12_000)}`,
      offer_id: n % 4 === 0 ? `o${1 + ((n * 1_999) % 6_000)}` : 'none',
      sub1: n % 5 === 0 ? 'wide' : '',
    }),
  )
  await storeConversions(api.stores, 'wide', rows)
  const holds = (n: number) => n % 3 !== 0 || n % 4 === 0 || n % 5 === 0
  const expected = rows
    .filter((_, n) => holds(n))
    .sort((a, b) => (`${a.converted_at} ${a.id}` < `${b.converted_at} ${b.id}` ? 1 : -1))
    .map(({ id }) => id)
  for (const limit of [7, 200]) {
    const path = `/conversions/search?q=wide&limit=${limit}`
    expect(idsOf(await readPages(api, path, wide, ConversionSearchPage))).toEqual(expected)
  }
  const { data } = await api.read('/conversions/search?q=wide&limit=200', wide, ConversionSearchPage)
  for (const { id, matches } of data) {
    const n = Number(id.slice(1))
    expect(matches.map(({ field }) => field)).toEqual([
      ...(n % 3 === 0 ? [] : ['campaignName']),
      ...(n % 4 === 0 ? ['offerName'] : []),
      ...(n % 5 === 0 ? ['sub1'] : []),
    ])
  }
})

describe('case', { tags: 'long' }, () => {
  const characters = Array.from({ length: 0x110000 }, (_, code) => code)
    .filter((code) => code > 0 && (code < 0xd800 || code > 0xdfff))
    .map((code) => String.fromCodePoint(code))

  it('equals case folding in ClickHouse for every character', async () => {
    for (let start = 0; start < characters.length; start += 8_000) {
      const some = characters.slice(start, start + 8_000)
      const response = await api.stores.clickhouse.client.query({
        query: `SELECT arrayMap(one -> replaceAll(lowerUTF8(one), 'ς', 'σ'), {some:Array(String)}) AS folded`,
        query_params: { some },
        use_multipart_params_auto: true,
        format: 'JSON',
      })
      const [row] = (await response.json<{ folded: string[] }>()).data
      expect(row?.folded.filter((folded, index) => folded !== fold(some[index] ?? ''))).toEqual([])
    }
  })
})

import { beforeAll, expect, it } from 'vitest'
import { ClickPage } from '../../../schema/click.ts'
import { ConversionPage } from '../../../schema/conversion.ts'
import { importContent } from '../../import/runImport.ts'
import { useTestApp } from '../../kit/app.ts'

// Filters that reports have too: test/properties/reports.

const api = useTestApp()
let key: string

beforeAll(async () => {
  key = await api.account('lists')
  const conversions = Array.from({ length: 36 }, (_, n) => ({
    id: `v${n}`,
    convertedAt: `2026-11-${String(1 + (n % 20)).padStart(2, '0')}T10:00:00.000Z`,
    status: n % 5 ? 'approved' : 'pending',
    isTest: n === 33,
    eventName: n % 2 ? 'purchase' : 'lead',
    transactionId: n % 7 ? `tx,${n}` : undefined,
    ...(n % 3 === 0 ? { visitorId: 'visitor-9' } : { clickId: `c${n}` }),
  }))
  await importContent(api.stores, 'lists', 'conversions', conversions)
})

const parameter = (name: string, text: string) => `${name}=${encodeURIComponent(text)}`
const conversions = async (query: string) =>
  (await api.read(`/conversions?limit=200&${query}`, key, ConversionPage)).data.map(({ id }) => id)

it('a list of a range that starts before 1970 needs no removed rows', async () => {
  const page = await api.read('/clicks?from=1960-01-01&limit=1', key, ClickPage)
  expect(page).not.toHaveProperty('retainedFrom')
})

it('conversions are selected by click, visitor, event and transaction', async () => {
  expect(await conversions('click_id=c4')).toEqual(['v4'])
  expect(await conversions('click_id=(not%20set)')).toHaveLength(11)
  expect((await conversions('visitor_id=visitor-9')).length).toBe(11)
  expect(await conversions('event_name=purchase,lead')).toHaveLength(35)
  expect(await conversions('event_name=Purchase')).toEqual([])
  const hundred = ['purchase', ...Array.from({ length: 99 }, (_, n) => `other${n}`)]
  expect(await conversions(`event_name=${hundred}`)).toEqual(await conversions('event_name=purchase'))
  expect(await conversions(parameter('transaction_id', 'tx\\,1,tx\\,2'))).toEqual(['v2', 'v1'])
  expect(await conversions(parameter('transaction_id', 'tx,1'))).toEqual([])
  expect((await conversions('transaction_id=(not%20set)')).length).toBe(6)
  expect((await conversions('transaction_id=!(not%20set)&include_test_mode=true')).length).toBe(30)
})

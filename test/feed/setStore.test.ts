import { afterEach, describe, expect, it } from 'vitest'
import type { FeedRow, RowResult } from '../../src/feed/rows.ts'
import { SetStore } from '../../src/feed/setStore.ts'
import { jsonInput } from '../../src/import/readers/input.ts'
import type { ResourceName } from '../../src/import/resourceNames.ts'
import { readerOf } from '../../src/import/resources.ts'
import { findDifferences } from '../../src/writer/repair/differences.ts'
import { makeAccount, rowsOf } from '../import/runImport.ts'
import { useTestStores } from '../kit/fixtures.ts'
import { shortWindow } from '../writer/killedImport.ts'
import { withWriter } from '../writer/withWriter.ts'

const stores = useTestStores()
const opened: SetStore[] = []
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close()
})

const said: string[] = []
function open(from: ConstructorParameters<typeof SetStore>[0] = stores): SetStore {
  const store = new SetStore(from, { onMessage: (line) => said.push(line), ...shortWindow })
  opened.push(store)
  return store
}

function row(accountId: string, resource: ResourceName, fields: Record<string, unknown>): FeedRow {
  const value = readerOf(resource, { id: accountId, currency: 'USD' }, false, Date.UTC(2026, 0, 9))(fields, jsonInput)
  return { accountId, resource, value, text: JSON.stringify(fields) } as FeedRow
}

const click = (accountId: string, id: string, fields: object = {}) =>
  row(accountId, 'clicks', { id, clickedAt: '2026-01-05T00:00:00Z', campaignId: 'c', ...fields })
const sale = (accountId: string, id: string, fields: object = {}) =>
  row(accountId, 'conversions', { id, convertedAt: '2026-01-06T00:00:00Z', status: 'pending', ...fields })
const event = (accountId: string, id: string, fields: object = {}) =>
  row(accountId, 'pixel-events', { id, eventName: 'view', visitorId: 'v', campaignId: 'c', ...fields })
const campaign = (accountId: string, id: string, fields: object = {}) =>
  row(accountId, 'campaigns', { id, name: 'Spring', ...fields })

const resultsOf = (results: readonly RowResult[]) => results.map(({ result }) => result)

/** Claims the accounts of rows and stores them. */
async function store(into: SetStore, rows: readonly FeedRow[]): Promise<string[]> {
  await into.claim([...new Set(rows.map(({ accountId }) => accountId))])
  return resultsOf(await into.flush(rows))
}

async function accounts(): Promise<[string, string]> {
  return [await makeAccount(stores), await makeAccount(stores)]
}

describe('a flush', () => {
  it('gives each row of several accounts and resources its own result', async () => {
    const [a, b] = await accounts()
    const set = open()
    const first = [
      sale(a, 's1', { clickId: 'k1', revenue: 2 }),
      click(a, 'k1', { country: 'FR' }),
      event(b, 'e1'),
      click(b, 'k1'),
      campaign(b, 'c', { userId: 'owner' }),
      click(b, 'k1'),
      sale(b, 's1', { status: 'approved', updatedAt: '2026-01-08T00:00:00Z' }),
    ]
    expect(await store(set, first)).toEqual([...Array(5).fill('inserted'), 'duplicate', 'inserted'])
    const second = [
      click(a, 'k1', { country: 'DE' }),
      sale(a, 's1', { clickId: 'k1', revenue: 2 }),
      sale(a, 's1', { clickId: 'k1', revenue: 3 }),
      sale(a, 's1', { clickId: 'k1', status: 'approved', updatedAt: '2026-01-07T00:00:00Z' }),
      sale(b, 's1'),
      event(b, 'e1', { eventName: 'buy' }),
      campaign(b, 'c', { userId: 'owner' }),
      campaign(b, 'c', { userId: 'owner', status: 'paused' }),
      click(b, 'k2'),
      click(b, 'k1'),
    ]
    await set.claim([a, b])
    const results = await set.flush(second)
    expect(resultsOf(results)).toEqual([
      ...['conflict', 'duplicate', 'conflict', 'updated', 'older', 'conflict'],
      ...['duplicate', 'updated', 'inserted', 'duplicate'],
    ])
    expect(results[2]).toEqual({
      result: 'conflict',
      reason: 'differs from the stored row, whose updatedAt is equal',
    })
    expect(await rowsOf(stores, `SELECT user_id FROM pixel_events WHERE account_id = '${b}'`)).toEqual([
      { user_id: 'owner' },
    ])
    const copied = `SELECT status, click_country FROM conversions FINAL WHERE account_id = '${a}'`
    expect(await rowsOf(stores, copied)).toEqual([{ status: 'approved', click_country: 'FR' }])
    await set.close()
    for (const account of [a, b]) expect(await withWriter(stores, account, findDifferences)).toEqual([])
  })
})

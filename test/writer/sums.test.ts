import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sums } from '../../src/query/metricDefinitions.ts'
import { selectRows } from '../../src/stores/clickhouse/select.ts'
import { sumDifferences } from '../../src/writer/derived/sumDifferences.ts'
import { sumsTableNames } from '../../src/writer/derived/sumsTables.ts'
import { importContent, makeAccount, rowsOf } from '../import/runImport.ts'
import { openTestStores, type TestStores } from '../kit/stores.ts'

let stores: TestStores
beforeAll(async () => {
  stores = await openTestStores()
})
afterAll(() => stores.close())

const first = {
  id: 'v1',
  convertedAt: '2026-03-01T10:00:00Z',
  updatedAt: '2026-03-01T10:00:00Z',
  status: 'pending',
  revenue: 10,
  campaignId: 'k1',
  country: 'DE',
}

/** A line of the sums by country: day, country and every sum that is not zero. */
type Summed = [day: string, country: string, sums: Record<string, number>]

const pending = { pendingConversions: 1, pendingRevenue: 10 }

/** Changes, each of a conversion of its own, and what is left of it. Random changes: test/properties/reports. */
const changes: [day: string, change: object, expected: Summed[]][] = [
  ['2026-03-01', { status: 'approved' }, [['2026-03-01', 'DE', { conversions: 1, revenue: 10 }]]],
  ['2026-03-02', { status: 'chargeback' }, [['2026-03-02', 'DE', { refundedConversions: 1, refundedRevenue: 10 }]]],
  ['2026-03-03', { country: 'FR' }, [['2026-03-03', 'FR', pending]]],
  ['2026-03-04', { convertedAt: '2025-12-31T23:59:59.999Z' }, [['2025-12-31', 'DE', pending]]],
  ['2026-03-05', { isTest: true }, []],
]

describe('the sums of conversions follow', () => {
  it('a status, a country, another year and a test row, and back', async () => {
    const account = await makeAccount(stores)
    const importRows = async (updatedAt: string, isChanged: boolean) => {
      const rows = changes.map(([day, change], n) => ({
        ...{ ...first, id: `v${n}`, convertedAt: `${day}T10:00:00Z`, ...(isChanged && change), updatedAt },
      }))
      await importContent(stores, account, 'conversions', rows)
      return await sumsByCountry(account)
    }
    const unchanged = changes.map(([day]) => [day, 'DE', pending])
    expect(await importRows('2026-03-01T00:00:00Z', false)).toEqual(unchanged)
    const changed = changes.flatMap(([, , expected]) => expected).sort(([a], [b]) => (a < b ? -1 : 1))
    expect(await importRows('2026-03-02T00:00:00Z', true)).toEqual(changed)
    expect(await importRows('2026-03-03T00:00:00Z', false)).toEqual(unchanged)
  })

  it('several changes of one conversion in one file', async () => {
    const account = await makeAccount(stores)
    await importContent(stores, account, 'conversions', [first])
    const { updated } = await importContent(stores, account, 'conversions', [
      { ...first, status: 'approved', updatedAt: '2026-03-02T00:00:00Z' },
      { ...first, status: 'declined', updatedAt: '2026-03-04T00:00:00Z', country: 'US' },
      { ...first, status: 'refunded', updatedAt: '2026-03-03T00:00:00Z' },
    ])
    expect(updated).toBe(2)
    expect(await sumsByCountry(account)).toEqual([['2026-03-01', 'US', { declinedConversions: 1 }]])
  })

  it('a click that arrives after its conversion and sets its country', async () => {
    const account = await makeAccount(stores)
    const waiting = { ...first, campaignId: undefined, country: undefined, clickId: 'c1' }
    await importContent(stores, account, 'conversions', [waiting])
    await importContent(stores, account, 'clicks', [
      { id: 'c1', clickedAt: '2026-02-28T00:00:00Z', campaignId: 'k1', country: 'US', cost: 0.5 },
    ])
    expect(await sumsByCountry(account)).toEqual([
      ['2026-02-28', 'US', { clicks: 1, cost: 0.5 }],
      ['2026-03-01', 'US', { pendingConversions: 1, pendingRevenue: 10 }],
    ])
  })

  it('neither outdated nor duplicate rows', async () => {
    const account = await makeAccount(stores)
    await importContent(stores, account, 'conversions', [first])
    const stored = await countVersions(account)
    await importContent(stores, account, 'conversions', [first])
    await importContent(stores, account, 'conversions', [{ ...first, status: 'approved', country: 'US' }])
    expect(await countVersions(account)).toEqual(stored)
    expect(await sumsByCountry(account)).toEqual([['2026-03-01', 'DE', { pendingConversions: 1, pendingRevenue: 10 }]])
  })
})

/** Rows and versions ever written, merged or not. */
async function countVersions(account: string): Promise<object[]> {
  return await rowsOf(
    stores,
    `SELECT id, max(version) AS version FROM conversions WHERE account_id = '${account}' GROUP BY id`,
  )
}

/** The stored sums, after checking that they match the rows. */
async function sumsByCountry(account: string): Promise<Summed[]> {
  for (const name of sumsTableNames) {
    for (const year of [2025, 2026]) {
      const span = { accountId: account, fromMs: Date.UTC(year, 0, 1), untilMs: Date.UTC(year + 1, 0, 1) }
      expect(await selectRows(stores.clickhouse, sumDifferences(name, span), { label: 'test' })).toEqual([])
    }
  }
  const rows = await rowsOf<Record<string, string>>(
    stores,
    `SELECT day, value, ${sums.map(({ metric, name }) => `sum(facts.${name}) AS ${metric}`)}
     FROM sums_by_day AS facts WHERE account_id = '${account}' AND dimension = 'country' GROUP BY day, value ORDER BY day, value`,
  )
  return rows.flatMap(({ day = '', value = '', ...columns }): Summed[] => {
    const present = Object.entries(columns).filter(([, sum]) => Number(sum) !== 0)
    return present.length === 0
      ? []
      : [[day, value, Object.fromEntries(present.map(([name, sum]) => [name, Number(sum)]))]]
  })
}

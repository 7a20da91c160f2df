import { beforeAll, describe, expect, it } from 'vitest'
import { ConversionPage } from '../../../schema/conversion.ts'
import { useTestApp } from '../../kit/app.ts'
import { readPages } from '../../kit/readRows.ts'
import { advanceWatermarks, type StoredRow, stopMerges, storeConversions } from '../../kit/rows.ts'

// Pages of conversions by storedAt over many versions that are not merged.

const api = useTestApp()
let key: string
let queries = 0

/** A version of a conversion as a model; `batch` numbers the batch that stored it. */
interface Version {
  id: string
  batch: number
  convertedS: number
  status: string
  campaign: string
}

const statuses = ['approved', 'pending', 'refunded']
const idsMax = 240
const batches = 12
/** The versions of each batch. The first batches change every conversion, so most versions are superseded. */
const versions: Version[][] = Array.from({ length: batches }, (_, batch) =>
  Array.from({ length: idsMax }, (_, n) => n)
    .filter((n) => batch < 6 || (n * 7 + batch) % 5 === 0)
    .map((n) => ({
      id: `v${String(n).padStart(3, '0')}`,
      batch,
      // One conversion in eight is moved in each batch.
      convertedS: n + ((n + batch) % 8 === 0 ? 3_600 * (batch + 1) : 0),
      status: statuses[(n + batch) % 3] ?? '',
      campaign: (n + 2 * batch) % 4 === 0 ? 'rare' : 'usual',
    })),
)

const instantText = (epochMs: number) => new Date(epochMs).toISOString().replace('T', ' ').slice(0, -1)
const convertedFrom = Date.UTC(2026, 10, 1)
const storedFrom = Date.UTC(2026, 10, 20)

function rowOf({ id, batch, convertedS, status, campaign }: Version): StoredRow {
  return {
    account_id: 'acme',
    id,
    source: 'cpa',
    status,
    campaign_id: campaign,
    version: 10 * (batch + 1),
    converted_at: instantText(convertedFrom + convertedS * 1000),
    stored_at: instantText(storedFrom + batch),
  }
}

beforeAll(async () => {
  key = await api.account('acme')
  await stopMerges(api.stores, 'conversions')
  const latest = new Map<string, Version>()
  for (const batch of versions) {
    // As in an import: the stored row once more as deleted, then the new row.
    const values = batch.flatMap((version) => {
      const before = latest.get(version.id)
      latest.set(version.id, version)
      const row = rowOf(version)
      const deleted = { stored_at: row.stored_at ?? null, version: Number(row.version) - 1, is_deleted: 1 }
      return before ? [{ ...rowOf(before), ...deleted }, row] : [row]
    })
    await api.stores.clickhouse.client.insert({ table: 'conversions', format: 'JSONEachRow', values })
  }
  await advanceWatermarks(api.stores, 'acme')
  const report = api.stores.clickhouse.onQuery
  api.stores.clickhouse.onQuery = (label, seconds) => {
    queries += 1
    report?.(label, seconds)
  }
})

async function readAll(query: string, limit: number): Promise<{ ids: string[]; queriesMax: number }> {
  let queriesMax = 0
  queries = 0
  const rows = await readPages(api, `/conversions?${query}&limit=${limit}`, key, ConversionPage, () => {
    queriesMax = Math.max(queriesMax, queries)
    queries = 0
  })
  return { ids: rows.map(({ id }) => id), queriesMax }
}

/** The latest versions that match, in the order in which they were stored. */
function expected(isSelected: (version: Version) => boolean): string[] {
  const latest = new Map(versions.flat().map((version) => [version.id, version]))
  return [...latest.values()]
    .filter(isSelected)
    .sort((a, b) => a.batch - b.batch || (a.id < b.id ? -1 : 1))
    .map(({ id }) => id)
}

describe('a page of conversions by storedAt', () => {
  it.each([
    ['', () => true],
    ['campaign_id=rare', ({ campaign }) => campaign === 'rare'],
    ['status=refunded', ({ status }) => status === 'refunded'],
    ['status=pending&campaign_id=rare', ({ status, campaign }) => status === 'pending' && campaign === 'rare'],
    ['from=2026-11-01T06:00:00Z', ({ convertedS }) => convertedS >= 6 * 3_600],
  ] as [string, (version: Version) => boolean][])(
    'has each matching conversion once, by its latest version, with few queries: %s',
    async (filter, isSelected) => {
      const ids = expected(isSelected)
      expect(ids.length).toBeGreaterThan(5)
      for (const limit of [10, 50]) {
        const read = await readAll(`updated_since=1970-01-01&${filter}`, limit)
        expect(read.ids).toEqual(ids)
        // Two rounds of three queries, and the exact one with its rows.
        expect(read.queriesMax).toBeLessThanOrEqual(8)
      }
    },
  )

  it('takes one query if nothing matches, at most eight if one row follows a thousand superseded versions', async () => {
    expect(await readAll('updated_since=1970-01-01&campaign_id=unknown', 1)).toEqual({ ids: [], queriesMax: 1 })
    queries = 0
    const page = await api.read('/conversions?updated_since=1970-01-01&limit=1', key, ConversionPage)
    expect(page.data.map(({ id }) => id)).toEqual(expected(() => true).slice(0, 1))
    expect(queries).toBeLessThanOrEqual(8)
  })
})

it.each(['asc', 'desc'])(
  'a list without filters takes few queries beside thousands of test conversions: %s',
  async (order) => {
    const accountId = `tested-${order}`
    const tested = await api.account(accountId)
    const rows = Array.from({ length: 3_000 }, (_, n) => ({
      id: `t${n}`,
      source: 'cpa',
      status: 'approved',
      is_test: n === 1_500 ? 0 : 1,
      converted_at: instantText(convertedFrom + n * 1000),
    }))
    await storeConversions(api.stores, accountId, rows)
    await advanceWatermarks(api.stores, accountId)
    queries = 0
    const page = await api.read(`/conversions?from=2026-11-01&limit=10&order=${order}`, tested, ConversionPage)
    expect(page.data.map(({ id }) => id)).toEqual(['t1500'])
    expect(queries).toBeLessThanOrEqual(5)
  },
)

import { beforeAll, describe, expect, it } from 'vitest'
import { ClickPage } from '../../schema/click.ts'
import { ConversionPage } from '../../schema/conversion.ts'
import { entryOf, recordBatches } from '../../src/writer/journal/journal.ts'
import { importContent } from '../import/runImport.ts'
import { useTestApp } from '../kit/app.ts'
import { ndjsonRows, readPages } from '../kit/readRows.ts'
import { withWriter } from '../writer/withWriter.ts'

// A copy during concurrent writes: test/packages/sync/lives.

const api = useTestApp()
let key: string

type Row = Record<string, unknown> & { id: string; storedAt: string; status?: string }

/** Reads all pages of a list. @returns `asOf` of the last page */
async function readAllPages(path: string, limit = 200, readerKey = key): Promise<{ rows: Row[]; asOf: string }> {
  const schema = (path.startsWith('/clicks') ? ClickPage : ConversionPage) as never
  let asOf = ''
  const rows = await readPages<Row>(api, `${path}&limit=${limit}`, readerKey, schema, (page) => {
    asOf = page.asOf ?? ''
  })
  return { rows, asOf }
}

async function readExport(path: string): Promise<{ rows: Row[]; asOf: unknown }> {
  const { body, headers } = await api.get(`${path}&format=ndjson`, key)
  return { rows: ndjsonRows(body).map(({ cursor: _, ...row }) => row as Row), asOf: headers['x-as-of'] }
}

const ids = ({ rows }: { rows: Row[] }) => rows.map(({ id }) => id)
const day = (n: number) => `2026-03-${String(1 + (n % 28)).padStart(2, '0')}T10:00:00.000Z`
const click = (n: number) => ({ id: `k${n}`, clickedAt: day(n), campaignId: n % 3 ? 'a' : 'b' })
const conversion = (n: number, more: object = {}) => ({
  id: `v${n}`,
  convertedAt: day(n),
  status: 'pending',
  updatedAt: '2026-04-01T00:00:00Z',
  ...(n % 2 === 0 && { clickId: `k${n}` }),
  ...more,
})
const several = <T>(count: number, make: (n: number) => T) => Array.from({ length: count }, (_, n) => make(n))

beforeAll(async () => {
  key = await api.account('acme')
  await importContent(api.stores, 'acme', 'clicks', several(60, click))
  await importContent(api.stores, 'acme', 'conversions', several(40, conversion))
  const test = conversion(40, { isTest: true })
  await importContent(api.stores, 'acme', 'conversions', [
    test,
    conversion(3, { status: 'approved', updatedAt: '2026-04-02T00:00:00Z' }),
  ])
})

it('order=asc refuses cursors of another order', async () => {
  const page = await api.read('/clicks?order=asc&limit=2', key, ClickPage)
  for (const path of ['/clicks?', '/clicks?order=desc&', '/clicks?order=asc&updated_since=2026-01-01&'])
    expect((await api.get(`${path}cursor=${page.nextCursor}`, key)).json().error).toBe('invalid_cursor')
  const newest = await api.read('/clicks?limit=2', key, ClickPage)
  expect((await api.get(`/clicks?order=desc&cursor=${newest.nextCursor}`, key)).statusCode).toBe(200)
})

describe('updated_since', () => {
  it('returns every row once, in the order of storedAt, on pages of any size and in an export', async () => {
    for (const path of ['/clicks?', '/conversions?include_test_mode=true', '/conversions?status=pending']) {
      const since = `${path}&updated_since=2026-01-01`
      const all = await readAllPages(since)
      expect(ids(all).sort()).toEqual(ids(await readAllPages(path)).sort())
      const keys = all.rows.map(({ storedAt, id }) => `${storedAt} ${id}`)
      expect(keys).toEqual(keys.toSorted())
      expect((await readAllPages(since, 9)).rows).toEqual(all.rows)
      const whole = await readExport(since)
      expect(whole.rows).toEqual(all.rows)
      expect(whole.asOf).toMatch(/^\d{4}-.*Z$/)
    }
    expect(ids(await readAllPages('/conversions?updated_since=2026-01-01')).at(-1)).toBe('v3')
  })

  it('returns rows that were added, changed or moved since the last read, and no others', async () => {
    const clicks = await readAllPages('/clicks?updated_since=2026-01-01')
    const conversions = await readAllPages('/conversions?updated_since=2026-01-01')
    await importContent(api.stores, 'acme', 'clicks', [click(5), { ...click(1), id: 'late', clickedAt: day(0) }])
    await importContent(api.stores, 'acme', 'conversions', [
      conversion(0),
      conversion(7, { status: 'refunded', updatedAt: '2026-05-01T00:00:00Z' }),
      conversion(8, { convertedAt: day(25), updatedAt: '2026-05-01T00:00:00Z' }),
      conversion(9, { id: 'new', clickId: 'late' }),
    ])
    expect(ids(await readAllPages(`/clicks?updated_since=${clicks.asOf}`))).toEqual(['late'])
    for (const limit of [1, 2, 200]) {
      const changed = await readAllPages(`/conversions?updated_since=${conversions.asOf}`, limit)
      expect(ids(changed)).toEqual(['new', 'v7', 'v8'])
      expect(changed.rows.map(({ status }) => status)).toEqual(['pending', 'refunded', 'pending'])
    }
    expect(ids(await readExport(`/conversions?updated_since=${conversions.asOf}`))).toEqual(['new', 'v7', 'v8'])
    const next = await readAllPages(`/conversions?updated_since=${conversions.asOf}`)
    expect(ids(await readAllPages(`/conversions?updated_since=${next.asOf}`))).toEqual([])
  })

  it('updated_after returns the rows stored later than a time, on pages and in an export', async () => {
    for (const list of ['clicks', 'conversions']) {
      const all = (await readAllPages(`/${list}?updated_since=1970-01-01`)).rows
      const times = [...new Set(all.map(({ storedAt }) => storedAt))]
      expect(times.length).toBeGreaterThan(1)
      for (const time of times) {
        const expected = ids({ rows: all.filter(({ storedAt }) => storedAt > time) })
        expect(ids(await readAllPages(`/${list}?updated_after=${time}`, 7))).toEqual(expected)
        expect(ids(await readExport(`/${list}?updated_after=${time}`))).toEqual(expected)
        // Rows are stored at whole milliseconds, so a later microsecond is after the same rows.
        expect(ids(await readAllPages(`/${list}?updated_after=${time.replace('Z', '999Z')}`))).toEqual(expected)
      }
    }
  })

  it('returns a conversion again when its click has been stored', async () => {
    await importContent(api.stores, 'acme', 'conversions', [conversion(11, { id: 'early', clickId: 'to-come' })])
    const { asOf } = await readAllPages('/conversions?updated_since=2026-01-01')
    await importContent(api.stores, 'acme', 'clicks', [{ ...click(1), id: 'to-come', country: 'DE' }])
    const { rows } = await readAllPages(`/conversions?updated_since=${asOf}`)
    expect(rows).toMatchObject([{ id: 'early', country: 'DE' }])
  })

  it('continues from the asOf of a full export', async () => {
    const { asOf } = await readExport('/conversions?')
    await importContent(api.stores, 'acme', 'conversions', [conversion(12, { id: 'after' })])
    expect(ids(await readAllPages(`/conversions?updated_since=${asOf}`))).toEqual(['after'])
  })

  it('ends before the oldest unfinished write of the account, and ignores the writes of other accounts', async () => {
    const note = async (accountId: string, ...resources: ('clicks' | 'conversions')[]) => {
      const entries = resources.map((resource) => entryOf(accountId, resource, { firstMs: 0, lastMs: 0, added: [] }))
      await withWriter(api.stores, accountId, (writer) => recordBatches(writer, entries))
    }
    await api.account('other')
    await note('other', 'clicks')
    await note('acme', 'conversions', 'clicks')
    const [noted] = await api.stores.postgres<{ stored_at: Date }[]>`
      SELECT stored_at FROM import_batches WHERE account_id = 'acme' AND resource = 'clicks'`
    const storedAtMs = noted?.stored_at.getTime() ?? Number.NaN
    await api.stores.clickhouse.client.insert({
      table: 'clicks',
      format: 'JSONEachRow',
      values: [{ account_id: 'acme', id: 'unfinished', clicked_at: '2026-03-01 00:00:00.000', stored_at: storedAtMs }],
    })
    const during = await readAllPages('/clicks?updated_since=2026-01-01')
    expect(ids(during)).not.toContain('unfinished')
    expect(Date.parse(during.asOf)).toBe(storedAtMs)
    await api.stores.postgres`DELETE FROM import_batches`
    const { rows } = await readAllPages(`/clicks?updated_since=${during.asOf}`)
    expect(rows.map(({ id }) => id)).toContain('unfinished')
  })

  // Invalid values of one parameter: errors.test.ts.
  it.each([
    ['/conversions?updated_since=2026-01-01&order=desc', 'invalid_order'],
    ['/conversions?updated_after=2026-01-01&order=desc', 'invalid_order'],
    ['/clicks?updated_after=2026-01-01&updated_since=2026-01-01', 'invalid_updated_after'],
    ['/conversions?updated_since=2026-01-01&updated_after=2026-01-01&format=csv', 'invalid_updated_after'],
  ])('%s is refused with %s', async (path, code) => {
    const response = await api.get(path, key)
    expect([response.statusCode, response.json().error]).toEqual([400, code])
  })

  it('returns no rows of another account', async () => {
    const otherKey = await api.account('neighbour')
    await importContent(api.stores, 'neighbour', 'conversions', [conversion(1, { id: 'theirs' })])
    for (const list of ['clicks', 'conversions']) {
      const { rows } = await readAllPages(`/${list}?updated_since=2026-01-01`, 200, otherKey)
      expect(rows.map(({ id }) => id)).toEqual(list === 'clicks' ? [] : ['theirs'])
      expect((await api.get(`/${list}?updated_since=2026-01-01&format=ndjson`, key)).body).not.toContain('theirs')
    }
  })
})

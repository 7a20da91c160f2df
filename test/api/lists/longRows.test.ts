// @module-tag all

import { expect, it } from 'vitest'
import { subIdNames } from '../../../schema/subIds.ts'
import { importContent } from '../../import/runImport.ts'
import { useTestApp } from '../../kit/app.ts'
import { ndjsonRows } from '../../kit/readRows.ts'

const api = useTestApp()

/** Rows with the longest texts that an import takes. */
const rowsCount = 60
const lines = Array.from({ length: rowsCount }, (_, n) => ({
  n,
  at: `2026-11-20T10:00:${`${n}`.padStart(2, '0')}.000Z`,
}))
const longText = (n: number) => `${n}`.padEnd(8_192, 'x')

it('a page ends at 4 MiB with its cursor, and the pages have each row once: in every list, search and journey', async () => {
  const key = await api.account('long')
  const store = (resource: Parameters<typeof importContent>[2], rows: Record<string, unknown>[]) =>
    importContent(api.stores, 'long', resource, rows)
  const subIds = (n: number) => Object.fromEntries(subIdNames.map((name) => [name, longText(n)]))
  const clicks = lines.map(({ n, at }) => ({
    id: `c${n}`,
    clickedAt: at,
    visitorId: 'v',
    country: 'DE',
    subIds: subIds(n),
  }))
  await store('clicks', clicks)
  const conversions = lines.map(({ n, at }) => ({
    id: `v${n}`,
    convertedAt: at,
    clickId: `c${n}`,
    transactionId: `conv-${n}`,
    status: 'approved',
    subIds: subIds(n),
  }))
  await store('conversions', conversions)
  const dated = { createdAt: '2026-11-20T10:00:00Z', updatedAt: '2026-11-20T10:00:00Z', status: 'active' }
  const tags = (n: number) => Array.from({ length: 10 }, () => longText(n))
  const campaigns = lines.map(({ n }) => ({ ...dated, id: `k${n}`, name: `name ${n}`, tags: tags(n) }))
  await store('campaigns', campaigns)
  for (const [path, count, pageCount = 2] of [
    ['/clicks?', rowsCount],
    ['/clicks?order=asc', rowsCount],
    ['/clicks?country=DE', rowsCount],
    ['/clicks?converted=true', rowsCount],
    ['/clicks?updated_since=2026-01-01T00:00:00Z', rowsCount],
    ['/conversions?', rowsCount],
    ['/conversions?order=asc', rowsCount],
    ['/conversions?status=approved', rowsCount],
    ['/conversions?updated_since=2026-01-01T00:00:00Z', rowsCount],
    ['/journeys?visitor_id=v', 2 * rowsCount, 3],
    ['/conversions/search?q=conv-', rowsCount],
    ['/campaigns?', rowsCount],
    ['/campaigns/search?q=name', rowsCount],
    // Each row has its matches too.
    ['/conversions/search?q=xx', rowsCount, 3],
    ['/campaigns/search?q=xx', rowsCount, 3],
  ] as [string, number, number?][]) {
    const ids: string[] = []
    let pages = 0
    for (let cursor: string | null = ''; cursor !== null; pages++) {
      const page = `${path}${path.endsWith('?') ? '' : '&'}limit=200${cursor && `&cursor=${cursor}`}`
      const { statusCode, body } = await api.get(page, key)
      expect([path, statusCode]).toEqual([path, 200])
      const { data, nextCursor } = JSON.parse(body)
      ids.push(...data.map(({ id }: { id: string }) => id))
      // The page has other fields beside its rows.
      expect(Buffer.byteLength(body)).toBeLessThan(4 * 1_048_576 + 1_000)
      if (nextCursor) expect([path, Buffer.byteLength(body) > 3 * 1_048_576]).toEqual([path, true])
      cursor = nextCursor
    }
    expect([path, ids.length, new Set(ids).size, pages]).toEqual([path, count, count, pageCount])
  }
  const exported = ndjsonRows((await api.get('/campaigns?format=ndjson', key)).body).map(({ id }) => id)
  expect([exported.length, new Set(exported).size]).toEqual([rowsCount, rowsCount])
})

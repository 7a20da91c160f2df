import { beforeAll, expect, it } from 'vitest'
import { importContent } from '../../import/runImport.ts'
import { useTestApp } from '../../kit/app.ts'
import { queryParquet } from '../../kit/parquet.ts'
import { storeEvents } from '../../kit/rows.ts'

const campaignCount = 10_000
/** Forty Cyrillic letters take 240 bytes in a URL. */
const cyrillic = 'Щ'.repeat(40)
const awkward = 'a\tb\nc\r\'"\\;, Ж --'

const api = useTestApp()
let key: string

beforeAll(async () => {
  key = await api.account('names')
  await api.stores.postgres`
    INSERT INTO campaigns (account_id, id, name, user_id, status, created_at, updated_at, search_text)
    SELECT 'names', 'k' || lpad(n::text, 36, '0'), ${cyrillic} || n, 'u', 'active', now(), now(),
      format('k%sX%sXactive', lpad(n::text, 36, '0'), ${cyrillic.toLowerCase()} || n)
    FROM generate_series(1, ${campaignCount}::int) AS n`
  await api.stores.postgres`
    UPDATE campaigns SET name = ${awkward}, search_text = '' WHERE account_id = 'names' AND id = ${idOf(1)}`
  const at = '2026-11-20T10:00:00.000Z'
  const clicks = [1, campaignCount].map((n) => ({ id: `c${n}`, clickedAt: at, campaignId: idOf(n) }))
  await importContent(api.stores, 'names', 'clicks', clicks)
  const conversions = clicks.map(({ id }) => ({ id, clickId: id, convertedAt: at, status: 'approved' }))
  await importContent(api.stores, 'names', 'conversions', conversions)
  const events = clicks.map(({ id, campaignId }) => ({
    id,
    campaign_id: campaignId,
    occurred_at: '2026-11-20 10:00:00.000',
  }))
  await storeEvents(api.stores, 'names', events)
})

const idOf = (n: number) => `k${String(n).padStart(36, '0')}`
const expected = [awkward, `${cyrillic}${campaignCount}`]

it.each(['clicks', 'conversions', 'events'])(
  'returns names of %s in every format of an account with many',
  async (list) => {
    const read = async (format: string) => {
      const response = await api.get(`/${list}?from=2026-11-20&fields=campaignName&format=${format}`, key)
      expect([format, response.statusCode]).toEqual([format, 200])
      return response
    }
    const page = (await read('json')).json<{ data: { campaignName: string }[] }>()
    const ndjson = (await read('ndjson')).body.trim().split('\n')
    const csv = (await read('csv')).body
    const { rawPayload } = await read('parquet')
    const parquet = await queryParquet<{ name: string }>(api.stores, rawPayload, 'SELECT campaignName AS name')
    const names = [
      page.data.map((row) => row.campaignName),
      ndjson.map((line) => JSON.parse(line).campaignName),
      parquet.map(({ name }) => name),
    ]
    expect(names.map((some) => some.sort())).toEqual([expected, expected, expected])
    expect(csv).toContain(`"${awkward.replace('"', '""')}"`)
    expect(csv).toContain(expected[1])
  },
)

it('lists, reports and searches the names of many campaigns', async () => {
  for (const path of [
    '/campaigns?limit=200',
    '/reports?group_by=campaign',
    '/stats/overview?days=7',
    `/campaigns/search?q=${encodeURIComponent('щщ')}`,
    `/conversions/search?q=${encodeURIComponent('щщ')}`,
  ]) {
    const response = await api.get(path, key)
    expect([path, response.statusCode, response.body]).toEqual([path, 200, expect.any(String)])
  }
})

// @module-tag all

import type { TObject, TSchema } from '@sinclair/typebox'
import { beforeAll, describe, expect, it } from 'vitest'
import { Click, ClickPage } from '../../../schema/click.ts'
import { Conversion, ConversionPage } from '../../../schema/conversion.ts'
import { Cost, CostPage } from '../../../schema/cost.ts'
import { EventRow } from '../../../schema/event.ts'
import { EventPage } from '../../../schema/eventList.ts'
import { exportedDimensions } from '../../../schema/fields.ts'
import { Campaign, LandingPage, Offer, TrafficSource } from '../../../schema/metadata.ts'
import { Page } from '../../../schema/page.ts'
import { subIdNames } from '../../../schema/subIds.ts'
import { resourceNames } from '../../../src/import/resourceNames.ts'
import { csvFinisher } from '../../../src/rows/csvSerializer.ts'
import { importContent } from '../../import/runImport.ts'
import { useTestApp } from '../../kit/app.ts'
import { fullRows } from '../../kit/fullRows.ts'
import { queryParquet } from '../../kit/parquet.ts'
import { csvRows, ndjsonRows, readPages } from '../../kit/readRows.ts'
import { changeTables, storeClicks, storeConversions, storeEvents } from '../../kit/rows.ts'

// The values of the rows: test/export, which imports the rows of each list and compares them with those that were stored.

const api = useTestApp()
let key: string
let emptyKey: string
let otherKey: string

beforeAll(async () => {
  key = await api.account('acme', { currency: 'EUR' })
  emptyKey = await api.account('empty')
  otherKey = await api.account('acme:1')
  for (const resource of resourceNames) await importContent(api.stores, 'acme', resource, fullRows[resource])
  // Copies have equal times.
  const stored_at = '2026-04-01 00:00:00.000'
  const clickedAt = (n: number) => `2026-03-0${1 + (n % 9)} 10:00:00.000`
  const campaignOf = (n: number) => (n % 2 ? 'bare' : 'gone')
  const clicks = Array.from({ length: 30 }, (_, n) => ({
    id: `k${n}`,
    clicked_at: clickedAt(n),
    campaign_id: campaignOf(n),
    offer_id: 'o',
    cost: 0.1,
    stored_at,
    sub1: n % 2 ? 'a,"b' : '',
    sub2: n % 3 ? `s${n}` : '',
    sub10: 'é',
  }))
  await storeClicks(api.stores, 'acme', clicks)
  await storeClicks(api.stores, 'acme', clicks.slice(0, 5))
  const of = (n: number) => ({
    click_id: `k${n}`,
    click_at: clickedAt(n),
    clicked_at: clickedAt(n),
    click_campaign_id: campaignOf(n),
    click_offer_id: 'o',
  })
  const sale = { id: 'v0', converted_at: '2026-03-10 00:00:00.000', ...of(0) }
  const moved = { id: 'v5', converted_at: '2026-03-14 00:00:00.000', status: 'pending' }
  await storeConversions(api.stores, 'acme', [
    { ...sale, status: 'pending', revenue: '12.000001', revenue_base: '0.3' },
    { ...sale, id: 'v1', campaign_id: 'camp' },
    { ...sale, id: 'v2', source: 'revenue', payout: 5, ...of(1) },
    { ...sale, id: 'v3', is_test: true, ...of(2) },
    moved,
  ])
  await storeConversions(api.stores, 'acme', [
    { ...sale, status: 'refunded', version: 2 },
    { ...moved, version: 2, is_deleted: 1 },
    { ...moved, converted_at: '2026-02-14 00:00:00.000', status: 'approved', version: 3 },
  ])
  const events = Array.from({ length: 9 }, (_, n) => ({
    id: `x${n}`,
    event_name: n % 2 ? 'visit' : 'signup',
    occurred_at: clickedAt(n % 3),
    stored_at,
  }))
  await storeEvents(api.stores, 'acme', events)
  await storeEvents(api.stores, 'acme', events.slice(0, 2))
})

const lists: [path: string, row: TObject, page: TSchema][] = [
  ['/clicks?', Click, ClickPage],
  ['/clicks?converted=false&campaign_id=gone', Click, ClickPage],
  ['/clicks?offer_id=o&from=2026-03-03&order=asc', Click, ClickPage],
  ['/clicks?days=258&tz=America/New_York', Click, ClickPage],
  ['/clicks?converted=true', Click, ClickPage],
  ['/conversions?include_test_mode=true', Conversion, ConversionPage],
  ['/conversions?days=260&tz=Asia/Kathmandu&order=asc', Conversion, ConversionPage],
  ['/conversions?status=approved,refunded&order=asc', Conversion, ConversionPage],
  ['/conversions?offer_id=!o&from=2026-03-01', Conversion, ConversionPage],
  ['/costs?', Cost, CostPage],
  ['/costs?campaign_id=!gone&from=2026-03-02&order=asc', Cost, CostPage],
  ['/events?', EventRow, EventPage],
  ['/events?event_name=visit&order=asc', EventRow, EventPage],
  ['/events?days=262&tz=Asia/Kathmandu', EventRow, EventPage],
  ['/campaigns?', Campaign, Page(Campaign)],
  ['/campaigns?status=active', Campaign, Page(Campaign)],
  ['/offers?', Offer, Page(Offer)],
  ['/landing-pages?', LandingPage, Page(LandingPage)],
  ['/traffic-sources?', TrafficSource, Page(TrafficSource)],
]
const types = {
  ndjson: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8; header=present',
  parquet: 'application/vnd.apache.parquet',
}

type Row = Record<string, unknown>
/** An exported row as on a page: without its cursor, and with the properties of an event, which are JSON text in exports. */
const onPage = ({ cursor: _, ...row }: Row): Row =>
  typeof row.properties === 'string' ? { ...row, properties: JSON.parse(row.properties) } : row
/** The cells of a row in CSV; the cell of a list or of properties is any text. */
const cellsOf = ({ subIds, ...row }: Row) =>
  Object.fromEntries(
    Object.entries({ ...row, ...(subIds as object) }).map(([name, value]) => [
      name,
      value !== null && typeof value === 'object' ? expect.any(String) : `${value ?? ''}`,
    ]),
  )
const columnsOfFields = (fields: readonly string[]) =>
  fields.flatMap((name) => (name === 'subIds' ? subIdNames : [name])).map((name) => `"${name}"`)

describe.each(lists)('the rows of %s', (path, row, page) => {
  const names = Object.keys(row.properties)
  const [first] = lists.find(([, one]) => one === row) ?? []
  // Fields do not depend on filters.
  const tags = path === first ? [] : ['long']
  let pages: Promise<Row[]> | undefined
  const readRows = () => {
    pages ??= readPages<Row>(api, `${path}&limit=7`, key, page as never)
    return pages
  }
  const exported = async (format: keyof typeof types, query = '', by = key) => {
    const response = await api.get(`${path}&format=${format}${query}`, by)
    expect([response.statusCode, response.headers['content-type']]).toEqual([200, types[format]])
    return response
  }
  const columnsOf = async (file: Buffer) =>
    (await queryParquet<{ name: string }>(api.stores, file, 'DESCRIBE')).map(({ name }) => name)

  it('are the same on pages and in every format, in the same order and with the same fields', async () => {
    const expected = await readRows()
    expect(expected.length).toBeGreaterThan(1)
    const rows = ndjsonRows((await exported('ndjson')).body)
    expect(rows.map(onPage)).toEqual(expected)
    for (const one of rows) expect(Object.keys(one)).toEqual([...names, 'cursor'])
    const cells = (await csvRows((await exported('csv')).body)).map(({ cursor: _, ...row }) => row)
    expect(cells).toEqual(expected.map(cellsOf))
    const { rawPayload } = await exported('parquet')
    expect((await queryParquet<Row>(api.stores, rawPayload, 'SELECT *')).map(onPage)).toEqual(expected)
  })

  it('continue after the cursor of any row', async () => {
    const [first, ...rest] = ndjsonRows((await exported('ndjson')).body)
    const after = `&cursor=${first?.cursor}`
    expect(ndjsonRows((await exported('ndjson', after)).body)).toEqual(rest)
    const next = (await api.get(`${path}&limit=200${after}`, key)).json().data
    expect(next).toEqual(rest.map(onPage))
  })

  it.each([0, 1])(
    'have the selected fields and id, in the order of the schema, in every format: %s',
    { tags },
    async (part) => {
      const selected = names.filter((name, n) => name === 'id' || n % 2 === part)
      const fields = `&fields=${selected.filter((name) => name !== 'id').toReversed()}`
      const expected = (await readRows()).map((one) => Object.fromEntries(selected.map((name) => [name, one[name]])))
      const texts = [
        (await api.get(`${path}&limit=200${fields}`, key)).json().data,
        ndjsonRows((await exported('ndjson', fields)).body).map(onPage),
      ].map((rows) => JSON.stringify(rows))
      expect(texts).toEqual(Array(2).fill(JSON.stringify(expected)))
      const [header] = (await exported('csv', fields)).body.split('\n')
      expect(header).toBe(columnsOfFields(selected).join())
      expect(await columnsOf((await exported('parquet', fields)).rawPayload)).toEqual(selected)
    },
  )

  it('have their columns in a file without rows', { tags }, async () => {
    const columns = [...names, 'cursor']
    expect((await exported('ndjson', '', emptyKey)).body).toBe('')
    expect((await exported('csv', '', emptyKey)).body).toBe(`${columnsOfFields(columns).join()}\n`)
    expect(await columnsOf((await exported('parquet', '', emptyKey)).rawPayload)).toEqual(columns)
  })
})

it.each([
  ['/clicks', { id: 'String', clickedAt: "DateTime64(3, 'UTC')", cost: 'Nullable(Decimal(18, 6))', isBot: 'Bool' }],
  ['/offers', { id: 'Nullable(String)', payout: 'Nullable(Decimal(18, 6))', tags: 'Array(Nullable(String))' }],
  ['/offers', { createdAt: "Nullable(DateTime64(3, 'UTC'))" }],
])('Parquet of %s has typed columns: %j', async (path, expected) => {
  const { rawPayload } = await api.get(`${path}?format=parquet`, key)
  const columns = await queryParquet<{ name: string; type: string }>(api.stores, rawPayload, 'DESCRIBE')
  expect(Object.fromEntries(columns.map(({ name, type }) => [name, type]))).toMatchObject(expected)
})

describe.each(['/clicks?', '/conversions?include_test_mode=true&'])('sub ids as fields of %s', (path) => {
  it.each([
    ['sub2,os', ['sub2']],
    ['sub10,sub1,sub1', ['sub1', 'sub10']],
    ['sub2,subIds', subIdNames],
  ])('%s are keys of subIds, and columns in CSV', async (fields, expected) => {
    const all = (await api.get(`${path}limit=200`, key)).json<{ data: Record<string, Row>[] }>().data
    const rows = all.map(({ id, subIds }) => ({ id, subIds: expected.map((name) => [name, subIds?.[name]]) }))
    expect(rows.flatMap(({ subIds }) => subIds).some(([, value]) => value)).toBe(true)
    const read = async (format: string) => await api.get(`${path}format=${format}&fields=id,${fields}`, key)
    const listed = [
      (await read('json')).json().data,
      ndjsonRows((await read('ndjson')).body),
      await queryParquet<Row>(api.stores, (await read('parquet')).rawPayload, 'SELECT *'),
    ]
    const entries = listed.map((list: Row[]) =>
      list.map(({ id, subIds }) => ({ id, subIds: Object.entries(subIds as object) })),
    )
    expect(entries).toEqual([rows, rows, rows])
    const cells = await csvRows((await read('csv')).body)
    const columns = cells.map(({ id, os: _, ...subIds }) => ({ id, subIds: Object.entries(subIds) }))
    expect(columns).toEqual(
      rows.map(({ id, subIds }) => ({ id, subIds: subIds.map(([name, value]) => [name, value ?? '']) })),
    )
  })
})

it.each([
  ['clicks', '/clicks?', 'full'],
  ['conversions', '/conversions?include_test_mode=true&', 'of-click'],
])('dimensions that rows of %s lack are fields of exports, if fields names them', async (list, path, id) => {
  const names = Object.keys(exportedDimensions[list] ?? {})
  // In the currency of the other account, the first click is rejected.
  const ofDollars = await api.account(`of-${list}`)
  for (const one of ['clicks', 'conversions'] as const)
    await importContent(api.stores, `of-${list}`, one, fullRows[one])
  const read = (format: string) => api.get(`${path}format=${format}&fields=${names.toReversed()}`, ofDollars)
  const rows = ndjsonRows((await read('ndjson')).body) as Row[]
  const [click = {}] = fullRows.clicks
  const fromClick = Object.fromEntries(
    names.map((name) => [name, click[name] ?? (name === 'languageTag' ? 'de' : null)]),
  )
  expect(rows.find((row) => row.id === id)).toEqual({ id, ...fromClick })
  expect(rows.find((row) => row.id === 'bare')).toEqual({
    id: 'bare',
    ...Object.fromEntries(names.map((name) => [name, null])),
  })
  const [header, ...cells] = [(await read('csv')).body.split('\n')[0], ...(await csvRows((await read('csv')).body))]
  expect(header).toBe(['id', ...names].map((name) => `"${name}"`).join(','))
  expect(cells).toEqual(rows.map(cellsOf))
  expect(await queryParquet<Row>(api.stores, (await read('parquet')).rawPayload, 'SELECT *')).toEqual(rows)
  expect((await read('json')).json()).toMatchObject({ error: 'invalid_fields', param: 'fields' })
  expect(Object.keys(ndjsonRows((await api.get(`${path}format=ndjson`, ofDollars)).body)[0] ?? {})).not.toContain(
    'languageTag',
  )
})

it.each([
  ['/clicks?format=csv', 'clicks_acme-1.csv'],
  ['/clicks?format=ndjson&from=2026-11-01', 'clicks_from_2026-11-01_acme-1.ndjson'],
  ['/events?format=parquet&to=2026-11-01', 'events_to_2026-11-01_acme-1.parquet'],
  [
    '/conversions?format=csv&from=2026-11-01T05:00Z&to=2026-11-20T10:00:00Z&tz=America/New_York',
    'conversions_from_2026-11-01T01-00-00_to_2026-11-20T05-00-00_acme-1.csv',
  ],
  ['/clicks?format=csv&days=7&tz=America/New_York&fields=id', 'clicks_from_2026-11-15_to_2026-11-21_acme-1.csv'],
  ['/landing-pages?format=ndjson', 'landing-pages_acme-1.ndjson'],
  ['/reports?group_by=day&format=csv', 'reports_from_2026-10-23_to_2026-11-21_acme-1.csv'],
  ['/stats/daily?days=1&format=csv', 'stats-daily_from_2026-11-21_to_2026-11-21_acme-1.csv'],
])('%s is a file with the name of its resource, range and account', async (path, name) => {
  const { headers } = await api.get(path, otherKey)
  expect(headers['content-disposition']).toBe(`attachment; filename="${name}"`)
})

it.each(['/clicks?', '/offers?', '/reports?group_by=country&', '/stats/daily?days=1&'])(
  'csv_bom=true begins the CSV of %s with a byte order mark, and changes nothing else',
  async (path) => {
    const plain = await api.get(`${path}format=csv`, key)
    const marked = await api.get(`${path}csv_bom=TRUE`, key, { accept: 'text/csv' })
    expect(marked.body).toBe(`\uFEFF${plain.body}`)
    expect((await api.get(`${path}format=csv&csv_bom=false`, key)).body).toBe(plain.body)
  },
)

/** The cells of a CSV file, texts in their quotes. */
const writtenCells = (body: string, separator: string) =>
  [...body.matchAll(new RegExp(`("(?:[^"]|"")*"|[^"${separator}\n]*)([${separator}\n])`, 'g'))].map(([, cell]) => cell)

it.each([
  '/clicks?fields=id,cost,clickedAt,referrer,sub1&',
  '/conversions?',
  '/costs?',
  '/events?',
  '/campaigns?',
  '/offers?',
  '/reports?group_by=campaign,country&compare=previous_period&totals=true&from=2026-03-01&to=2026-03-31&',
  '/stats/daily?from=2026-03-01&to=2026-03-31&',
])(
  'csv_decimal=comma writes ; between the values of %s and a comma in its numbers, and changes no text',
  async (path) => {
    const plain = writtenCells((await api.get(`${path}format=csv`, key)).body, ',')
    const { body } = await api.get(`${path}format=csv&csv_bom=true&csv_decimal=comma`, key)
    const expected = plain.map((cell = '') => (cell.startsWith('"') ? cell : cell.replace('.', ',')))
    expect(writtenCells(body.slice(1), ';')).toEqual(expected)
    // The stored ones of these have whole amounts.
    const isWhole = /conversions|campaigns|offers/.test(path)
    expect([body[0], expected.some((cell) => /^\d+,\d/.test(cell))]).toEqual(['\uFEFF', !isWhole])
  },
)

it('a decimal comma does not depend on where the parts of a file end', () => {
  const file = '\uFEFF"a,b.""c";1,5;"é,.";-0,01\n'
  for (let size = 1; size < 30; size++) {
    const finish = csvFinisher({ csv_bom: true, csv_decimal: 'comma' })
    const bytes = Buffer.from('"a,b.""c",1.5,"é,.",-0.01\n')
    const parts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
      finish(bytes.subarray(n * size, (n + 1) * size)),
    )
    expect(Buffer.concat(parts).toString()).toBe(file)
  }
})

it('an error of an export is no file', async () => {
  const { headers, statusCode } = await api.get('/reports?group_by=day&format=csv&from=2020-01-01', key)
  expect([statusCode, headers['content-disposition']]).toEqual([400, undefined])
})

describe('a cursor', () => {
  it('continues pages and exports with other fields', async () => {
    const whole = await api.read('/clicks?limit=200', key, ClickPage)
    const first = await api.read('/clicks?limit=5&fields=os', key, ClickPage)
    const next = await api.read(`/clicks?limit=200&fields=country&cursor=${first.nextCursor}`, key, ClickPage)
    expect(next.data).toEqual(whole.data.slice(5).map(({ id, country }) => ({ id, country })))
  })

  it('is no field of a page in JSON', async () => {
    for (const path of ['/clicks', '/conversions', '/offers']) {
      const { error } = (await api.get(`${path}?fields=id,cursor`, key)).json()
      expect([path, error]).toEqual([path, 'invalid_fields'])
      expect((await api.get(`${path}?fields=cursor&format=csv`, key)).body).toMatch(/^"id","cursor"\n/)
    }
  })

  it.each([
    ['/clicks', 'country=us,(not%20set)&is_bot=false&tz=utc', 'country=US,(not%20set)&is_bot=False'],
    ['/clicks', 'device=!mobile&days=365&tz=europe/berlin', 'device=!MOBILE&days=365&tz=Europe/Berlin'],
    [
      '/conversions',
      'country=!Us&device=!Tablet&include_test_mode=TRUE',
      'country=!uS&device=!tablet&include_test_mode=true',
    ],
    [
      '/conversions',
      'status=approved,pending&include_test_mode=true',
      'status=pending,approved&include_test_mode=true',
    ],
    ['/events', 'days=365', 'days=365&tz=UTC'],
  ])('of %s belongs to %s in any case', async (path, first, second) => {
    const page = async (query: string) => (await api.get(`${path}?limit=1&${query}`, key)).json()
    const { data, nextCursor } = await page(first)
    const next = await page(`${second}&cursor=${nextCursor}`)
    expect([data.length, next.data?.length]).toEqual([1, 1])
    expect(next.data).not.toEqual(data)
  })
})

it.each([
  ['/clicks?format=csv&limit=5', 'invalid_limit'],
  ['/offers?format=csv&limit=5', 'invalid_limit'],
  ['/clicks?%6Cimit=5&format=csv', 'invalid_limit'],
  ['/offers?format=ndjson&csv_escape=formulas', 'invalid_csv_escape'],
  ['/stats/daily?csv_escape=formulas', 'invalid_csv_escape'],
  ['/clicks?format=parquet&csv_bom=true', 'invalid_csv_bom'],
  ['/events?format=ndjson&csv_decimal=comma', 'invalid_csv_decimal'],
  ['/reports?group_by=device&csv_bom=true', 'invalid_csv_bom'],
  ['/reports?group_by=device&totals=true', 'invalid_totals'],
  ['/offers?fields=sub1', 'invalid_fields'],
  ['/events?days=7&to=2026-11-01', 'invalid_from'],
  ['/reports?group_by=device&format=parquet', 'invalid_format'],
])('%s is rejected with %s', async (path, code) => {
  const response = await api.get(path, key)
  expect([response.statusCode, response.json().error]).toEqual([400, code])
})

const idsOf = (rows: { id?: unknown }[]) => rows.map(({ id }) => id).sort()

// The last test: it changes rows.
it('pages have the values of changed columns, as exports have', async () => {
  const changes =
    "city = concat(city, ' 🌍'), cost = 0.5, is_bot = NOT is_bot, stored_at = addMilliseconds(stored_at, -1)"
  for (const table of ['clicks', 'converted_click_rows'])
    await changeTables(api.stores, `ALTER TABLE ${table} UPDATE ${changes} WHERE 1`)
  const since = 'updated_since=1970-01-01'
  for (const query of ['', 'is_bot=true', 'converted=true', since, `campaign_id=bare&${since}`]) {
    const rows = ndjsonRows((await api.get(`/clicks?format=ndjson&${query}`, key)).body).map(onPage)
    expect([query, rows.length > 1, rows.every(({ city }) => `${city}`.endsWith('🌍'))]).toEqual([query, true, true])
    expect([query, await readPages(api, `/clicks?limit=7&${query}`, key, ClickPage)]).toEqual([query, rows])
    const newestFirst = await api.read(`/clicks?limit=200&${query.replace(since, '')}`, key, ClickPage)
    expect([query, idsOf(rows)]).toEqual([query, idsOf(newestFirst.data)])
  }
})

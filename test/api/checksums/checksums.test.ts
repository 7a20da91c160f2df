import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { beforeAll, describe, expect, it } from 'vitest'
import { ClickChecksums, ConversionChecksums, CostChecksums, EventChecksums } from '../../../schema/checksum.ts'
import type { Click } from '../../../schema/click.ts'
import type { EventRow } from '../../../schema/event.ts'
import { openResponseCache } from '../../../src/http/responseCache.ts'
import { packageRoot } from '../../../src/package.ts'
import { importContent } from '../../import/runImport.ts'
import { getFrom, useTestApp } from '../../kit/app.ts'
import { ndjsonRows } from '../../kit/readRows.ts'
import { stopMerges, storeClicks, storeEvents } from '../../kit/rows.ts'

const api = useTestApp()
let key: string

/** Times from 23:59 of one UTC day to 00:02 of the next. */
const at = (n: number) => new Date(Date.UTC(2026, 10, 19, 23, 59) + n * 6_000).toISOString()

beforeAll(async () => {
  key = await api.account('acme')
  const clicks = Array.from({ length: 30 }, (_, n) => ({
    id: `c${n}`,
    clickedAt: at(n),
    isBot: n % 5 === 0,
    isTest: n % 7 === 0,
    ...(n % 3 === 0 && { cost: Number(`0.1000${10 + n}`) }),
  }))
  const conversion = (n: number, status: string, revenue: number, updatedAt: number) => ({
    id: `v${n}`,
    convertedAt: at(n),
    status,
    revenue,
    isTest: n === 3,
    updatedAt: at(100 + updatedAt),
  })
  await importContent(api.stores, 'acme', 'clicks', clicks)
  const pending = [0, 1, 3, 12, 25].map((n) => conversion(n, 'pending', 10.01, 0))
  await importContent(api.stores, 'acme', 'conversions', pending)
  const approved = [1, 12].map((n) => conversion(n, 'approved', 20.5, 1))
  await importContent(api.stores, 'acme', 'conversions', approved)
  const cost = (n: number, amount: number, round: number) => ({
    spentAt: at(n),
    campaignId: 'k',
    cost: amount,
    updatedAt: at(100 + round),
  })
  const costs = [1, 2, 20].map((n) => cost(n, 5.25, 0))
  await importContent(api.stores, 'acme', 'costs', costs)
  await importContent(api.stores, 'acme', 'costs', [cost(2, -1.000001, 1), cost(20, 0, 1)])
  const event = (n: number) => ({ id: `e${n % 6}`, generation: Math.floor(n / 6), occurred_at: at(n).slice(0, -1) })
  const events = Array.from({ length: 18 }, (_, n) => event(n))
  await storeEvents(api.stores, 'acme', [...events, { ...event(3), origin: 'browser' }])
})

const range = 'from=2026-11-01&to=2026-11-30'
const readClicks = (query = range) => api.read(`/checksums/clicks?${query}`, key, ClickChecksums)

const exported = async <Row>(path: string): Promise<Row[]> =>
  ndjsonRows<Row>((await api.get(`${path}${path.includes('?') ? '&' : '?'}format=ndjson`, key)).body)

/** The checksums of rows, computed from their definition. */
function checksumsOf<Row extends { id: string; storedAt: string }>(
  rows: Row[],
  timeOf: (row: Row) => string,
  keyOf = ({ id }: Row) => id,
) {
  const dayOf = (row: Row) => timeOf(row).slice(0, 10)
  return [...new Set(rows.map(dayOf))].sort().map((day) => {
    const ofDay = rows.filter((row) => dayOf(row) === day)
    const hash = ofDay.reduce((xor, row) => {
      const digits = createHash('md5')
        .update(`${keyOf(row)}|${timeOf(row)}|${row.storedAt}`)
        .digest('hex')
        .slice(0, 15)
      return xor ^ BigInt(`0x${digits}`)
    }, 0n)
    return { day, rows: ofDay.length, hash: hash.toString(16).padStart(15, '0') }
  })
}

type ExportedRow = { id: string; storedAt: string } & Record<string, unknown>
const sum = (amounts: (number | null)[]) => Number(amounts.reduce<number>((all, it) => all + (it ?? 0), 0).toFixed(6))

describe('checksums', () => {
  it.each([
    ['clicks', '/clicks', ClickChecksums, 'clickedAt', 'costBase', [10, 20]],
    [
      'conversions of any status',
      '/conversions?include_test_mode=true',
      ConversionChecksums,
      'convertedAt',
      'revenueBase',
      [3, 2],
    ],
    ['costs, also of costs that were taken back', '/costs', CostChecksums, 'spentAt', 'costBase', [2, 1]],
  ] as const)('of %s are computed from the latest versions, tests and bots included', async (...given) => {
    const [, list, schema, time, amount, counts] = given
    const rows = await exported<ExportedRow>(list)
    const { data, asOf } = await api.read(
      `/checksums${list.replace(/\?.*/, '')}?${range}`,
      key,
      schema as typeof ClickChecksums,
    )
    const timeOf = (row: ExportedRow) => `${row[time]}`
    expect(data.map(({ day, rows, hash }) => ({ day, rows, hash }))).toEqual(checksumsOf(rows, timeOf))
    expect(data.map(({ rows }) => rows)).toEqual(counts)
    for (const { day, [amount as 'costBase']: total } of data)
      expect(total).toBe(
        sum(rows.filter((row) => timeOf(row).startsWith(day)).map((row) => row[amount] as number | null)),
      )
    for (const { storedAt } of rows) expect(storedAt < asOf).toBe(true)
  })

  it('of events are computed from the exported rows of both origins and all generations, without copies', async () => {
    const read = () => api.read(`/checksums/events?${range}`, key, EventChecksums)
    const eventRows = async () => {
      const rows = await exported<EventRow>('/events')
      const keyOf = ({ origin, id, generation }: EventRow) => `${origin}|${id}|${generation}`
      return checksumsOf(rows, ({ occurredAt }) => occurredAt, keyOf)
    }
    // `asOf` is a second before the present time of ClickHouse.
    await expect.poll(async () => (await read()).data.map(({ rows }) => rows), { timeout: 20_000 }).toEqual([11, 8])
    const before = (await read()).data
    expect(before).toEqual(await eventRows())
    await stopMerges(api.stores, 'pixel_events')
    await api.stores.clickhouse.client.command({
      query: "INSERT INTO pixel_events SELECT * FROM pixel_events WHERE account_id = 'acme'",
    })
    expect((await read()).data).toEqual(before)
  })

  it('do not depend on copies of rows, and exclude rows that are not before asOf', async () => {
    const before = await readClicks()
    expect(sum(before.data.map(({ costBase }) => costBase))).toBeGreaterThan(0)
    await stopMerges(api.stores, 'clicks')
    await api.stores.clickhouse.client.command({
      query: "INSERT INTO clicks SELECT * FROM clicks WHERE account_id = 'acme'",
    })
    await storeClicks(api.stores, 'acme', [
      { id: 'later', clicked_at: '2026-11-10 00:00:00.000', stored_at: '2100-01-01 00:00:00.000', cost_base: '1' },
    ])
    expect(await readClicks()).toEqual(before)
  })

  it('are never cached: a copy may have later versions of rows than a cached response counts', async () => {
    const server = await api.open({ responseCache: openResponseCache({ ttlMs: 60_000 }) })
    const keyOfCosts = await api.account('cached')
    const read = async () => (await getFrom(server, `/checksums/costs?${range}`, keyOfCosts)).json().data
    expect(await read()).toEqual([])
    await importContent(api.stores, 'cached', 'costs', [{ spentAt: at(0), cost: 1 }])
    expect(await read()).toMatchObject([{ rows: 1 }])
  })

  it('cover whole UTC days of the range only', async () => {
    expect((await readClicks('from=2026-11-20&to=2026-11-20')).data.map(({ day }) => day)).toEqual(['2026-11-20'])
    expect((await readClicks('from=2026-11-20')).data.map(({ day }) => day)).toEqual(['2026-11-20'])
    expect((await readClicks('from=2020-01-01&to=2020-12-31')).data).toEqual([])
  })

  it('are of at most 366 days', async () => {
    const response = await api.get('/checksums/conversions?from=2024-01-01&to=2025-01-01', key)
    expect([response.statusCode, response.json().error]).toEqual([400, 'invalid_date_range'])
  })
})

describe('the statements of docs/sync.md compute the same hash', () => {
  /** The SQL block below a heading. */
  async function statementOf(engine: string): Promise<string> {
    const guide = await readFile(join(packageRoot, 'docs/sync.md'), 'utf8')
    const block = guide
      .slice(guide.indexOf(`In ${engine}:`))
      .split('```sql\n')[1]
      ?.split('```')[0]
    if (!block) throw new Error(`docs/sync.md has no statement for ${engine}.`)
    return block
  }
  const expected = async () => {
    const { data, asOf } = await readClicks()
    return { asOf, days: data.map(({ day, rows, hash }) => ({ day, rows, hash })) }
  }
  const rowsOf = async () => (await exported<Click>('/clicks')).filter(({ storedAt }) => storedAt < '2100')

  it('in Postgres', async () => {
    const { asOf, days } = await expected()
    const sql = api.stores.postgres
    await sql`CREATE TABLE copied_clicks (id text PRIMARY KEY, clicked_at timestamptz NOT NULL, stored_at timestamptz NOT NULL)`
    for (const { id, clickedAt, storedAt } of await rowsOf())
      await sql`INSERT INTO copied_clicks VALUES (${id}, ${clickedAt}, ${storedAt})`
    const statement = (await statementOf('PostgreSQL')).replace('FROM clicks', 'FROM copied_clicks')
    const found = await sql.unsafe(statement.replace('$1', `'${asOf}'`))
    expect(found.map(({ day, rows, hash }) => ({ day, rows: Number(rows), hash }))).toEqual(days)
    await sql`DROP TABLE copied_clicks`
  })

  it('in DuckDB', async () => {
    const { asOf, days } = await expected()
    const database = await (await DuckDBInstance.create()).connect()
    await database.run('CREATE TABLE clicks (id TEXT, clickedAt TIMESTAMPTZ, storedAt TIMESTAMPTZ)')
    for (const { id, clickedAt, storedAt } of await rowsOf())
      await database.run(`INSERT INTO clicks VALUES ('${id}', '${clickedAt}', '${storedAt}')`)
    const found = await database.runAndReadAll((await statementOf('DuckDB')).replace('$1', `'${asOf}'`))
    expect(found.getRowObjectsJson().map((row) => ({ ...row, rows: Number(row.rows) }))).toEqual(days)
  })

  it('in ClickHouse', async () => {
    const { asOf, days } = await expected()
    const rows = (await rowsOf()).map(({ id, clickedAt, storedAt }) => ({ id, clickedAt, storedAt }))
    const content = rows.map((row) => JSON.stringify(row)).join('\n')
    const structure = "id String, clickedAt DateTime64(3, ''UTC''), storedAt DateTime64(3, ''UTC'')"
    const table = `FROM format(JSONEachRow, '${structure}', '${content}')`
    const statement = (await statementOf('ClickHouse')).replace('FROM clicks', table)
    const result = await api.stores.clickhouse.client.query({
      query: statement.replace('$1', `'${asOf}'`).replace(';', ''),
      format: 'JSONEachRow',
      clickhouse_settings: { date_time_input_format: 'best_effort', output_format_json_quote_64bit_integers: 0 },
    })
    expect(await result.json()).toEqual(days)
  })
})

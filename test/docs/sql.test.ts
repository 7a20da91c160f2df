// @module-tag all

import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import postgres, { type Sql } from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Metric } from '../../schema/metrics.ts'
import { packageRoot } from '../../src/package.ts'
import { createTributary, type ResponseOf, type Tributary } from '../../src/packages/client/client.ts'
import type { ReadableCopy } from '../../src/packages/sync/database/query.ts'
import { openReadableCopy as openDuckdbCopy } from '../../src/packages/sync/duckdb/query.ts'
import { openReadableCopy as openPostgresCopy } from '../../src/packages/sync/postgres/query.ts'
import { run } from '../../src/packages/sync/program.ts'
import { importContent } from '../import/runImport.ts'
import { useTestApp } from '../kit/app.ts'
import { makeDemoAccount } from '../kit/demo.ts'
import { useFolder, useOpened } from '../kit/fixtures.ts'
import { hasPostgres, startPostgres } from '../kit/postgresServer.ts'
import { runProgram } from '../packages/runProgram.ts'
import { untilEventsAreListed } from '../packages/sync/source.ts'
import { answersOf, type Cell, type Rows } from './sqlAnswers.ts'

// The SQL of docs/ runs on copies of a demo. Its answers equal the numbers of the API, or a count of the rows without SQL.

const textOf = (path: string) => readFileSync(join(packageRoot, 'docs', path), 'utf8')
const sqlBlocks = (page: string) => [...textOf(page).matchAll(/```sql\n(.*?)```/gs)].map(([, sql = '']) => sql)

const october = { from: '2026-10-01', to: '2026-10-31' }
/** Two campaigns have one transaction; one conversion was charged back. */
const planted = ['cmp-kite-youtube', 'cmp-kite-meta-latam', 'cmp-kite-youtube'].map((campaignId, n) => ({
  id: `planted-${n}`,
  campaignId,
  transactionId: 'order-1',
  revenue: 20 + n,
  status: n < 2 ? 'approved' : 'chargeback',
  convertedAt: '2026-10-05T10:00:00.000Z',
  updatedAt: `2026-11-0${n + 1}T10:00:00.000Z`,
}))

describe.skipIf(!hasPostgres())('on copies in PostgreSQL 15 and DuckDB', () => {
  const api = useTestApp()
  const server = useOpened(startPostgres)
  const folder = useFolder()
  const targetOf = { PostgreSQL: () => server.url('tributary'), DuckDB: () => folder('warehouse.duckdb') }
  let key: string
  let baseUrl: string
  let client: Tributary
  let copies: Record<keyof typeof targetOf, ReadableCopy>
  let owner: Sql
  /** The user of docs/tools.md, who can only read. */
  let reader: Sql
  let totals: Required<ResponseOf<'/stats/overview'>['totals']>
  let answers: Record<string, () => Cell[][] | Promise<Cell[][]>>

  beforeAll(async () => {
    key = await makeDemoAccount(api, 'harbour', { clicks: 2_500, days: 90 })
    await importContent(api.stores, 'harbour', 'conversions', planted)
    baseUrl = await api.app.listen({ port: 0, host: '127.0.0.1' })
    client = createTributary({ baseUrl, apiKey: key })
    totals = (await client.get('/stats/overview', { query: october })).totals as typeof totals
    const rows = await rowsOf(client)
    answers = { ...answersOf(rows, zonesOfCountries()), ...answersOfApi }
    await untilEventsAreListed(client, rows.events.length)

    for (const target of Object.values(targetOf)) {
      const words = [target(), '--url', baseUrl, '--json']
      const { code, stderr } = await runProgram(run, words, { TRIBUTARY_KEY: key })
      expect([code, stderr]).toEqual([0, ''])
    }
    const { signal } = new AbortController()
    copies = {
      PostgreSQL: await openPostgresCopy(targetOf.PostgreSQL(), 'tributary', signal),
      DuckDB: await openDuckdbCopy(targetOf.DuckDB(), 'tributary', signal),
    }
    owner = postgres(targetOf.PostgreSQL(), { max: 1, connection: { TimeZone: 'UTC' } })
    for (const sql of sqlBlocks('tools.md')) await owner.unsafe(sql)
    reader = postgres(targetOf.PostgreSQL().replace('postgres@', 'dashboards@'), { max: 1 })
  })
  afterAll(async () => {
    await Promise.all([...Object.values(copies ?? {}).map((copy) => copy.close()), owner?.end(), reader?.end()])
  })

  /** Executes a statement as `tributary-sync --sql` does, on a copy that stays open. */
  async function ask(database: keyof typeof targetOf, statement: string) {
    const { columns, parts } = await copies[database].query(statement, {})
    const rows = (await listOf(parts)).flat()
    return rows.map((row) => Object.fromEntries(columns.map((name, n) => [name, JSON.parse(row[n] ?? '')])))
  }

  describe.each(readdirSync(join(packageRoot, 'docs/sql')))('docs/sql/%s', (file) => {
    it.each(['PostgreSQL', 'DuckDB'] as const)('has the answer of the API in %s', async (database) => {
      const expected = await answers[basename(file, '.sql')]?.()
      const rows = await ask(database, textOf(`sql/${file}`))
      expect(rows.length).toBeGreaterThan(0)
      expect(sorted(rows.map((row) => Object.values(row).map(cellOf)))).toEqual(sorted(expected ?? []).map(near))
    })
  })

  it.each(['PostgreSQL', 'DuckDB'] as const)('report() counts events in %s as the API does', async (database) => {
    const counted = { NULL: 0, "'signup'": 0 }
    const names = 'campaign traffic_source event_name event_origin property:page day status'.split(' ') as 'campaign'[]
    for (const group_by of names)
      for (const event of ['NULL', "'signup'"] as const) {
        const suffix = event === 'NULL' ? '' : ':signup'
        const metrics = ['clicks', 'conversions', 'revenue', 'cost', `events${suffix}`, `eventVisitors${suffix}`]
        const query = { group_by, metrics: metrics.join() as 'clicks,cost', limit: 1_000, ...october }
        const { data } = await client.get('/reports', { query })
        const range = "'2026-10-01T00:00:00Z', '2026-11-01T00:00:00Z', 'conversion'"
        const rows = await ask(database, `SELECT * FROM report('${group_by}', ${range}, ${event})`)
        const columns = ['id', 'name', ...metrics.slice(0, 4), 'events', 'event_visitors']
        const found = rows.map((row) => columns.map((name) => row[name]))
        const expected = data.map((row) =>
          ['id', 'name', ...metrics].map((name) => (row as unknown as Record<string, Cell>)[name]),
        )
        expect([group_by, event, found]).toEqual([group_by, event, expected.map((row) => near(row as Cell[]))])
        counted[event] += Number(expected[0]?.[6])
      }
    expect(Object.values(counted).map((count) => count > 0)).toEqual([true, true])
  })

  it('docs/tools/python.md has SQL with the numbers of the API', async () => {
    const [, sql = ''] = /copy\.sql\("""\n(.*?)"""\)/s.exec(textOf('tools/python.md')) ?? []
    const rows = await ask('DuckDB', sql)
    expect(rows.reduce((sum, { clicks }) => sum + Number(clicks), 0)).toBe(totals.clicks)
    expect(rows.reduce((sum, { revenue }) => sum + Number(revenue), 0)).toBeCloseTo(totals.revenue, 5)
  })

  it.each(['grafana', 'metabase', 'superset', 'power-bi', 'tableau'])(
    'docs/tools/%s.md has SQL with the numbers of the API, for a user who can only read',
    async (page) => {
      for (const sql of sqlBlocks(`tools/${page}.md`)) {
        const rows = await reader.unsafe<Record<string, unknown>[]>(withValues(sql))
        const metrics = (['clicks', 'revenue'] as const).filter((metric) => metric in (rows[0] ?? {}))
        expect([sql, metrics]).not.toEqual([sql, []])
        for (const metric of metrics) {
          const sum = rows.reduce((total, row) => total + Number(row[metric]), 0)
          expect([sql, metric, sum]).toEqual([sql, metric, expect.closeTo(totals[metric], 5)])
        }
      }
      await expect(reader`DELETE FROM tributary.clicks`).rejects.toMatchObject({ code: '42501' })
    },
  )

  it('docs/dbt builds a report with the numbers of the API, which its tests accept', async () => {
    await owner`CREATE SCHEMA analytics`
    for (const name of ['staging/stg_clicks', 'staging/stg_conversions', 'staging/stg_costs', 'report'])
      await owner.unsafe(`CREATE TABLE analytics.${basename(name)} AS ${rendered(`models/${name}.sql`)}`)
    for (const file of readdirSync(join(packageRoot, 'docs/dbt/tests')))
      expect(await owner.unsafe(rendered(`tests/${file}`))).toEqual([])
    for (const { model, column, tests } of columnTests()) {
      const isWrong = tests.includes('unique') ? `count(DISTINCT ${column}) < count(*)` : `count(${column}) < count(*)`
      const [found] = await owner.unsafe(`SELECT count(*) > 0 AS found, ${isWrong} AS wrong FROM analytics.${model}`)
      expect([model, column, found]).toEqual([model, column, { found: true, wrong: false }])
    }
    const [sql = ''] = sqlBlocks('tools/dbt.md')
    const rows = await owner.unsafe<{ clicks: string; revenue: string }[]>(sql)
    expect(rows.reduce((sum, { clicks }) => sum + Number(clicks), 0)).toBe(totals.clicks)
    expect(rows.reduce((sum, { revenue }) => sum + Number(revenue), 0)).toBeCloseTo(totals.revenue, 5)
    const modelled = Object.entries(modelColumns).flatMap(([metric, column]) => (column ? [{ metric, column }] : []))
    const columns = [...new Set(modelled.map(({ column }) => column))]
    const [sums = {}] = await owner.unsafe<Record<string, number>[]>(
      `SELECT ${columns.map((column) => `sum(${column})::float8 AS ${column}`)} FROM analytics.report WHERE day BETWEEN $1 AND $2`,
      [october.from, october.to],
    )
    for (const column of columns) {
      const metrics = modelled.filter((one) => one.column === column).map(({ metric }) => totals[metric as Metric] ?? 0)
      expect([column, sums[column]]).toEqual([
        column,
        expect.closeTo(
          metrics.reduce((sum, value) => sum + value),
          5,
        ),
      ])
    }
    // The tests of the package can fail.
    await owner`UPDATE analytics.report SET revenue = revenue + 0.01 WHERE day = '2026-10-05'`
    const [test = ''] = readdirSync(join(packageRoot, 'docs/dbt/tests'))
    expect(await owner.unsafe(rendered(`tests/${test}`))).toHaveLength(1)
  })

  it.each(['excel', 'google-sheets'])(
    'the addresses in docs/tools/%s.md are CSV with Basic authorization',
    async (page) => {
      const paths = [...textOf(`tools/${page}.md`).matchAll(/https:\/\/api\.example\.com(\/api\/v1\/[^\s']+)/g)]
      expect(paths.length).toBeGreaterThan(0)
      const headers = { authorization: `Basic ${Buffer.from(`tool:${key}`).toString('base64')}` }
      for (const [, path = ''] of paths) {
        const response = await fetch(baseUrl + path, { headers })
        const [head = '', ...rows] = (await response.text()).trim().split('\n')
        expect([path, response.status, head]).toEqual([path, 200, expect.stringMatching(/\brevenue\b/)])
        if (path.includes(',day')) expect(head).toContain('"day_id"')
        expect(rows.length).toBeGreaterThan(1)
      }
    },
  )

  type Day = Required<ResponseOf<'/stats/daily'>['data'][number]>
  const daily = async (tz = 'UTC') =>
    (await client.get('/stats/daily', { query: { tz, ...october } })).data as readonly Day[]
  const campaigns = async (from: string, to: string) =>
    (await client.get('/reports', { query: { group_by: 'campaign', from, to } })).data

  const answersOfApi: Record<string, () => Promise<Cell[][]>> = {
    async rolling_7_days() {
      return (await daily()).map(({ id, clicks, revenue }, n, all) => {
        if (n < 6) return [id, clicks, revenue, null, null]
        const week = all.slice(n - 6, n + 1)
        const [clicked, earned] = [sumOf(week, 'clicks'), sumOf(week, 'revenue')]
        return [id, clicks, revenue, earned, earned / clicked]
      })
    },
    async running_total() {
      return (await daily('America/New_York')).map(({ id, revenue, cost, profit }, n, all) => {
        const past = all.slice(0, n + 1)
        const sums = [sumOf(past, 'revenue'), sumOf(past, 'cost'), sumOf(past, 'profit')]
        return [id, revenue, cost, profit, ...sums]
      })
    },
    async share_of_total() {
      const query = { group_by: 'country', sort: '-revenue', ...october } as const
      const { data } = await client.get('/reports', { query })
      return data.map(({ id, name, revenue = 0 }, n) => {
        const running = sumOf(data.slice(0, n + 1), 'revenue')
        return [id, name, revenue, (revenue * 100) / totals.revenue, (running * 100) / totals.revenue]
      })
    },
    async movers() {
      const [now, before] = [await campaigns('2026-10-12', '2026-10-18'), await campaigns('2026-10-05', '2026-10-11')]
      const names = new Map([...before, ...now].map(({ id, name }) => [id, name]))
      const profitOf = (rows: typeof now, id: string) => rows.find((row) => row.id === id)?.profit ?? 0
      return [...names].map(([id, name]) => {
        const [profit, profitBefore] = [profitOf(now, id), profitOf(before, id)]
        return [id, name, profit, profitBefore, profit - profitBefore]
      })
    },
    async events_by_property() {
      const query = {
        group_by: 'event_name,property:page',
        metrics: 'events,eventVisitors',
        limit: 1_000,
        ...october,
      } as const
      const { data } = await client.get('/reports', { query })
      return data.map(({ dimensions, events = 0, eventVisitors = 0 }) => [
        ...Object.values(dimensions).map(({ id }) => id),
        events,
        eventVisitors,
      ])
    },
    async pacing() {
      return (await daily()).slice(0, 20).map(({ id, revenue }, n, all) => {
        const [earned, plan] = [sumOf(all.slice(0, n + 1), 'revenue'), (4_000 * (n + 1)) / 31]
        return [id, revenue, earned, plan, earned - plan, (earned * 31) / (n + 1)]
      })
    },
  }
})

function sumOf<Metric extends string>(rows: readonly Partial<Record<Metric, number>>[], metric: Metric) {
  return rows.reduce((sum, row) => sum + (row[metric] ?? 0), 0)
}

async function rowsOf(client: Tributary): Promise<Rows> {
  return {
    clicks: await listOf(client.exportRows('/clicks')),
    conversions: await listOf(client.exportRows('/conversions', { query: { include_test_mode: true } })),
    costs: await listOf(client.exportRows('/costs')),
    events: await listOf(client.exportRows('/events')),
  }
}

async function listOf<Row>(rows: AsyncIterable<Row>): Promise<Row[]> {
  const list: Row[] = []
  for await (const row of rows) list.push(row)
  return list
}

/** The zones of the statement that needs them. */
function zonesOfCountries(): Map<string, string> {
  const pairs = textOf('sql/hour_of_day.sql').matchAll(/\('([A-Z]{2})', '([\w/]+)'\)/g)
  return new Map([...pairs].map(([, country = '', zone = '']) => [country, zone]))
}

/** Replaces the variables of a tool, as the tool does. */
function withValues(sql: string): string {
  const values = {
    '$__timeFrom()': `'2026-10-01T00:00:00Z'`,
    '$__timeTo()': `'2026-10-31T23:59:59.999Z'`,
    '{{from}}': `DATE '2026-10-01'`,
    '{{until}}': `DATE '2026-11-01'`,
    '{{last_day}}': `DATE '2026-10-31'`,
  }
  return Object.entries(values).reduce((text, [name, value]) => text.replaceAll(name, () => value), sql)
}

/** The column of each metric in the model `report` of docs/dbt; null: the model does not have it, or its readers compute it. */
const modelColumns: Readonly<Record<Metric, string | null>> = {
  clicks: 'clicks',
  cost: 'cost',
  conversions: 'conversions',
  revenue: 'revenue',
  declinedConversions: null,
  pendingConversions: 'open_conversions',
  holdConversions: 'open_conversions',
  pendingRevenue: 'open_revenue',
  refundedConversions: 'refunded_conversions',
  refundedRevenue: 'refunded_revenue',
  profit: null,
  roi: null,
  cr: null,
  epc: null,
  cpa: null,
  cpc: null,
  aov: null,
}

/** A file of docs/dbt with the names of tables, as dbt renders it. */
function rendered(path: string): string {
  return textOf(`dbt/${path}`)
    .replace(/{{ config\(.*?\) }}/, '')
    .replace(/{{ source\('(\w+)', '(\w+)'\) }}/g, '$1.$2')
    .replace(/{{ ref\('(\w+)'\) }}/g, 'analytics.$1')
    .replace(/{{ var\('tributary_schema'\) }}/g, 'tributary')
}

function columnTests() {
  const models = textOf('dbt/models/models.yml').split('\n  - name: ').slice(1)
  return models.flatMap((text) => {
    const columns = text.matchAll(/ {6}- name: (\w+)\n {8}data_tests: \[(.*)\]/g)
    const model = text.split('\n')[0] ?? ''
    return [...columns].map(([, column = '', tests = '']) => ({ model, column, tests: tests.split(', ') }))
  })
}

/** A value of a result; times have milliseconds, as in the API. */
function cellOf(value: unknown): unknown {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) ? new Date(value).toISOString() : value
}

/** The rows by their texts; rows without any stay in their order. */
function sorted<Row extends unknown[]>(rows: readonly Row[]): Row[] {
  const keyed = rows.map((row) => ({ row, key: row.filter((cell) => typeof cell === 'string').join('\n') }))
  return keyed.sort((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0)).map(({ row }) => row)
}

/** The same row; numbers may differ beyond the fifth decimal. */
function near(row: readonly Cell[]): unknown[] {
  return row.map((cell) => (typeof cell === 'number' ? expect.closeTo(cell, 5) : cell))
}

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createAccount } from '../../src/accounts/accounts.ts'
import { packageRoot } from '../../src/package.ts'
import { migrate } from '../../src/stores/migrations/migrate.ts'
import { acquireLease } from '../../src/stores/postgres/lease.ts'
import { runHere } from '../cli/runCommand.ts'
import { importContent } from '../import/runImport.ts'
import { giveMoments, storeClicks } from '../kit/rows.ts'
import { openTestStores, type TestStores } from '../kit/stores.ts'

// A store as version 0008 left it, with rows as the programs before it wrote them.

let stores: TestStores
const ofSums = ['0009_sums.sql', '0011_drop_rollups_of_clicks.sql']

// Going back is for one server; each node of a cluster runs the same files by itself.
describe.skipIf(process.env.TRIBUTARY_TEST_CLUSTER)('a store without sums', () => {
  beforeAll(async () => {
    stores = await openTestStores()
    stores.spoil()
    await goBack()
    await createAccount(stores.postgres, { id: 'acme', name: 'Acme', plan: 'pro', currency: 'USD' })
    await giveMoments(stores, 'acme')
    await storeClicks(stores, 'acme', [
      { id: 'c1', clicked_at: '2025-10-30 10:00:00.000', campaign_id: 'k1', country: 'US', cost_base: 0.5 },
      { id: 'c2', clicked_at: '2026-11-01 23:59:59.999', campaign_id: 'k2', country: 'DE', cost_base: 0.25 },
      { id: 'c3', clicked_at: '2026-11-01 12:00:00.000', campaign_id: 'k2', country: 'DE' },
      { id: 'bot', clicked_at: '2026-11-02 09:00:00.000', campaign_id: 'k1', is_bot: true },
    ])
    // A state was not taken back then, unless its key had changed.
    const row = { account_id: 'acme', source: 'cpa', version: 1, campaign_id: 'k1', country: 'US', revenue_base: 8 }
    for (const values of [
      [
        { ...row, id: 'v1', converted_at: '2026-11-01 11:00:00.000', status: 'pending' },
        { ...row, id: 'v2', converted_at: '2026-11-01 12:00:00.000', status: 'approved' },
        { ...row, id: 'v3', converted_at: '2026-11-01 13:00:00.000', status: 'hold', revenue_base: null },
        { ...row, id: 'v4', converted_at: '2026-11-01 13:00:00.000', status: 'declined', is_test: true },
      ],
      [
        { ...row, id: 'v1', converted_at: '2026-11-01 11:00:00.000', status: 'approved', version: 3, country: 'FR' },
        { ...row, id: 'v2', converted_at: '2026-11-01 12:00:00.000', status: '', version: 2, is_deleted: 1 },
        { ...row, id: 'v2', converted_at: '2025-12-31 23:59:59.999', status: 'refunded', version: 3 },
      ],
    ]) {
      await stores.clickhouse.client.insert({ table: 'conversions', values, format: 'JSONEachRow' })
    }
  })
  afterAll(() => stores?.close())

  it('sums what was stored before there were sums, wherever the migration dies on its way', async () => {
    let deaths = 0
    while (!(await migrateUntil(deaths))) deaths += 1
    expect(deaths).toBeGreaterThan(20)
    expect(await differences()).toEqual([])
    const answer = await stores.clickhouse.client.query({
      query: `
      SELECT value, sum(facts.clicks) AS clicks, sum(facts.conversions) AS conversions, toFloat64(sum(facts.revenue)) AS revenue,
        sum(hold_conversions) AS holds, toFloat64(sum(refunded_revenue)) AS refunded
      FROM sums_by_day AS facts WHERE dimension = 'country' GROUP BY value ORDER BY value`,
      format: 'JSONCompactEachRow',
      clickhouse_settings: { output_format_json_quote_64bit_integers: 0 },
    })
    expect(await answer.json()).toEqual([
      ['DE', 2, 0, 0, 0, 0],
      ['FR', 0, 1, 8, 0, 0],
      ['US', 1, 0, 0, 1, 8],
    ])
  })

  it('keeps them right when those rows change', async () => {
    const change = { convertedAt: '2026-11-01T11:00:00Z', updatedAt: '2026-11-05T00:00:00Z', revenue: 9 }
    await importContent(stores, 'acme', 'conversions', [
      { ...change, id: 'v1', status: 'chargeback' },
      { ...change, id: 'v2', status: 'approved' },
      { ...change, id: 'v4', status: 'approved' },
    ])
    await importContent(stores, 'acme', 'clicks', [{ id: 'c9', clickedAt: '2026-11-01T11:00:00Z', country: 'US' }])
    expect(await differences()).toEqual([])
  })

  it('waits for an import that is under way', async () => {
    await stores.clickhouse.client.command({ query: `DELETE FROM schema_migrations WHERE name = '${ofSums[1]}'` })
    const lease = await acquireLease(stores.postgres, 'writer:acme')
    const migrating = migrate(stores)
    const isAtWork = () =>
      stores.postgres`SELECT 1 FROM leases WHERE name = 'migrate' AND expires_at > clock_timestamp()`
    await expect.poll(isAtWork).toHaveLength(1)
    await lease.release()
    expect(await migrating).toEqual([`clickhouse/${ofSums[1]}`])
  })

  it('goes no step further once another process has taken it over', async () => {
    await stores.clickhouse.client.command({ query: `DELETE FROM schema_migrations WHERE name = '${ofSums[1]}'` })
    const systemNow = Date.now.bind(Date)
    let sleptMs = 0
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => systemNow() + sleptMs)
    const ran: string[] = []
    const overtaken = new Proxy(stores.clickhouse.client, {
      get(target, name) {
        const value = Reflect.get(target, name)
        if (name !== 'exec') return typeof value === 'function' ? value.bind(target) : value
        return async (order: Parameters<typeof target.exec>[0]) => {
          ran.push(order.query)
          sleptMs = 3_600_000
          await stores.postgres`UPDATE leases SET owner = 'another' WHERE name = 'migrate'`
          return await target.exec(order)
        }
      },
    })
    try {
      const clickhouse = { ...stores.clickhouse, client: overtaken }
      await expect(migrate({ ...stores, clickhouse })).rejects.toThrow('another process has gone on')
      expect(ran).toHaveLength(1)
    } finally {
      clock.mockRestore()
      await stores.postgres`DELETE FROM leases WHERE name = 'migrate'`
    }
    expect(await migrate(stores)).toEqual([`clickhouse/${ofSums[1]}`])
  })
})

/** Puts the tables back as they were before there were sums. */
async function goBack(): Promise<void> {
  const { client } = stores.clickhouse
  const run = (query: string) => client.command({ query })
  for (const table of ['sums_by_day', 'sums_by_day_and_campaign', 'sums_by_quarter_hour']) {
    for (const rows of ['clicks', 'conversions']) await run(`DROP VIEW ${rows}_to_${table}`)
    await run(`DROP TABLE ${table} SYNC`)
  }
  for (const name of ['0002_rollups.sql', '0007_quarter_hours_of_account.sql']) {
    const sql = await readFile(join(packageRoot, 'clickhouse', name), 'utf8')
    for (const statement of sql.split(/;\s*$/m)) if (statement.trim() !== '') await run(statement)
  }
  await run(`DELETE FROM schema_migrations WHERE name IN (${ofSums.map((name) => `'${name}'`)})`)
}

/** Migrates as a process does that dies before a statement. @returns whether it lived */
async function migrateUntil(statement: number): Promise<boolean> {
  class Died extends Error {}
  let ran = 0
  const client = new Proxy(stores.clickhouse.client, {
    get(target, name) {
      const value = Reflect.get(target, name)
      if (name !== 'exec') return typeof value === 'function' ? value.bind(target) : value
      return async (order: Parameters<typeof target.exec>[0]) => {
        if (ran++ === statement) throw new Died()
        return await target.exec(order)
      }
    },
  })
  try {
    await migrate({ ...stores, clickhouse: { ...stores.clickhouse, client } })
    return true
  } catch (error) {
    if (error instanceof Died) return false
    throw error
  }
}

const differences = async () => JSON.parse((await runHere(['verify', '--json'], stores.environment)).stdout).differences

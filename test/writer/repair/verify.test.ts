// @module-tag all

import { beforeAll, describe, expect, it } from 'vitest'
import { createAccount } from '../../../src/accounts/accounts.ts'
import { sumMetrics } from '../../../src/query/metricDefinitions.ts'
import { sumsTableNames } from '../../../src/writer/derived/sumsTables.ts'
import { runHere } from '../../cli/runCommand.ts'
import { useTestStores } from '../../kit/fixtures.ts'
import { advanceWatermarks, changeTables, storeClicks, storeConversions, storeCosts } from '../../kit/rows.ts'

const stores = useTestStores()
beforeAll(() => makeAccounts('acme', 'planted'))

async function makeAccounts(...ids: string[]): Promise<void> {
  for (const id of ids) {
    await createAccount(stores.postgres, { id, name: id, plan: 'pro', currency: 'USD' })
    await storeClicks(stores, id, [
      { id: 'c1', clicked_at: '2026-10-30 10:00:00.000', campaign_id: 'k1', country: 'US', cost_base: 0.5 },
      { id: 'c2', clicked_at: '2026-11-01 00:00:00.000', campaign_id: 'k1', country: 'DE', cost_base: 0.25 },
      { id: 'c3', clicked_at: '2026-11-01 23:59:59.999', campaign_id: 'k2', country: 'US' },
      { id: 'bot', clicked_at: '2026-11-02 09:00:00.000', campaign_id: 'k1', is_bot: true },
    ])
    await storeConversions(stores, id, [
      {
        id: 'v1',
        converted_at: '2026-11-01 11:00:00.000',
        click_id: 'c1',
        click_at: '2026-10-30 10:00:00.000',
        click_campaign_id: 'k1',
        click_country: 'US',
      },
      { id: 'v2', converted_at: '2026-11-01 12:00:00.000', status: 'pending' },
    ])
    await storeCosts(stores, id, [
      { id: 'x1', spent_at: '2025-03-04 00:00:00.000', campaign_id: 'k1' },
      { id: 'x2', spent_at: '2025-03-05 00:00:00.000', country: 'DE' },
    ])
    await advanceWatermarks(stores, id)
  }
}

const nothing = Object.fromEntries(sumMetrics.map(({ metric }) => [metric, 0]))

async function change(query: string): Promise<void> {
  if (!query.startsWith('INSERT')) await changeTables(stores, query)
  else await stores.clickhouse.client.command({ query })
}

async function verify(...words: string[]) {
  const { code, stdout, stderr } = await runHere(['verify', '--json', ...words], stores.environment)
  if (stdout === '') throw new Error(stderr)
  const { differences, repaired } = JSON.parse(stdout)
  const shown = differences.map(({ accountId, table, day }: Record<string, string>) =>
    [accountId, table, day].filter(Boolean).join(' '),
  )
  return { code, shown, repaired, differences }
}

/** A statement that makes something wrong, and what of it is found; each at a table and day of its own. */
const plants: Record<string, [statement: string, found: string]> = {
  'sums that counted a batch twice': [
    `INSERT INTO sums_by_day (account_id, dimension, day, value, clicks, cost)
     SELECT account_id, dimension, day, value, clicks, cost FROM sums_by_day WHERE account_id = 'planted' AND day = '2026-11-01'`,
    'sums_by_day 2026-11-01',
  ],
  'sums that missed a day': [
    `DELETE FROM sums_by_day_and_campaign WHERE account_id = 'planted' AND day = '2026-10-30'`,
    'sums_by_day_and_campaign 2026-10-30',
  ],
  'sums of clicks that do not exist': [
    `INSERT INTO sums_by_quarter_hour (account_id, bucket, campaign_id, clicks, cost)
     VALUES ('planted', '2026-12-24 00:00:00', 'k1', 7, 1.5)`,
    'sums_by_quarter_hour 2026-12-24',
  ],
  'money that differs by a millionth': [
    `INSERT INTO sums_by_day (account_id, dimension, day, value, cost)
     VALUES ('planted', 'country', '2026-10-30', 'US', 0.000001)`,
    'sums_by_day 2026-10-30',
  ],
  'conversions of a month without a click': [
    `INSERT INTO sums_by_day_and_campaign (account_id, dimension, campaign_id, day, value, conversions, revenue)
     VALUES ('planted', 'os', 'k1', '2025-02-03', 'iOS', 1, 9.5)`,
    'sums_by_day_and_campaign 2025-02-03',
  ],
  'a click that the index has lost': [
    `DELETE FROM click_index WHERE account_id = 'planted' AND id = 'c3'`,
    'click_index 2026-11-01',
  ],
  'an index entry without its click': [
    `INSERT INTO click_index VALUES ('planted', 'ghost', '2026-11-05 00:00:00.000', 'k1')`,
    'click_index 2026-11-05',
  ],
  'an index entry with another campaign than its click': [
    `INSERT INTO click_index SELECT account_id, id, clicked_at, 'k9' FROM click_index WHERE account_id = 'planted' AND id = 'c1'`,
    'click_index 2026-10-30',
  ],
  'a conversion that its index has lost': [
    `DELETE FROM conversion_index WHERE account_id = 'planted' AND id = 'v2'`,
    'conversion_index',
  ],
  'a cost that its index has lost': [`DELETE FROM cost_index WHERE account_id = 'planted' AND id = 'x1'`, 'cost_index'],
  'costs of a day that sums do not have': [
    `DELETE FROM sums_by_day_and_campaign WHERE account_id = 'planted' AND day = '2025-03-04'`,
    'sums_by_day_and_campaign 2025-03-04',
  ],
  'a cost that is counted twice': [
    `INSERT INTO sums_by_day (account_id, dimension, day, value, cost) VALUES ('planted', 'country', '2025-03-05', 'DE', 1)`,
    'sums_by_day 2025-03-05',
  ],
  'a copy of a click with another value': [
    `INSERT INTO converted_click_rows SELECT * REPLACE ('FR' AS country) FROM clicks WHERE account_id = 'planted' AND id = 'c2'`,
    'converted_click_rows',
  ],
  'a conversion that copied other values than its click has': [
    `ALTER TABLE conversions UPDATE click_country = 'DE' WHERE account_id = 'planted' AND id = 'v1'`,
    'conversions',
  ],
  'a click that counts as converted by a conversion that is elsewhere now': [
    `INSERT INTO converted_clicks (account_id, clicked_at, click_id, conversion_id, version, is_deleted, is_test)
     VALUES ('planted', '2026-11-01 00:00:00.000', 'c2', 'v1', 1, 0, false)`,
    'converted_clicks',
  ],
}

describe('verify', () => {
  /** A wrong value of each sum of each sums table, on a day of its own. */
  const keys = {
    sums_by_day: ['dimension, value', `'country', 'US'`],
    sums_by_day_and_campaign: ['dimension, campaign_id, value', `'country', 'k1', 'US'`],
    sums_by_quarter_hour: ['campaign_id', `'k1'`],
  } as const
  const monthOfSums = '2026-06'
  const wrongSums = sumsTableNames.flatMap((table) =>
    sumMetrics.map(({ metric, name }, index) => ({ table, metric, name, day: `${monthOfSums}-${10 + index}` })),
  )
  const all = Object.values(plants).map(([, difference]) => `planted ${difference}`)
  let text: Awaited<ReturnType<typeof runHere>>
  let [found, repaired, afterwards]: Awaited<ReturnType<typeof verify>>[] = []

  beforeAll(async () => {
    for (const [plant] of Object.values(plants)) await change(plant)
    const names = sumMetrics.map(({ name }) => name)
    for (const table of sumsTableNames) {
      const [columns, values] = keys[table]
      const at = table === 'sums_by_quarter_hour' ? 'bucket' : 'day'
      const rows = wrongSums
        .filter((one) => one.table === table)
        .map(({ name, day }) => `('planted', '${day}', ${values}, ${names.map((one) => (one === name ? -1 : 0))})`)
      await change(`INSERT INTO ${table} (account_id, ${at}, ${columns}, ${names}) VALUES ${rows}`)
    }
    await change(
      `INSERT INTO sums_by_quarter_hour (account_id, bucket, campaign_id, clicks, cost)
       VALUES ('acme', '2026-11-01 00:00:00', 'k1', 2, 1.5)`,
    )
    await change(
      `INSERT INTO sums_by_day (account_id, dimension, day, value, clicks)
       VALUES ('acme', 'country', '2026-11-01', 'US', 1), ('acme', 'country', '2026-11-01', 'DE', -1)`,
    )
    found = await verify()
    text = await runHere(['verify', '--account', 'acme'], stores.environment)
    repaired = await verify('--repair')
    await stores.postgres`
      UPDATE watermarks SET stored_at = '2090-01-01' WHERE account_id = 'acme' AND resource = 'conversions'`
    afterwards = await verify('--repair')
  })

  it('reports nothing after a repair but a watermark in the far future, which a repair does not lower', () => {
    expect([found, repaired]).toMatchObject([
      { code: 1, repaired: false },
      { code: 0, repaired: true },
    ])
    const watermark = { kind: 'watermark_in_future', accountId: 'acme', table: 'conversions' }
    expect(afterwards).toMatchObject({ code: 1, differences: [watermark] })
  })

  it('reports stored and correct sums by account, also those that cancel each other out over the day', () => {
    const acme = found?.differences.filter(({ accountId }: { accountId: string }) => accountId === 'acme')
    expect(acme).toContainEqual({
      kind: 'derived',
      accountId: 'acme',
      table: 'sums_by_quarter_hour',
      day: '2026-11-01',
      keys: 1,
      sums: { stored: { ...nothing, clicks: 3, cost: 1.75 }, actual: { ...nothing, clicks: 1, cost: 0.25 } },
    })
    expect(text).toEqual({
      code: 1,
      stderr: expect.stringContaining('--repair'),
      stdout: [
        'acme sums_by_day 2026-11-01: 2 sums differ; the sums of the whole day are correct',
        'acme sums_by_quarter_hour 2026-11-01: 1 sum differs; clicks 3 stored, 1 in the rows; cost 1.75 stored, 0.25 in the rows',
        '1 account compared: 2 differences.\n',
      ].join('\n'),
    })
  })

  it('finds a difference in each sum of each sums table', () => {
    expect(found?.differences.filter(({ day }: { day: string | null }) => day?.startsWith(monthOfSums))).toEqual(
      wrongSums.map(({ table, day, metric }) => ({
        kind: 'derived',
        accountId: 'planted',
        table,
        day,
        keys: 1,
        sums: { stored: { ...nothing, [metric]: -1 }, actual: nothing },
      })),
    )
  })

  it.each(Object.entries(plants))('finds %s', (_kind, [, difference]) => {
    expect(found?.shown.filter((line: string) => line === `planted ${difference}`)).toHaveLength(1)
  })

  it('finds nothing else, and repairs the same', () => {
    const others = (line: string) => line.startsWith('planted') && !line.includes(` ${monthOfSums}-`)
    expect(found?.shown.filter(others).toSorted()).toEqual(all.toSorted())
    expect(repaired?.shown).toEqual(found?.shown)
  })

  it('fails with the id of an account that does not exist', async () => {
    const { code, stderr } = await runHere(['verify', '--account', 'missing'], stores.environment)
    expect([code, stderr]).toEqual([1, expect.stringContaining('missing')])
  })
})

// @module-tag all

import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { createAccount } from '../../../src/accounts/accounts.ts'
import { readWatermark } from '../../../src/query/watermark.ts'
import type { Stores } from '../../../src/stores/open.ts'
import { sumsTableNames } from '../../../src/writer/derived/sumsTables.ts'
import { openWriter } from '../../../src/writer/openWriter.ts'
import { findDifferences, repairDifferences } from '../../../src/writer/repair/differences.ts'
import { recoverAccounts } from '../../../src/writer/serverRecovery.ts'
import { runHere } from '../../cli/runCommand.ts'
import { importContent, rowsOf } from '../../import/runImport.ts'
import { useTestStores } from '../../kit/fixtures.ts'
import { interceptClickHouse } from '../../kit/interceptedClickHouse.ts'
import { advanceWatermarks, changeTables, startMerges, stopMerges } from '../../kit/rows.ts'
import { ImportKilled } from '../killedImport.ts'
import { running } from '../withWriter.ts'

const stores = useTestStores()
let account: string
let accounts = 0

// A merge keeps one of the copies with the same key.
beforeAll(() => stopMerges(stores, 'clicks'))
afterAll(() => startMerges(stores, 'clicks'))
beforeEach(async () => {
  accounts += 1
  account = `account${accounts}`
  await createAccount(stores.postgres, { id: account, name: account, plan: 'pro', currency: 'USD' })
  await importContent(stores, account, 'clicks', [
    { id: 'c1', clickedAt: '2026-10-30T10:00:00Z', campaignId: 'k1', country: 'US', cost: 0.5 },
    { id: 'c2', clickedAt: '2026-11-01T00:00:00Z', campaignId: 'k1', country: 'DE', cost: 0.25 },
    { id: 'c3', clickedAt: '2026-11-02T00:00:00Z', campaignId: 'k2', country: 'DE' },
  ])
  await importContent(stores, account, 'conversions', [
    { ...approved, id: 'v1', convertedAt: '2026-11-03T00:00:00Z', clickId: 'c1' },
    { ...approved, id: 'v2', convertedAt: '2026-11-04T00:00:00Z', clickId: 'later' },
  ])
  await importContent(stores, account, 'costs', [{ id: 'x1', spentAt: '2026-11-04T00:00:00Z', cost: 3 }])
  await advanceWatermarks(stores, account)
})

const approved = { status: 'approved', updatedAt: '2026-11-05T00:00:00Z', revenue: 2.5 }

const change = (statement: string) => changeTables(stores, statement.replaceAll('$account', account))

/** A copy of a click, stored a minute after it, with some columns replaced. */
async function copyClick(id: string, replaced: string): Promise<void> {
  const insert = `INSERT INTO clicks SELECT * REPLACE (stored_at + INTERVAL 1 MINUTE AS stored_at, ${replaced})
    FROM clicks WHERE account_id = '${account}' AND id = '${id}'`
  await stores.clickhouse.client.command({ query: insert })
}

/** A copy of a row at another moment, as a writer makes it that does not know of the first. */
async function copyRow(table: 'conversions' | 'costs', id: string, replaced: string): Promise<void> {
  const insert = `INSERT INTO ${table} SELECT * REPLACE (version + 1 AS version, ${replaced})
    FROM ${table} FINAL WHERE account_id = '${account}' AND id = '${id}'`
  await stores.clickhouse.client.command({ query: insert })
}

async function verify(...words: string[]) {
  const { code, stdout, stderr } = await runHere(['verify', '--account', account, ...words], stores.environment)
  return { code, lines: stdout.trimEnd().split('\n'), stderr }
}

let isKilled = false

/** The same stores for a repair that is killed at the first statement of a label, once `isKilled` is set. */
function killedAt(label: string): Stores {
  isKilled = false
  return interceptClickHouse(stores as Stores, (sent) => {
    if (isKilled && sent.label === label) throw new ImportKilled()
  })
}

async function expectSilent(): Promise<void> {
  expect(await verify()).toMatchObject({
    code: 0,
    lines: ['1 account compared: every sum and index agrees with the rows.'],
  })
}

/** Repairs; the command compares again afterwards, and exits with 0 if no difference is left. @returns what it found */
async function repair(): Promise<string[]> {
  const { code, lines } = await verify('--repair')
  expect([code, lines.at(-1)]).toEqual([0, expect.stringMatching(/, repaired\.$/)])
  return lines.slice(0, -1)
}

const stored = (columns: string, table: string) =>
  rowsOf(stores, `SELECT ${columns} FROM ${table} WHERE account_id = '${account}' ORDER BY ALL`)
const clicksByDay = () =>
  rowsOf(
    stores,
    `SELECT day, toInt64(sum(clicks)) AS n FROM sums_by_day WHERE account_id = '${account}' AND dimension = 'country'
     GROUP BY day HAVING n != 0 ORDER BY day`,
  )

const oncePerDay = [
  { day: '2026-10-30', n: 1 },
  { day: '2026-11-01', n: 1 },
  { day: '2026-11-02', n: 1 },
]

it('a repair that is interrupted is completed by a running server', { tags: 'long' }, async () => {
  await copyClick('c1', `toDateTime64('2026-11-20 00:00:00', 3, 'UTC') AS clicked_at, 'k9' AS campaign_id`)
  await changeTables(stores, `OPTIMIZE TABLE click_index FINAL`)
  await importContent(stores, account, 'conversions', [
    { ...approved, id: 'v3', convertedAt: '2026-11-03T00:00:00Z', clickId: 'c1' },
  ])
  const writer = await openWriter(killedAt('repair.sums_by_day'), account, running)
  const differences = await findDifferences(writer)
  isKilled = true
  await expect(repairDifferences(writer, differences)).rejects.toThrow(ImportKilled)
  await writer.close()
  const log = { info: () => {}, warn: (line: string) => expect(line).toBe('') }
  await recoverAccounts(stores, log, new AbortController().signal)
  expect(await clicksByDay()).toEqual(oncePerDay)
  await expectSilent()
})

it('rows that are stored twice, not attributed or later than every batch are reported and repaired', async () => {
  const { client } = stores.clickhouse
  await importContent(stores, account, 'conversions', [{ ...approved, id: 'v3', convertedAt: '2026-11-03T00:00:00Z' }])
  const clicks = await stored('id, clicked_at, campaign_id, country', 'clicks')
  await copyClick('c2', 'cost_base AS cost_base')
  await copyClick('c2', `'k9' AS campaign_id`)
  await copyClick('c2', `toDateTime64('2026-11-20 00:00:00', 3, 'UTC') AS clicked_at`)
  await copyClick('c3', `toDateTime64('2026-09-20 00:00:00', 3, 'UTC') AS clicked_at`)
  await copyClick('c1', `toDateTime64('2026-11-20 00:00:00', 3, 'UTC') AS clicked_at`)
  // The index has the later copies only.
  await changeTables(stores, 'OPTIMIZE TABLE click_index FINAL')
  const ofCopy = { ...approved, id: 'v4', convertedAt: '2026-11-06T00:00:00Z', clickId: 'c1' }
  await importContent(stores, account, 'conversions', [ofCopy])
  const moved = `toDateTime64('2026-12-24 00:00:00', 3, 'UTC') AS converted_at`
  await copyRow('conversions', 'v1', moved)
  await copyRow('costs', 'x1', `toDateTime64('2026-12-24 00:00:00', 3, 'UTC') AS spent_at`)
  await copyRow('conversions', 'v3', `${moved}, updated_at + INTERVAL 1 DAY AS updated_at`)
  await client.command({
    query: `INSERT INTO clicks (account_id, id, clicked_at) VALUES ('${account}', 'later', '2026-09-02 10:11:00')`,
  })
  await client.command({
    query: `INSERT INTO clicks (account_id, id, clicked_at, stored_at)
      VALUES ('${account}', 'ahead', '2026-08-02 10:11:00', now64(3) + INTERVAL 1 DAY)`,
  })
  const asOf = () => readWatermark({ stores, signal: new AbortController().signal }, account, 'clicks')
  const statement = `SELECT toUnixTimestamp64Milli(stored_at) AS storedAtMs
      FROM clicks WHERE account_id = '${account}' AND id = 'ahead'`
  const [{ storedAtMs = 0 } = {}] = await rowsOf<{ storedAtMs: number }>(stores, statement)
  expect(await asOf()).toBeLessThan(storedAtMs)
  const found = await verify()
  expect([found.code, found.lines]).toEqual([
    1,
    expect.arrayContaining(
      [
        'clicks 2026-09: 1 id stored more than once; --repair keeps the copy stored first',
        'clicks 2026-11: 2 ids stored more than once; --repair keeps the copy stored first',
        ...['2026-11', '2026-12'].map(
          (month) =>
            `conversions ${month}: 1 id stored more than once; --repair keeps the copy updated last; of equals, the one stored first`,
        ),
        'costs 2026-12: 1 id stored more than once; --repair keeps the copy updated last; of equals, the one stored first',
        'conversions: 3 conversions are not attributed to the stored click, or copied other values',
        'clicks 2026-08: 1 row is stored later than the last batch; reads by updated_since do not return them',
      ].map((line) => `${account} ${line}`),
    ),
  ])
  expect(await repair()).toEqual(found.lines.slice(0, -1))
  expect((await stored('id, clicked_at, campaign_id, country', 'clicks')).slice(1, -1)).toEqual(clicks)
  expect((await clicksByDay()).slice(2)).toEqual(oncePerDay)
  expect(await stored('id, spent_at', 'costs FINAL')).toEqual([{ id: 'x1', spent_at: '2026-11-04 00:00:00.000' }])
  expect(await stored('id, converted_at', 'conversions FINAL')).toEqual([
    { id: 'v1', converted_at: '2026-11-03 00:00:00.000' },
    { id: 'v2', converted_at: '2026-11-04 00:00:00.000' },
    { id: 'v3', converted_at: '2026-12-24 00:00:00.000' },
    { id: 'v4', converted_at: '2026-11-06 00:00:00.000' },
  ])
  expect(await stored('click_id, clicked_at', 'converted_clicks FINAL')).toEqual([
    ...[1, 2].map(() => ({ click_id: 'c1', clicked_at: '2026-10-30 10:00:00.000' })),
    { click_id: 'later', clicked_at: '2026-09-02 10:11:00.000' },
  ])
  expect(await asOf()).toBeGreaterThan(storedAtMs)
  // Merges bring no difference to light that was repaired only for the moment.
  const tables = [
    'clicks',
    'click_index',
    'conversions',
    'conversion_index',
    'converted_clicks',
    'costs',
    'cost_index',
    ...sumsTableNames,
  ]
  await startMerges(stores, 'clicks')
  for (const table of tables) await changeTables(stores, `OPTIMIZE TABLE ${table} FINAL`)
  await stopMerges(stores, 'clicks')
  await expectSilent()
})

it('rows that are lost are reported by month, are not repaired, and are accepted only with the option', async () => {
  await change(`DELETE FROM clicks WHERE account_id = '$account' AND id = 'c2'`)
  await change(`DELETE FROM conversions WHERE account_id = '$account' AND id = 'v2'`)
  await change(`DELETE FROM costs WHERE account_id = '$account' AND id = 'x1'`)
  const lines = [
    `${account} clicks 2026-11: 1 row missing; 2 confirmed, 1 stored`,
    `${account} conversions 2026-11: 1 row missing; 2 confirmed, 1 stored`,
    `${account} costs 2026-11: 1 row missing; 1 confirmed, 0 stored`,
  ]
  const { stdout } = await runHere(['verify', '--account', account, '--json'], stores.environment)
  expect(JSON.parse(stdout).differences).toContainEqual({
    kind: 'missing_rows',
    accountId: account,
    table: 'clicks',
    month: '2026-11-01',
    confirmed: 2,
    stored: 1,
  })
  const repaired = await verify('--repair')
  expect(repaired).toMatchObject({ code: 1, stderr: expect.stringContaining('--accept-missing') })
  expect(await verify('--accept-missing')).toMatchObject({ code: 0, lines: expect.arrayContaining(lines) })
  await expectSilent()
})

it('rows that are lost stay in sums and index while no click of the month is left, until they are accepted', {
  tags: 'long',
}, async () => {
  await change(`DELETE FROM clicks WHERE account_id = '$account' AND id = 'c1'`)
  const c1 = [{ id: 'c1', clickedAt: '2026-10-30T10:00:00Z', campaignId: 'k1', country: 'US', cost: 0.5 }]
  expect(await verify('--repair')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('month without any click'),
  })
  expect(await clicksByDay()).toEqual(oncePerDay)
  expect((await importContent(stores, account, 'clicks', c1)).inserted).toBe(0)
  expect((await verify('--accept-missing', '--repair')).code).toBe(0)
  expect(await clicksByDay()).not.toEqual(oncePerDay)
  expect((await importContent(stores, account, 'clicks', c1)).inserted).toBe(1)
  expect(await clicksByDay()).toEqual(oncePerDay)
  await expectSilent()
})

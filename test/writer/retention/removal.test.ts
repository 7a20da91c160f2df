// @module-tag long

import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { namedTables } from '../../../schema/metadata.ts'
import { setPlanLimits } from '../../../src/accounts/plans.ts'
import { type RetentionSetting, setRetention } from '../../../src/accounts/retention.ts'
import { removeOldMonths, removeOldMonthsOfAll } from '../../../src/cli/retentionJob.ts'
import { WriteRefused } from '../../../src/writer/fence/session.ts'
import { type Difference, findDifferences, repairDifferences } from '../../../src/writer/repair/differences.ts'
import { storeRemovedSums } from '../../../src/writer/retention/removedSums.ts'
import { runHere } from '../../cli/runCommand.ts'
import { importContent, makeAccount, rowsOf } from '../../import/runImport.ts'
import { useTestStores } from '../../kit/fixtures.ts'
import { interceptClickHouse } from '../../kit/interceptedClickHouse.ts'
import { changeTables, rowsOfEveryNode, storeEvents } from '../../kit/rows.ts'
import { running, withWriter } from '../withWriter.ts'
import { contentOf, removalMs, rows, storedRowsOf, storeRetained } from './retainedAccount.ts'

const stores = useTestStores()
let other: string
let others: string

beforeAll(async () => {
  other = await makeAccount(stores)
  await storeRetained(stores, other)
  others = await storedRowsOf(stores, other)
})
afterAll(async () => expect(await storedRowsOf(stores, other)).toBe(others))

/** An account with rows of January to March 2025; by default `remove` removes clicks of January. */
async function makeRetained(setting: RetentionSetting = { clickMonths: 2, eventMonths: 0 }): Promise<string> {
  const account = await makeAccount(stores)
  await storeRetained(stores, account)
  await setRetention(stores.postgres, account, setting)
  return account
}

const remove = (account: string) => withWriter(stores, account, (writer) => removeOldMonths(writer, removalMs, 0))
const verify = (account: string) => withWriter(stores, account, findDifferences)
const repair = (account: string, found: readonly Difference[]) =>
  withWriter(stores, account, (writer) => repairDifferences(writer, found))
const kindsOf = (found: readonly Difference[]) =>
  [...new Set(found.map(({ kind, table }) => `${kind} ${table}`))].sort()
/** Tables and their rows, without times of storage. */
const tablesOf = async (account: string) => JSON.parse(await contentOf(stores, account))
/** Without copies of clicks: a repair deletes copies of missing clicks, and reads do not need a copy. */
const withoutCopies = (tables: { table: string }[]) => tables.filter(({ table }) => table !== 'converted_click_rows')
/** Without ids of costs: a repair deletes ids of removed costs if Postgres does not know of their removal. */
const withoutCostIds = (tables: { table: string }[]) => tables.filter(({ table }) => table !== 'cost_index')
const derivedOf = async (account: string) =>
  (await tablesOf(account)).filter(({ table }: { table: string }) => /^(sums_|click_index)/.test(table))

/** Stores clicks and costs of January that the other account has. Views add them to the sums again. @param which condition on the rows */
async function insertRows(account: string, which: string): Promise<void> {
  const tables = { clicks: 'clicked_at', converted_click_rows: 'clicked_at', costs: 'spent_at' }
  for (const [table, at] of Object.entries(tables)) {
    await stores.clickhouse.client.command({
      query: `INSERT INTO ${table} SELECT * REPLACE ('${account}' AS account_id)
        FROM (SELECT * FROM ${table} WHERE account_id = '${other}' AND ${at} < '2025-02-01' AND ${which})`,
    })
  }
}

const changedTables = ['sums_by_day', 'sums_by_day_and_campaign', 'sums_by_quarter_hour']

it('rows of a removed month that are stored again, beside changed sums, give their sums and index back before they are removed, if they are all rows of the month', async () => {
  const account = await makeRetained({ clickMonths: 2, eventMonths: 1 })
  await remove(account)
  const before = await tablesOf(account)
  await insertRows(account, 'true')
  await storeEvents(stores, account, [{ id: 'restored', occurred_at: '2025-01-05 00:00:00.000' }])
  await changeTables(stores, `ALTER TABLE click_index DELETE WHERE account_id = '${account}' AND id = 'c2'`)
  const found = await verify(account)
  expect(kindsOf(found)).toEqual([
    ...['clicks', 'converted_click_rows', 'costs', 'pixel_events'].map((table) => `not_removed ${table}`),
    'removed_month click_index',
    ...changedTables.map((table) => `removed_month ${table}`),
  ])
  expect(await repair(account, found)).toEqual([])
  expect(await tablesOf(account)).toEqual(before)
  expect(await verify(account)).toEqual([])
})

it('rows of a removed month that are stored again, beside changed sums, are removed, and sums stay as they are, if other rows of the month are missing', async () => {
  const account = await makeRetained()
  await remove(account)
  await insertRows(account, `id != 'c2'`)
  const changed = await derivedOf(account)
  const found = await verify(account)
  const remaining = changedTables.map((table) => `removed_month ${table}`)
  expect(kindsOf(await repair(account, found))).toEqual(remaining)
  expect(await derivedOf(account)).toEqual(changed)
  expect(kindsOf(await verify(account))).toEqual(remaining)
})

it('a month in which only some clicks are missing is not removed until they are imported again', async () => {
  const account = await makeRetained()
  const before = await tablesOf(account)
  await changeTables(stores, `ALTER TABLE clicks DELETE WHERE account_id = '${account}' AND id IN ('c1', 'bot')`)
  const missing = { kind: 'missing_rows', table: 'clicks', month: '2025-01-01', confirmed: 4, stored: 2 }
  const found = await verify(account)
  expect(found).toContainEqual({ accountId: account, ...missing })
  await expect(remove(account)).rejects.toThrow(WriteRefused)
  expect(await repair(account, found)).toEqual([{ accountId: account, ...missing }])
  await expect(remove(account)).rejects.toThrow('confirmed clicks of 2025-01 are missing, and nothing was removed')
  expect(await importContent(stores, account, 'clicks', rows.clicks)).toMatchObject({ inserted: 2, duplicates: 4 })
  expect(withoutCopies(await tablesOf(account))).toEqual(withoutCopies(before))
  expect(kindsOf(await verify(account))).toEqual(['missing_rows clicks'])
  const accepted = await runHere(['verify', '--account', account, '--accept-missing'], stores.environment)
  expect(accepted.code).toBe(0)
  expect(await remove(account)).toMatchObject({ removed: { clicks: 4 } })
  expect(await verify(account)).toEqual([])
})

describe('if Postgres is restored from a backup made before a removal and an import,', () => {
  const late = [
    { ...rows.clicks[4], id: 'late', clickedAt: '2025-02-20T10:00:00.000Z' },
    { ...rows.clicks[4], id: 'later', clickedAt: '2025-03-20T10:00:00.000Z' },
  ]
  let account: string
  let before: { table: string }[]
  let numbers: unknown[]

  beforeAll(async () => {
    account = await makeRetained()
    const restore = await backUpPostgres(account)
    await importContent(stores, account, 'clicks', late)
    await remove(account)
    before = withoutCostIds(await tablesOf(account))
    numbers = await derivedOf(account)
    await restore()
  })

  it('removed clicks are reported as missing, sums and index keep them, and nothing more is removed', async () => {
    const found = await verify(account)
    expect(kindsOf(found)).toEqual(expect.arrayContaining(['ahead_of_watermark clicks', 'missing_rows clicks']))
    const missing = { kind: 'missing_rows', table: 'clicks', month: '2025-01-01', confirmed: 4, stored: 0 }
    expect(await repair(account, found)).toContainEqual({ accountId: account, ...missing })
    expect(await derivedOf(account)).toEqual(numbers)
    await expect(remove(account)).rejects.toThrow('restore ClickHouse to that time too')
    expect(withoutCostIds(await tablesOf(account))).toEqual(before)
  })

  it('the same files add no row, and a new click of the removed month adds to its sums', async () => {
    const duplicates = rows.clicks.length + late.length
    expect(await importContent(stores, account, 'clicks', [...rows.clicks, ...late])).toMatchObject({
      inserted: 0,
      duplicates,
    })
    expect(await importContent(stores, account, 'conversions', rows.conversions)).toMatchObject({ inserted: 0 })
    expect(withoutCostIds(await tablesOf(account))).toEqual(before)
    const clicksOf = async () => {
      const derived: { table: string; rows: Record<string, string>[] }[] = await derivedOf(account)
      const sums = derived.find(({ table }) => table === 'sums_by_quarter_hour')?.rows ?? []
      return sums.reduce((total, row) => total + Number(row['sum(clicks)']), 0)
    }
    const clicks = await clicksOf()
    await importContent(stores, account, 'clicks', [{ ...rows.clicks[0], id: 'new' }])
    expect(await clicksOf()).toBe(clicks + 1)
    await expect(remove(account)).rejects.toThrow('restore ClickHouse to that time too')
  })
})

/** @returns a function that sets the rows of the account in Postgres, except metadata and keys, to what they were */
async function backUpPostgres(account: string): Promise<() => Promise<void>> {
  const { postgres } = stores
  const tables = await postgres<{ name: string }[]>`
    SELECT relname AS name FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid
    WHERE contype = 'f' AND confrelid = 'accounts'::regclass AND relname NOT IN ${postgres([...namedTables, 'api_keys'])}`
  const saved = await Promise.all(
    tables.map(async ({ name }) => {
      const [row] = await postgres<{ rows: string }[]>`
        SELECT coalesce(jsonb_agg(stored), '[]')::text AS rows FROM ${postgres(name)} AS stored
        WHERE account_id = ${account}`
      return { name, rows: row?.rows ?? '[]' }
    }),
  )
  return async () => {
    for (const { name, rows: stored } of saved) {
      await postgres`DELETE FROM ${postgres(name)} WHERE account_id = ${account}`
      await postgres`
        INSERT INTO ${postgres(name)}
        SELECT (jsonb_populate_recordset(NULL::${postgres(name)}, ${stored}::text::jsonb)).*`
    }
  }
}

it('servers remove months by the plan of the account or its own setting, one server at a time', async () => {
  const [all, ofPlan] = [{ clickMonths: 0, eventMonths: 0 }, { clickMonths: null }]
  const whole = await makeRetained({ clickMonths: 2, eventMonths: 1 })
  await remove(whole)
  const [byPlan, busy, own] = [await makeRetained(ofPlan), await makeRetained(ofPlan), await makeRetained(all)]
  await setRetention(stores.postgres, other, all)
  await setPlanLimits(stores.postgres, 'scale', { retainedClickMonths: 2, retainedEventMonths: 1 })
  const untouched = await storedRowsOf(stores, own)
  const ofBusy = await storedRowsOf(stores, busy)
  const lines: string[] = []
  const log = { info: (line: string) => lines.push(line), warn: (line: string) => lines.push(line) }
  const check = () => removeOldMonthsOfAll(stores, log, removalMs, running.signal, 0)
  await withWriter(stores, busy, async () => void (await Promise.all([check(), check()])))
  const ofThese = lines.filter((line) => [byPlan, busy, own].some((id) => line.includes(id)))
  expect(ofThese).toEqual([`Account ${byPlan}: removed old months; clicks removed: 4, events removed: 2.`])
  expect(await tablesOf(byPlan)).toEqual(await tablesOf(whole))
  expect(await storedRowsOf(stores, own)).toBe(untouched)
  expect(await storedRowsOf(stores, busy)).toBe(ofBusy)
  await check()
  expect(await tablesOf(busy)).toEqual(await tablesOf(whole))
})

it('servers remove nothing as of a clock that is ahead of the latest stored row', async () => {
  const account = await makeAccount(stores)
  await setRetention(stores.postgres, account, { clickMonths: 0, eventMonths: 2 })
  const event = (id: string, at: string) => storeEvents(stores, account, [{ id, occurred_at: at, stored_at: at }])
  await event('first', '2025-01-05 00:00:00.000')
  await event('second', '2025-02-05 00:00:00.000')
  const lines: string[] = []
  const log = { info: (line: string) => lines.push(line), warn: (line: string) => lines.push(line) }
  const check = () => removeOldMonthsOfAll(stores, log, removalMs, running.signal, 0)
  await check()
  await event('third', '2025-04-05 00:00:00.000')
  await check()
  expect(lines.filter((line) => line.includes(account))).toEqual(
    [0, 1].map((events) => `Account ${account}: removed old months; clicks removed: 0, events removed: ${events}.`),
  )
})

it('the ids of removed clicks of an imported account are stored in blocks of limited size, also by a second attempt', async () => {
  const account = await makeAccount(stores)
  const count = 300_000
  function* lines() {
    for (let first = 0; first < count; first += 10_000) {
      const ids = Array.from({ length: 10_000 }, (_, n) => `k${first + n}`)
      yield ids.map((id) => `{"id":"${id}","clicked_at":"2024-01-05 10:00:00.000","campaign_id":"c"}\n`).join('')
    }
  }
  const open = (table: string) => Readable.from(table === 'click_index' ? lines() : [], { objectMode: false })
  let attempts = 0
  const late = interceptClickHouse(stores, ({ text, order }) => {
    const isFirst = text.includes('INSERT INTO click_index') && attempts++ === 0
    // It has read the file when its deadline has passed.
    if (isFirst) order.query = text.replace('now64(3)', 'toDateTime64(4e9, 3)')
  })
  await withWriter(late, account, (writer) =>
    storeRemovedSums(writer, { clicksMs: Date.UTC(2024, 1, 1), eventsMs: 0 }, open),
  )
  const ofAccount = `SELECT toUInt32(count()) AS rows FROM click_index WHERE account_id = '${account}'`
  expect([attempts, ...(await rowsOf(stores, ofAccount))]).toEqual([2, { rows: count }])
  // Merged parts remain for eight minutes.
  const query = `SELECT rows FROM system.parts WHERE database = currentDatabase() AND table = 'click_index' AND level = 0`
  const blocks = await rowsOfEveryNode<{ rows: number }>(stores, query)
  expect(Math.max(...blocks.map(({ rows }) => rows))).toBeLessThanOrEqual(262_144)
})

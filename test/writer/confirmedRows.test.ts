// @module-tag postgres

import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { findMissingRows } from '../../src/writer/journal/confirmedRows.ts'
import { withWriter } from '../../src/writer/openWriter.ts'
import { importContent, makeAccount } from '../import/runImport.ts'
import { changeTables } from '../kit/rows.ts'
import { openTestStores, type TestStores } from '../kit/stores.ts'
import { ImportKilled, killedStores, shortWindow } from './killedImport.ts'

let stores: TestStores
let account: string

beforeAll(async () => {
  stores = await openTestStores()
})
afterAll(() => stores.close())
beforeEach(async () => {
  account = await makeAccount(stores)
})

const click = (id: string, month: string) => ({ id, clickedAt: `2026-${month}-11T10:00:00Z` })
const conversion = (id: string, month: string, updatedAt: string) => ({
  ...{
    id,
    convertedAt: `2026-${month}-12T00:00:00Z`,
    updatedAt: `2026-01-0${updatedAt}T00:00:00Z`,
    status: 'approved',
  },
})

/** Counts that Postgres keeps, as `clicks 2026-01: 3`. */
async function counts(): Promise<string[]> {
  const rows = await stores.postgres<{ line: string }[]>`
    SELECT resource || ' ' || to_char(month, 'YYYY-MM') || ': ' || rows AS line
    FROM stored_rows
    WHERE account_id = ${account} AND rows <> 0
    ORDER BY line`
  return rows.map(({ line }) => line)
}

const running = { onMessage: () => {}, signal: new AbortController().signal }
const missing = () => withWriter(stores, account, running, findMissingRows)

const deleteClick = (id: string) =>
  changeTables(stores, `DELETE FROM clicks WHERE account_id = '${account}' AND id = '${id}'`)

it('each stored click is counted once, in its UTC month', async () => {
  const first = [click('a', '01'), click('b', '01'), click('a', '01'), click('c', '02')]
  await importContent(stores, account, 'clicks', first)
  await importContent(stores, account, 'clicks', [click('b', '01'), click('d', '02')])
  expect(await counts()).toEqual(['clicks 2026-01: 2', 'clicks 2026-02: 2'])
  expect(await missing()).toEqual([])
})

it('a conversion that changes is counted once, in the month of its latest version', async () => {
  await importContent(stores, account, 'conversions', [conversion('v', '01', '1'), conversion('w', '01', '1')])
  await importContent(stores, account, 'conversions', [conversion('v', '01', '2')])
  expect(await counts()).toEqual(['conversions 2026-01: 2'])
  await importContent(stores, account, 'conversions', [conversion('v', '03', '3')])
  expect(await counts()).toEqual(['conversions 2026-01: 1', 'conversions 2026-03: 1'])
  expect(await missing()).toEqual([])
})

it.each([
  [['clicks', 'click_index'] as const, []],
  [['sums_by_day'] as const, ['clicks 2026-01: 1']],
])(
  'after an import that was killed before its batch reached %j, the counts match the stored rows',
  async (tables, expected) => {
    const killed = killedStores(stores, account, tables)
    await expect(importContent(killed, account, 'clicks', [click('a', '01')], shortWindow)).rejects.toThrow(
      ImportKilled,
    )
    expect(await counts()).toEqual([])
    await importContent(stores, account, 'offers', [])
    expect(await counts()).toEqual(expected)
    expect(await missing()).toEqual([])
  },
)

it('recovery after a killed import does not hide rows that were lost before it', async () => {
  await importContent(stores, account, 'clicks', [click('a', '01'), click('b', '01'), click('c', '01')])
  await deleteClick('a')
  await deleteClick('b')
  const killed = killedStores(stores, account, ['clicks'])
  await expect(importContent(killed, account, 'clicks', [click('d', '01')], shortWindow)).rejects.toThrow(ImportKilled)
  expect(await missing()).toEqual([{ table: 'clicks', month: '2026-01-01', confirmed: 3, stored: 1 }])
})

it('verify counts rows that no import counted', async () => {
  await importContent(stores, account, 'clicks', [click('a', '01'), click('b', '01')])
  await stores.postgres`DELETE FROM stored_rows WHERE account_id = ${account}`
  expect(await missing()).toEqual([])
  expect(await counts()).toEqual(['clicks 2026-01: 2'])
  await deleteClick('a')
  expect(await missing()).toEqual([{ table: 'clicks', month: '2026-01-01', confirmed: 2, stored: 1 }])
})

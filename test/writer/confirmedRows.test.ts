// @module-tag postgres

import { beforeEach, expect, it } from 'vitest'
import { LeaseLost } from '../../src/stores/postgres/lease.ts'
import { Writer } from '../../src/writer/fence/session.ts'
import { raiseCountsAndFindMissing } from '../../src/writer/journal/confirmedRows.ts'
import { clearBatches, recordBatches, settleBatches } from '../../src/writer/journal/journal.ts'
import { importContent, makeAccount } from '../import/runImport.ts'
import { useTestStores } from '../kit/fixtures.ts'
import { changeTables } from '../kit/rows.ts'
import { ImportKilled, killedStores, shortWindow } from './killedImport.ts'
import { withWriter } from './withWriter.ts'

const stores = useTestStores()
let account: string
beforeEach(async () => {
  account = await makeAccount(stores)
})

// The counts after every kind of import: test/properties/reports.

const click = (id: string) => ({ id, clickedAt: '2026-01-11T10:00:00Z' })
const missing = () => withWriter(stores, account, raiseCountsAndFindMissing)

const deleteClick = (id: string) =>
  changeTables(stores, `DELETE FROM clicks WHERE account_id = '${account}' AND id = '${id}'`)

it('recovery after a killed import does not hide rows that were lost before it', async () => {
  await importContent(stores, account, 'clicks', [click('a'), click('b'), click('c')])
  await deleteClick('a')
  await deleteClick('b')
  const killed = killedStores(stores, account, ['clicks'])
  await expect(importContent(killed, account, 'clicks', [click('d')], shortWindow)).rejects.toThrow(ImportKilled)
  expect(await missing()).toEqual([{ table: 'clicks', month: '2026-01-01', confirmed: 3, stored: 1 }])
})

it('verify counts rows that no import counted', async () => {
  await importContent(stores, account, 'clicks', [click('a'), click('b')])
  await stores.postgres`DELETE FROM stored_rows WHERE account_id = ${account}`
  expect(await missing()).toEqual([])
  await deleteClick('a')
  expect(await missing()).toEqual([{ table: 'clicks', month: '2026-01-01', confirmed: 2, stored: 1 }])
})

it('a writer whose lease has passed to another one clears and counts no batch', async () => {
  await withWriter(stores, account, async (writer) => {
    const added = [{ month: '2026-01-01', rows: 5 }]
    const entry = { token: account, accountId: account, resource: 'clicks', firstMs: 0, lastMs: 0, added } as const
    await recordBatches(writer, [entry])
    const { name, lost } = writer.lease
    const lease = { name, lost, fencingToken: 0n, assertHeld: async () => {} } as typeof writer.lease
    const paused = new Writer({ ...writer, lease })
    await expect(clearBatches(paused, [entry])).rejects.toThrow(LeaseLost)
    await expect(settleBatches(paused, [entry], [])).rejects.toThrow(LeaseLost)
    expect(await stores.postgres`SELECT rows FROM stored_rows WHERE account_id = ${account}`).toEqual([])
    await clearBatches(writer, [entry])
    expect(await stores.postgres`SELECT rows FROM stored_rows WHERE account_id = ${account}`).toEqual([{ rows: '5' }])
  })
})

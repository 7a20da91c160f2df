// @module-tag postgres

import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import type { RowTable } from '../../src/query/attributes.ts'
import { readFreshness } from '../../src/stores/postgres/freshness.ts'
import { LeaseLost } from '../../src/stores/postgres/lease.ts'
import { beginRewrite, endRewrite } from '../../src/writer/erasure/rewriteTimes.ts'
import { Writer } from '../../src/writer/fence/session.ts'
import { raiseCountsAndFindMissing } from '../../src/writer/journal/confirmedRows.ts'
import { clearBatches, extentOf, recordBatches, settleBatches } from '../../src/writer/journal/journal.ts'
import { findRowsAheadOfWatermark, raiseWatermarks } from '../../src/writer/repair/aheadOfWatermark.ts'
import { importContent, makeAccount } from '../import/runImport.ts'
import { useTestStores } from '../kit/fixtures.ts'
import { changeTables } from '../kit/rows.ts'
import { clickTables, ImportKilled, killedStores, shortWindow } from './killedImport.ts'
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

/** The writer after its lease has passed to another one. */
function withoutLease(writer: Writer): Writer {
  const { name, lost } = writer.lease
  const lease = { name, lost, fencingToken: 0n, assertHeld: async () => {} } as typeof writer.lease
  return new Writer({ ...writer, lease })
}

it('a writer whose lease has passed to another one clears and counts no batch', async () => {
  await withWriter(stores, account, async (writer) => {
    const added = [{ month: '2026-01-01', rows: 5 }]
    const entry = { token: account, accountId: account, resource: 'clicks', firstMs: 0, lastMs: 0, added } as const
    await recordBatches(writer, [entry])
    const paused = withoutLease(writer)
    await expect(clearBatches(paused, [entry])).rejects.toThrow(LeaseLost)
    await expect(settleBatches(paused, [entry], [])).rejects.toThrow(LeaseLost)
    expect(await stores.postgres`SELECT rows FROM stored_rows WHERE account_id = ${account}`).toEqual([])
    await clearBatches(writer, [entry])
    expect(await stores.postgres`SELECT rows FROM stored_rows WHERE account_id = ${account}`).toEqual([{ rows: '5' }])
  })
})

const minuteMs = 60_000
const atMs = Date.UTC(2026, 0, 11, 10)
const isoOf = (ms: number) => new Date(ms).toISOString()

const watermarkOf = async (resource: RowTable): Promise<number> => {
  const [row] = await stores.postgres<{ storedAt: Date }[]>`
    SELECT stored_at AS "storedAt" FROM watermarks WHERE account_id = ${account} AND resource = ${resource}`
  return row?.storedAt.getTime() ?? 0
}

it('when the last row was stored is raised by new rows, and not by an erasure, attribution, or an insert that stored nothing', async () => {
  await importContent(stores, account, 'clicks', [click('a')])
  const conversion = { id: 'v', convertedAt: isoOf(atMs), status: 'approved', clickId: 'late' }
  await importContent(stores, account, 'conversions', [conversion])
  const before = await readFreshness(stores.postgres, account)
  expect(before.clicks?.storedMs).toBe(await watermarkOf('clicks'))
  await withWriter(stores, account, async (writer) => {
    await beginRewrite(writer)
    await endRewrite(writer)
  })
  const killed = killedStores(stores, account, [...clickTables])
  await expect(importContent(killed, account, 'clicks', [click('b')], shortWindow)).rejects.toThrow(ImportKilled)
  await withWriter(stores, account, async () => {})
  expect(await readFreshness(stores.postgres, account)).toEqual(before)
  expect(await watermarkOf('clicks')).toBeGreaterThan(before.clicks?.storedMs ?? Number.NaN)
  await importContent(stores, account, 'clicks', [click('late')])
  const after = await readFreshness(stores.postgres, account)
  expect(after.conversions).toEqual(before.conversions)
  expect(after.clicks?.storedMs).toBe(await watermarkOf('clicks'))
  expect(await watermarkOf('conversions')).toBeGreaterThan(before.conversions?.storedMs ?? Number.NaN)
})

describe('up to when there are rows', () => {
  const throughMs = async (resource: RowTable) => (await readFreshness(stores.postgres, account))[resource]?.throughMs

  it('rises with a repaired batch that moves a row within its month', async () => {
    const cost = (minutes: number) => [{ id: 'x', spentAt: isoOf(atMs + minutes * minuteMs), cost: minutes }]
    await importContent(stores, account, 'costs', cost(0))
    const killed = killedStores(stores, account, [])
    const later = { ...shortWindow, nowMs: Date.UTC(2026, 10, 22) }
    await expect(importContent(killed, account, 'costs', cost(5), later)).rejects.toThrow(ImportKilled)
    await withWriter(stores, account, async () => {})
    expect(await throughMs('costs')).toBe(atMs + 5 * minuteMs)
  })

  it('has the times of a clock that is ahead once they have passed', async () => {
    await withWriter(stores, account, async (writer) => {
      const store = async (times: number[], nowMs: number) => {
        const extent = extentOf(times, [], times, nowMs)
        const entry = { token: randomUUID(), accountId: account, resource: 'clicks' as const, ...extent }
        await recordBatches(writer, [entry])
        await clearBatches(writer, [entry])
      }
      const future = Date.UTC(2105, 0, 1)
      await store([atMs + 5 * minuteMs, future], atMs)
      expect(await throughMs('clicks')).toBeNull()
      // All rows are ahead again, and the first ones are not any more.
      await store([atMs + 10 * minuteMs], atMs + 6 * minuteMs)
      expect(await throughMs('clicks')).toBe(atMs + 5 * minuteMs)
      await store([atMs], atMs + 11 * minuteMs)
      expect(await throughMs('clicks')).toBe(atMs + 10 * minuteMs)
      await store([future], atMs + 12 * minuteMs)
      await store([atMs + 11 * minuteMs], atMs + 12 * minuteMs)
      expect(await throughMs('clicks')).toBe(atMs + 11 * minuteMs)
    })
  })

  const aheadMs = async (): Promise<number | undefined> => {
    const [row] = await stores.postgres<{ aheadAt: Date | null }[]>`
      SELECT ahead_at AS "aheadAt" FROM watermarks WHERE account_id = ${account} AND resource = 'clicks'`
    return row?.aheadAt?.getTime()
  }

  it('keeps the earliest time that is in the future when an import is killed', async () => {
    const ahead = { id: 'ahead', clickedAt: '2105-01-01T00:00:00.000Z' }
    const killed = killedStores(stores, account, [])
    const importing = importContent(killed, account, 'clicks', [click('a'), ahead], shortWindow)
    await expect(importing).rejects.toThrow(ImportKilled)
    await withWriter(stores, account, async () => {})
    expect([await throughMs('clicks'), await aheadMs()]).toEqual([atMs, Date.parse(ahead.clickedAt)])
  })

  it('is unknown for a migrated account without rows, and with rows of a clock that is ahead only', async () => {
    await stores.postgres`
      INSERT INTO watermarks (account_id, resource, stored_at)
      SELECT ${account}, unnest(ARRAY['clicks', 'conversions']), now()`
    await stores.clickhouse.client.command({
      query: `INSERT INTO clicks (account_id, id, clicked_at, stored_at)
        VALUES ('${account}', 'ahead', '2105-01-01 00:00:00', now64(3) + INTERVAL 1 HOUR)`,
    })
    await withWriter(stores, account, async (writer) => {
      expect(
        await stores.postgres`SELECT FROM watermarks WHERE account_id = ${account} AND data_through IS NULL`,
      ).toEqual([])
      expect(await aheadMs()).toBe(Date.UTC(2105, 0, 1))
      await stores.postgres`UPDATE watermarks SET ahead_at = NULL WHERE account_id = ${account}`
      await raiseWatermarks(writer, await findRowsAheadOfWatermark(writer))
      expect([await throughMs('clicks'), await aheadMs()]).toEqual([null, Date.UTC(2105, 0, 1)])
    })
  })

  it('and when the last one was stored are raised by verify with the watermark', async () => {
    await importContent(stores, account, 'clicks', [click('a')])
    await stores.clickhouse.client.command({
      query: `INSERT INTO clicks (account_id, id, clicked_at, stored_at)
        VALUES ('${account}', 'ahead', '2026-02-02 10:00:00', now64(3) + INTERVAL 1 HOUR)`,
    })
    await withWriter(stores, account, async (writer) => {
      const found = await findRowsAheadOfWatermark(writer)
      const before = await readFreshness(stores.postgres, account)
      await expect(raiseWatermarks(withoutLease(writer), found)).rejects.toThrow(LeaseLost)
      expect(await readFreshness(stores.postgres, account)).toEqual(before)
      await raiseWatermarks(writer, found)
      const [{ latestMs = 0 } = {}] = found
      expect(await readFreshness(stores.postgres, account)).toEqual({
        clicks: { throughMs: Date.UTC(2026, 1, 2, 10), storedMs: latestMs },
      })
    })
  })
})

// @module-tag long

import { afterAll, beforeAll, expect, it } from 'vitest'
import { setPlanLimits } from '../../../src/accounts/plans.ts'
import { setRetention } from '../../../src/accounts/retention.ts'
import { removeOldMonths, removeOldMonthsOfAll } from '../../../src/cli/retentionJob.ts'
import { Writer } from '../../../src/writer/lease/writer.ts'
import { openWriter } from '../../../src/writer/openWriter.ts'
import { completeRemoval } from '../../../src/writer/retention/completeRemoval.ts'
import { recoverAccounts } from '../../../src/writer/serverRecovery.ts'
import { makeAccount } from '../../import/runImport.ts'
import { storeEvents } from '../../kit/rows.ts'
import { openTestStores, type TestStores } from '../../kit/stores.ts'
import { Killed, killedStores } from './killedStores.ts'
import { contentOf, importRetained, removalMs, running, storedRowsOf, withWriter } from './retainedAccount.ts'

let stores: TestStores
let whole: string
let other: string
let others: string

beforeAll(async () => {
  stores = await openTestStores()
  other = await makeAccount(stores)
  await importRetained(stores, other)
  others = await storedRowsOf(stores, other)
  whole = await makeRetained()
  await withWriter(stores, whole, (writer) => removeOldMonths(writer, removalMs, 0))
})
afterAll(() => stores?.close())

async function makeRetained(): Promise<string> {
  const account = await makeAccount(stores)
  await importRetained(stores, account)
  await setRetention(stores.postgres, account, { clickMonths: 2, eventMonths: 1 })
  return account
}

/** A removal as of a process that is killed before one of its statements. @returns whether it ended before */
async function removeUntilKilled(account: string, statements: number): Promise<boolean> {
  const killed = killedStores(stores)
  const idle = await openWriter(stores, account, { ...running, first: 'settle' })
  const writer = new Writer({ ...idle, stores: killed.stores })
  try {
    killed.allow(statements)
    await removeOldMonths(writer, removalMs, 0)
    await completeRemoval(writer, 0)
    return true
  } catch (error) {
    if (error instanceof Killed) return false
    throw error
  } finally {
    await writer.close()
  }
}

async function isRecorded(account: string): Promise<boolean> {
  const rows = await stores.postgres`SELECT 1 FROM retained_ranges WHERE account_id = ${account}`
  return rows.length > 0
}

it('a removal that was interrupted before any of its statements is completed by the next one, to the same rows', async () => {
  const expected = await contentOf(stores, whole)
  const account = await makeRetained()
  const untouched = await contentOf(stores, account)
  let isWhole = false
  const states = new Set<string>()
  for (let statements = 0; !isWhole; statements++) {
    expect(statements).toBeLessThan(100)
    const before = await isRecorded(account)
    isWhole = await removeUntilKilled(account, statements)
    states.add(await contentOf(stores, account))
    // From the record on, each statement of the removal again.
    if (!before && (await isRecorded(account))) statements = 0
  }
  // It passed through states in between.
  expect(states.size).toBeGreaterThan(2)
  expect([...states][0]).toBe(untouched)
  expect(await contentOf(stores, account)).toBe(expected)
  expect(await storedRowsOf(stores, other)).toBe(others)
})

it('a running server completes it', async () => {
  const account = await makeRetained()
  for (let statements = 0; !(await isRecorded(account)); statements++) await removeUntilKilled(account, statements)
  await stores.postgres`UPDATE retained_ranges SET recorded_at = recorded_at - interval '1 minute'`
  const lines: string[] = []
  await recoverAccounts(stores, { info: (line) => lines.push(line), warn: (line) => lines.push(line) }, running.signal)
  expect(lines).toEqual([`Account ${account}: completed an interrupted removal of months; rows removed: 6.`])
  expect(JSON.parse(await contentOf(stores, account))).toEqual(JSON.parse(await contentOf(stores, whole)))
})

it('servers remove months by the plan of the account or its own setting, one server at a time', async () => {
  const byPlan = await makeAccount(stores)
  await importRetained(stores, byPlan)
  const own = await makeAccount(stores)
  await importRetained(stores, own)
  await setRetention(stores.postgres, own, { clickMonths: 0, eventMonths: 0 })
  const busy = await makeAccount(stores)
  await importRetained(stores, busy)
  await setRetention(stores.postgres, other, { clickMonths: 0, eventMonths: 0 })
  await setPlanLimits(stores.postgres, 'scale', { retainedClickMonths: 2, retainedEventMonths: 1 })
  const untouched = await storedRowsOf(stores, own)
  const ofBusy = await storedRowsOf(stores, busy)
  const lines: string[] = []
  const log = { info: (line: string) => lines.push(line), warn: (line: string) => lines.push(line) }
  const check = () => removeOldMonthsOfAll(stores, log, removalMs, running.signal, 0)
  await withWriter(stores, busy, async () => void (await Promise.all([check(), check()])))
  expect(lines).toEqual([`Account ${byPlan}: removed old months; clicks removed: 4, events removed: 2.`])
  expect(JSON.parse(await contentOf(stores, byPlan))).toEqual(JSON.parse(await contentOf(stores, whole)))
  expect(await storedRowsOf(stores, own)).toBe(untouched)
  expect(await storedRowsOf(stores, busy)).toBe(ofBusy)
  await check()
  expect(JSON.parse(await contentOf(stores, busy))).toEqual(JSON.parse(await contentOf(stores, whole)))
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
  expect(lines).toEqual(
    [0, 1].map((events) => `Account ${account}: removed old months; clicks removed: 0, events removed: ${events}.`),
  )
})

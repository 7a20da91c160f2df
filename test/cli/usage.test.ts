// @module-tag all

import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { createAccount } from '../../src/accounts/accounts.ts'
import { startOfUtcMonth } from '../../src/stores/timing/utcMonth.ts'
import { testNowMs } from '../kit/app.ts'
import { useTestStores } from '../kit/fixtures.ts'
import { storeClicks, storeEvents } from '../kit/rows.ts'
import { expectOneLine, runHere, runJson } from './runCommand.ts'

const stores = useTestStores()

// The command runs in this process.
beforeAll(() => vi.useFakeTimers({ toFake: ['Date'], now: testNowMs }))
afterAll(() => vi.useRealTimers())

/** A time in the UTC month that is `ago` months before the present one, as ClickHouse reads it. */
const timeIn = (ago: number) => new Date(startOfUtcMonth(testNowMs, -ago)).toISOString().replace(/[TZ]/g, ' ').trim()
const monthOf = (ago: number) => timeIn(ago).slice(0, 7)

it('usage prints clicks and events of each month, newest first; events of removed months are not known', async () => {
  for (const id of ['acme', 'other']) {
    await createAccount(stores.postgres, { id, name: id, plan: 'pro', currency: 'USD' })
    await storeClicks(stores, id, [
      { id: 'now', clicked_at: timeIn(0) },
      { id: 'before', clicked_at: timeIn(2) },
      { id: 'bot', clicked_at: timeIn(2), is_bot: true },
      { id: 'also before', clicked_at: timeIn(2) },
    ])
    await storeEvents(stores, id, [
      { id: 'now', occurred_at: timeIn(0) },
      { id: 'before', occurred_at: timeIn(1) },
    ])
  }
  await stores.postgres`
    INSERT INTO retained_ranges (account_id, resource, retained_from)
    VALUES ('acme', 'events', ${timeIn(1).slice(0, 10)})`
  const printed = await runJson(['usage', '--account', 'acme', '--months', '3'], stores.environment)
  expect(printed).toEqual({
    account: 'acme',
    plan: 'pro',
    clickAllowance: 1_000_000,
    eventCeiling: 20_000_000,
    months: [
      { month: monthOf(0), clicks: 1, events: 1 },
      { month: monthOf(1), clicks: 0, events: 1 },
      { month: monthOf(2), clicks: 2, events: null },
    ],
  })
  const text = await runHere(['usage', '--account', 'acme'], stores.environment)
  expect(text.stdout).toMatch(
    /^Plan pro: 1000000 clicks and at most 20000000 events per month\.\nmonth +clicks {2}events\n/,
  )
  expect(text.stdout.match(/^\d{4}-\d\d /gm)).toHaveLength(12)
  expectOneLine(await runHere(['usage', '--account', 'missing'], stores.environment), 1, /no such account: missing/)
})

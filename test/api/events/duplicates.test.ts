import { beforeAll, describe, expect, it } from 'vitest'
import { setPlanLimits } from '../../../src/accounts/plans.ts'
import { findAcceptances } from '../../../src/events/duplicates.ts'
import { clickCampaignsSql } from '../../../src/events/sql.ts'
import type { App } from '../../../src/http/context.ts'
import { selectRows } from '../../../src/stores/clickhouse/select.ts'
import { rowsOf } from '../../import/runImport.ts'
import { testNowMs, useTestApp } from '../../kit/app.ts'
import { changeTables, storeClicks, storeEvents } from '../../kit/rows.ts'
import { interceptInserts } from './interceptedInserts.ts'
import {
  acceptAll,
  accepted,
  deduplicated,
  newAccount as openAccount,
  openTestIntake,
  post,
  send,
  storedEvents,
  storeEarlier,
} from './send.ts'

const api = useTestApp()
/** A second instance on the same stores, with a clock of its own. */
let twin: App
let twinNowMs = testNowMs

const hourMs = 3_600_000
const dayMs = 24 * hourMs

beforeAll(async () => {
  const limits = { eventsPerMinute: 1_000_000, identifierEventsPerMinute: 1_000_000 }
  await setPlanLimits(api.stores.postgres, 'scale', limits)
  twin = await api.open({ now: () => twinNowMs })
})

/** An account of the test's own, with one click; the clocks are set back. */
function newAccount() {
  setClocks(testNowMs)
  return openAccount(api)
}

function setClocks(epochMs: number): void {
  api.setNow(epochMs)
  twinNowMs = epochMs
}

const event = (event_id?: string, rest: object = {}) => ({ click_id: 'click', event_name: 'paid', event_id, ...rest })

describe('an event_id within 24 hours', () => {
  it('is stored once, and later requests are duplicates with a note if their values differ', async () => {
    const { id, key } = await newAccount()
    expect(await send(api.app, key, event('e1', { value: 1 }))).toEqual(accepted)
    const later = [
      [event('e1', { value: 1 }), undefined],
      [event('e1', { value: 2 }), 'value'],
      [event('e1', { value: 1, currency: 'EUR' }), 'currency'],
      [{ visitor_id: 'v', campaign_id: 'camp', event_name: 'other', event_id: 'e1' }, 'event_name'],
    ] as const
    for (const [body, field] of later) {
      const response = await post(api.app, key, body)
      expect([response.statusCode, response.json()]).toEqual(deduplicated)
      expect(response.headers['x-event-notes']).toBe(field && 'duplicate_differs')
      const events = [event('e2'), event('e2', { value: 3 }), body]
      const batch = await post(api.app, key, { events }, { path: '/events/batch' })
      expect(batch.json().results).toMatchObject([
        {},
        { notes: [{ field: 'value' }] },
        field ? { notes: [{ field }] } : {},
      ])
    }
    expect(await storedEvents(api.stores, id)).toMatchObject([
      { id: 'e1', value: 1, event_name: 'paid', generation: 0 },
      { id: 'e2', value: null, event_name: 'paid', generation: 0 },
    ])
  })

  it('expires exactly 24 hours after the first acceptance, in every instance, and starts a new generation', async () => {
    const { id, key } = await newAccount()
    expect(await send(api.app, key, event('e1'))).toEqual(accepted)
    await storeEarlier(api.stores, id, dayMs)
    // A duplicate does not restart the window.
    setClocks(testNowMs + 23 * hourMs)
    expect(await send(api.app, key, event('e1'))).toEqual(deduplicated)
    setClocks(testNowMs + dayMs)
    expect(await send(api.app, key, event('e1'))).toEqual(deduplicated)
    expect(await send(twin, key, event('e1'))).toEqual(deduplicated)
    setClocks(testNowMs + dayMs + 1)
    expect(await send(twin, key, event('e1'))).toEqual(accepted)
    expect(await send(api.app, key, event('e1'))).toEqual(deduplicated)
    expect(await storedEvents(api.stores, id)).toMatchObject([
      { generation: 0, receivedAtMs: testNowMs },
      { generation: 1, receivedAtMs: testNowMs + dayMs + 1 },
    ])
    await storeEarlier(api.stores, id, dayMs)
    setClocks(testNowMs + 4 * dayMs)
    expect(await send(api.app, key, event('e1'))).toEqual(accepted)
    expect(await storedEvents(api.stores, id)).toMatchObject([{}, {}, { generation: 2 }])
  })

  it.each([-2, 2])('is stored once by an instance and another one whose clock is %i days off', async (days) => {
    const { id, key } = await newAccount()
    expect(await send(api.app, key, event('e1'))).toEqual(accepted)
    twinNowMs = testNowMs + days * dayMs
    expect(await send(twin, key, event('e1'))).toEqual(deduplicated)
    expect(await send(twin, key, event('e2'))).toEqual(accepted)
    expect(await send(api.app, key, event('e2'))).toEqual(deduplicated)
    expect(await storedEvents(api.stores, id)).toHaveLength(2)
  })

  it('is unique per account among server events: a browser event with the same id is another event', async () => {
    const [one, other] = [await newAccount(), await newAccount()]
    const browser = { id: 'e1', origin: 'browser', occurred_at: '2026-11-21 15:00:00.000' }
    await storeEvents(api.stores, one.id, [browser])
    expect(await send(api.app, one.key, event('e1'))).toEqual(accepted)
    expect(await send(api.app, other.key, event('e1'))).toEqual(accepted)
    expect((await storedEvents(api.stores, one.id)).map(({ origin }) => origin)).toEqual(['browser', 'server'])
  })
})

describe('concurrent requests', () => {
  it('a thousand with one id: one response is not a duplicate, one row is stored', async () => {
    const { id, key } = await newAccount()
    const responses = await Promise.all(Array.from({ length: 1_000 }, () => send(api.app, key, event('e1'))))
    expect(responses.filter(([, body]) => !body.deduplicated)).toEqual([accepted])
    expect(responses.filter(([, body]) => body.deduplicated)).toEqual(Array(999).fill(deduplicated))
    expect(await storedEvents(api.stores, id)).toHaveLength(1)
  })

  it('two instances that both store an event leave the row accepted first', async () => {
    const { id, key } = await newAccount()
    const inserts = interceptInserts(api.stores.clickhouse)
    let release = () => {}
    inserts.handlers.push(
      () =>
        new Promise((resolve) => {
          release = resolve
        }),
    )
    const stores = { ...api.stores, clickhouse: inserts.clickhouse }
    const held = await api.open({ stores, now: () => testNowMs - 5 })
    const earlier = send(held, key, event('e1'))
    await expect.poll(() => inserts.sent).toHaveLength(1)
    expect(await send(api.app, key, event('e1'))).toEqual(accepted)
    release()
    expect(await earlier).toEqual(accepted)
    const rows = await storedEvents(api.stores, id)
    expect(rows).toMatchObject([{ id: 'e1', generation: 0, receivedAtMs: testNowMs - 5 }])
    await changeTables(api.stores, 'OPTIMIZE TABLE pixel_events FINAL')
    expect(await storedEvents(api.stores, id)).toEqual(rows)
    const query = `SELECT count() AS rows FROM pixel_events WHERE account_id = '${id}'`
    expect(await rowsOf(api.stores, query)).toEqual([{ rows: 1 }])
  })

  it('of as many events as a flush may have, with the longest ids: all are found by one look-up', async () => {
    const { id: accountId } = await newAccount()
    const { client } = api.stores.clickhouse
    const { signal } = new AbortController()
    const wanted = Array.from({ length: 8_001 }, (_, n) => ({ accountId, id: `${n}-`.padEnd(128, 'ab') }))
    const stored = wanted.slice(1)
    const events = stored.map(({ id }) => ({ id, occurred_at: '2026-11-20 10:00:00.000' }))
    await storeEvents(api.stores, accountId, events)
    const labels: string[] = []
    const onQuery = (label: string) => labels.push(label)
    const lastOf = await findAcceptances({ client, cluster: undefined, onQuery }, wanted, signal)
    expect(wanted.filter((event) => lastOf(event))).toHaveLength(8_000)
    expect(lastOf({ accountId, id: wanted[0]?.id ?? '' })).toBeUndefined()
    expect(labels).toEqual(['events.duplicates'])
  })

  it('of two thousand accounts: each id is found in its own account only', async () => {
    const { client } = api.stores.clickhouse
    const target = { reader: client, onQuery: undefined }
    const { signal } = new AbortController()
    const wanted = Array.from({ length: 4_000 }, (_, n) => ({ accountId: `many-${n % 2_000}`, id: `id-${n}` }))
    const stored = [0, 1_999, 3_999].map((n) => wanted[n] as (typeof wanted)[number])
    const at = { occurred_at: '2026-11-20 10:00:00.000' }
    for (const { accountId, id } of stored) {
      await storeEvents(api.stores, accountId, [{ id, ...at }])
      await storeEvents(api.stores, 'many-5', [{ id, ...at }])
      const clicked = { clicked_at: at.occurred_at, campaign_id: `of-${accountId}` }
      await storeClicks(api.stores, accountId, [{ id, ...clicked }])
      await storeClicks(api.stores, 'many-5', [{ id, ...clicked }])
    }
    const lastOf = await findAcceptances(api.stores.clickhouse, wanted, signal)
    expect(wanted.filter((event) => lastOf(event))).toEqual(stored)
    const clicks = await selectRows(target, clickCampaignsSql(wanted), { label: 'test', signal })
    const expected = stored.map(({ accountId, id }) => ({ accountId, id, value: `of-${accountId}` }))
    expect(clicks).toHaveLength(expected.length)
    expect(clicks).toEqual(expect.arrayContaining(expected))
  })

  it('are shared by the accounts: a busy account gets 503 above its share, and events of another are stored', async () => {
    const [busy, other] = [await newAccount(), await newAccount()]
    const intake = openTestIntake(api.stores)
    const accept = (accountId: string, count: number) =>
      acceptAll(
        intake,
        Array.from({ length: count }, () => event()),
        { accountId, clickAllowance: 1_000_000 },
      )
    const ofBusy = Array.from({ length: 8 }, () => accept(busy.id, 1_000))
    for (let call = 0; call < 4; call++) {
      const refusal = { code: 'unavailable', status: 503, details: { retryAfterS: 1 } }
      await expect(accept(busy.id, 1_000)).rejects.toMatchObject(refusal)
    }
    const ofOther = [accept(other.id, 1_000), ...Array.from({ length: 32 }, () => accept(other.id, 1))]
    expect(new Set((await Promise.all([...ofBusy, ...ofOther])).flat())).toEqual(new Set(['stored']))
    expect(await storedEvents(api.stores, busy.id)).toHaveLength(8_000)
    expect(await storedEvents(api.stores, other.id)).toHaveLength(1_032)
    expect(new Set(await accept(busy.id, 1_000))).toEqual(new Set(['stored']))
  })
})

// The last test: OPTIMIZE merges nothing while a part is empty.
it('an event_id that ClickHouse has lost is stored again by a server that runs', async () => {
  const { id, key } = await newAccount()
  expect(await send(api.app, key, event('e1'))).toEqual(accepted)
  await changeTables(api.stores, `ALTER TABLE pixel_events DELETE WHERE account_id = '${id}'`)
  expect(await send(api.app, key, event('e1'))).toEqual(accepted)
  expect(await send(api.app, key, event('e1'))).toEqual(deduplicated)
  expect(await storedEvents(api.stores, id)).toHaveLength(1)
})

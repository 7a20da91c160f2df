import { text } from 'node:stream/consumers'
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { Usage } from '../../../schema/usage.ts'
import { setPlanLimits } from '../../../src/accounts/plans.ts'
import { exportRows } from '../../../src/export/run.ts'
import { sentWithinMs } from '../../../src/writer/tables/pixelEvent.ts'
import { rowsOf } from '../../import/runImport.ts'
import { testNowMs, useTestApp } from '../../kit/app.ts'
import { changeTables, mergeParts, startMerges, stopMerges } from '../../kit/rows.ts'
import {
  connectionReset,
  hang,
  type InterceptedInserts,
  interceptInserts,
  storeAndBreak,
} from './interceptedInserts.ts'
import {
  acceptAll,
  accepted,
  deduplicated,
  newAccount as openAccount,
  openTestIntake,
  overCeiling,
  send,
  storedEvents,
  storeEarlier,
} from './send.ts'

const api = useTestApp()
let inserts: InterceptedInserts

beforeAll(async () => {
  // The ceiling is twenty events.
  await setPlanLimits(api.stores.postgres, 'pro', { clickAllowance: 1 })
})
beforeEach(async () => {
  inserts = interceptInserts(api.stores.clickhouse)
  await stopMerges(api.stores, 'pixel_events')
})

const newAccount = () => openAccount(api, { plan: 'pro' })

/** An instance of the server that remembers nothing yet. */
const newInstance = (clickhouse = api.stores.clickhouse, nowMs = testNowMs) =>
  api.open({ stores: { ...api.stores, clickhouse }, now: () => nowMs })

function openShortIntake(accountId: string) {
  const intake = openTestIntake({ ...api.stores, clickhouse: inserts.clickhouse }, { timeoutMs: 2_000 })
  return (eventId?: string) => acceptAll(intake, [event(eventId)], { accountId, clickAllowance: 1 })
}

async function copiesOf(accountId: string): Promise<number> {
  const query = `SELECT count() AS copies FROM pixel_events WHERE account_id = '${accountId}'`
  return (await rowsOf<{ copies: number }>(api.stores, query))[0]?.copies ?? 0
}

async function exportedEvents(accountId: string): Promise<number> {
  const query = { accountId, resource: 'pixel-events', currency: 'USD', range: {}, format: 'ndjson' } as const
  const lines = await text(exportRows(api.stores, query, new AbortController().signal))
  return lines.split('\n').filter(Boolean).length
}

const usedEvents = async (key: string) => (await api.read('/usage', key, Usage)).events.stored
const event = (event_id?: string) => ({ click_id: 'click', event_name: 'paid', event_id })
const ids = ['e1', 'e2', 'e3', undefined, undefined]

describe('events with an insert that was repeated after its response was lost', () => {
  it('are one event each in every read before the copies are merged', async () => {
    const { id, key } = await newAccount()
    const instance = await newInstance(inserts.clickhouse)
    inserts.handlers.push(storeAndBreak, storeAndBreak)
    for (const sent of await Promise.all(ids.map((eventId) => send(instance, key, event(eventId)))))
      expect(sent).toEqual(accepted)
    const { sent: flushes } = inserts
    expect(new Set(flushes.map(({ queryId }) => queryId)).size).toBe(flushes.length)
    expect(flushes.length).toBe(new Set(flushes.map(({ bytes }) => bytes)).size + 2)
    expect(await copiesOf(id)).toBeGreaterThan(ids.length)
    expect(await exportedEvents(id)).toBe(ids.length)
    expect(await storedEvents(api.stores, id)).toMatchObject(
      ids.map(() => ({ generation: 0, receivedAtMs: testNowMs })),
    )
  })

  it('are duplicates in other instances, and one new generation after 24 hours', async () => {
    const { id, key } = await newAccount()
    const instance = await newInstance(inserts.clickhouse)
    inserts.handlers.push(storeAndBreak)
    expect(await send(instance, key, event('e1'))).toEqual(accepted)
    const other = await newInstance()
    expect(await send(other, key, event('e1'))).toEqual(deduplicated)
    await storeEarlier(api.stores, id, 86_400_000)
    const later = await newInstance(api.stores.clickhouse, testNowMs + 86_400_001)
    expect(await send(later, key, event('e1'))).toEqual(accepted)
    expect((await storedEvents(api.stores, id)).map(({ generation }) => generation)).toEqual([0, 1])
  })

  it('count once against the fair-use ceiling after a merge, and before it once per copy', async () => {
    const { id, key } = await newAccount()
    const instance = await newInstance(inserts.clickhouse)
    inserts.handlers.push(async (insert) => {
      for (let copy = 0; copy < 21; copy++) await insert.store()
      throw connectionReset()
    })
    const fifteen = Array.from({ length: 15 }, (_, n) => send(instance, key, event(`e${n}`)))
    expect(await Promise.all(fifteen)).toEqual(Array(15).fill(accepted))
    expect(await copiesOf(id)).toBeGreaterThan(20)
    const other = await newInstance()
    expect(await send(other, key, event('e15'))).toEqual(overCeiling)
    await mergeParts(api.stores, 'pixel_events')
    const systemNow = performance.now.bind(performance)
    // Counts are read again after 4.5 s.
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => systemNow() + 5_000)
    try {
      for (let n = 15; n < 20; n++) expect(await send(other, key, event(`e${n}`))).toEqual(accepted)
      expect(await send(other, key, event('e20'))).toEqual(overCeiling)
    } finally {
      clock.mockRestore()
    }
    expect(await usedEvents(key)).toBe(20)
  })

  it('are stored although ClickHouse had logged the first attempt before losing it', async () => {
    const { id, key } = await newAccount()
    await startMerges(api.stores, 'pixel_events')
    const instance = await newInstance(inserts.clickhouse)
    // As in a crash between the note of an insert and its part: ClickHouse knows the insert, and its rows are gone.
    inserts.handlers.push(async (insert) => {
      await insert.store()
      await changeTables(api.stores, `ALTER TABLE pixel_events DELETE WHERE account_id = '${id}'`)
      throw connectionReset()
    })
    expect(await send(instance, key, event('e1'))).toEqual(accepted)
    expect(await storedEvents(api.stores, id)).toHaveLength(1)
  })
})

describe('an insert without a response before its deadline', () => {
  it('is looked up: stored events are acknowledged', async () => {
    const { id, key } = await newAccount()
    const accept = openShortIntake(id)
    inserts.handlers.push(async (insert) => {
      await insert.store()
      await hang(insert)
    })
    expect(await accept('e1')).toEqual(['stored'])
    expect(await accept('e1')).toEqual(['duplicate'])
    expect(await usedEvents(key)).toBe(1)
    expect(inserts.sent).toHaveLength(1)
  })

  it('is looked up by generated ids for events without event_id', async () => {
    const { id } = await newAccount()
    const accept = openShortIntake(id)
    inserts.handlers.push(storeAndBreak, async (insert) => {
      await insert.store()
      await hang(insert)
    })
    expect(await accept()).toEqual(['stored'])
    expect(new Set(inserts.sent.map(({ bytes }) => bytes)).size).toBe(1)
    expect(await storedEvents(api.stores, id)).toHaveLength(1)
  })

  it.each([
    ['never', 'stored', 1],
    ['before the retry', 'duplicate', 1],
    ['after the retry', 'stored', 2],
  ])('gives 503, and the event and its retry are one event, whether it is stored %s', async (when, retried, copies) => {
    const { id, key } = await newAccount()
    const accept = openShortIntake(id)
    inserts.handlers.push(hang)
    await expect(accept('e1')).rejects.toMatchObject({ code: 'unavailable', status: 503 })
    expect(await storedEvents(api.stores, id)).toEqual([])
    if (when === 'before the retry') await inserts.sent[0]?.store()
    expect(await accept('e1')).toEqual([retried])
    if (when === 'after the retry') await inserts.sent[0]?.store()
    expect(await accept('e1')).toEqual(['duplicate'])
    expect([await copiesOf(id), await usedEvents(key)]).toEqual([copies, copies])
    expect(await storedEvents(api.stores, id)).toHaveLength(1)
  })

  it('is not begun for an event that an erasure no longer waits for; other events of the flush are stored', async () => {
    const { id } = await newAccount()
    const accept = openShortIntake(id)
    const systemNow = performance.now.bind(performance)
    const acceptReceived = (ageMs: number) => {
      const clock = vi.spyOn(performance, 'now').mockImplementation(() => systemNow() - ageMs)
      try {
        return accept(`${ageMs}`)
      } finally {
        clock.mockRestore()
      }
    }
    const outcomes = await Promise.allSettled([sentWithinMs, 0, sentWithinMs - 1_000, 5_000].map(acceptReceived))
    const late = { status: 'rejected', reason: expect.objectContaining({ code: 'unavailable', status: 503 }) }
    const stored = { status: 'fulfilled', value: ['stored'] }
    expect(outcomes).toEqual([late, stored, late, stored])
    expect(await storedEvents(api.stores, id)).toHaveLength(2)
  })

  it('leaves no reservation: the account can store all events up to its ceiling', async () => {
    const { id } = await newAccount()
    const accept = openShortIntake(id)
    // The events may be sent in several inserts.
    inserts.handlers.push(...Array(20).fill(hang))
    const failing = Array.from({ length: 20 }, (_, n) => accept(`e${n}`))
    for (const { status } of await Promise.allSettled(failing)) expect(status).toBe('rejected')
    inserts.handlers.length = 0
    const outcomes = (await Promise.all(Array.from({ length: 21 }, (_, n) => accept(`n${n}`)))).flat()
    expect(outcomes.filter((outcome) => outcome === 'stored')).toHaveLength(20)
    expect(outcomes.at(-1)).toBe('over_ceiling')
  })
})

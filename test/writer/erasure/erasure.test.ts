import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { ConversionPage } from '../../../schema/conversion.ts'
import { explainOutage } from '../../../src/cli/errors.ts'
import { areMutationsDone } from '../../../src/stores/clickhouse/mutations.ts'
import { ch, text } from '../../../src/stores/clickhouse/sql.ts'
import { nodesOf } from '../../../src/stores/cluster/connection.ts'
import { completeErasures, eraseAgain } from '../../../src/writer/erasure/completeErasures.ts'
import { findUnerasedRows } from '../../../src/writer/erasure/erasedRows.ts'
import {
  addErasures,
  type ErasedKind,
  hasIncompleteErasures,
  identifierHash,
  markErasures,
  readErasureKey,
} from '../../../src/writer/erasure/erasures.ts'
import { personalTables } from '../../../src/writer/erasure/personalFields.ts'
import { waitForEarlierMutations, waitForRemoval } from '../../../src/writer/erasure/waitForRemoval.ts'
import { Writer } from '../../../src/writer/fence/session.ts'
import { findDifferences } from '../../../src/writer/repair/differences.ts'
import { post } from '../../api/events/send.ts'
import { importContent, makeAccount, rowsOf } from '../../import/runImport.ts'
import { useTestApp } from '../../kit/app.ts'
import { interceptClickHouse } from '../../kit/interceptedClickHouse.ts'
import { Killed } from '../../kit/killedStores.ts'
import { expireProcessOf } from '../../kit/leases.ts'
import { readPages } from '../../kit/readRows.ts'
import { changeTables, rowsOfEveryNode, startMerges, stopMerges } from '../../kit/rows.ts'
import { shortWindow } from '../killedImport.ts'
import { withWriter as openAndClose } from '../withWriter.ts'

const server = useTestApp()
const keys: Record<string, string> = {}
const accounts = ['listed', 'received', 'imported', 'times', 'stopped', 'held', 'frequent', 'changed', 'left']
const tables = personalTables.map(({ name }) => name)
const dayMs = 86_400_000
/** Statements that make ClickHouse look for replaced parts. */
const isCleanUp = /DROP PARTITION|START CLEANUP/

beforeAll(async () => {
  for (const id of accounts) {
    keys[id] = await server.account(id)
    await importContent(server.stores, id, 'campaigns', [{ id: 'k1', name: 'K' }])
  }
})

const click = (id: string, visitorId: string, more: object = {}) => ({
  id,
  visitorId,
  clickedAt: '2024-11-05T10:00:00.000Z',
  campaignId: 'k1',
  city: `city-${id}`,
  ...more,
})

const withWriter = <Result>(account: string, work: (writer: Writer) => Promise<Result>) =>
  openAndClose(server.stores, account, work)

/** Lists erasures by id, as from a time; completes none. */
async function list(writer: Writer, erasures: readonly { kind: ErasedKind; id: string; at: string }[]): Promise<void> {
  const key = await readErasureKey(writer)
  const added = erasures.map(({ kind, id, at }) => ({
    kind,
    key,
    hash: identifierHash(key, kind, id),
    erasedMs: Date.parse(at),
  }))
  await addErasures(writer, added)
}

const at = '2025-01-01T00:00:00.000Z'
const cityOf = async (account: string, id: string) => {
  const query = `SELECT city FROM clicks WHERE account_id = '${account}' AND id = '${id}'`
  const rows = await rowsOf<{ city: string }>(server.stores, query)
  return rows.map(({ city }) => city)
}

describe('the list of erasures', () => {
  it('accepts an identifier twice in one statement, and keeps the later time', async () => {
    await withWriter('listed', async (writer) => {
      const later = '2025-01-02T00:00:00.000Z'
      await list(
        writer,
        [at, later, at].map((time) => ({ kind: 'visitor', id: 'v1', at: time })),
      )
      const rows = await server.stores
        .postgres`SELECT erased_at AS "erasedAt" FROM erasures WHERE account_id = 'listed'`
      expect(rows).toEqual([{ erasedAt: new Date(later) }])
    })
  })

  it('accepts an import that repeats a click of an erased visitor', async () => {
    const rows = [click('c1', 'v1'), click('c1', 'v1'), click('c2', 'other')]
    expect(await importContent(server.stores, 'listed', 'clicks', rows)).toMatchObject({ inserted: 2, duplicates: 1 })
    expect([await cityOf('listed', 'c1'), await cityOf('listed', 'c2')]).toEqual([[''], ['city-c2']])
  })

  it('has a click of an erased visitor once it is stored: another row with its id keeps its values, also after a kill', async () => {
    const { stores } = server
    const sale = { id: 's1', clickId: 'c1', sub1: 'sub', status: 'approved', convertedAt: '2024-11-05T11:00:00.000Z' }
    const stateOf = async (account: string) => {
      const sql = `SELECT city, soldSub1 AS sub1 FROM clicks JOIN (SELECT click_id, sub1 AS soldSub1 FROM conversions FINAL WHERE account_id = '${account}') AS sales
        ON click_id = id WHERE account_id = '${account}'`
      const listed = await stores.postgres`SELECT FROM erasures WHERE account_id = ${account} AND kind = 'click'`
      return [...(await rowsOf(stores, sql)), listed.length]
    }
    for (const isStored of [false, true]) {
      const account = await makeAccount(stores)
      await importContent(stores, account, 'conversions', [sale])
      await withWriter(account, async (writer) => {
        await list(writer, [{ kind: 'visitor', id: 'v1', at }])
        await markErasures(writer, true)
      })
      const killed = interceptClickHouse(stores, async ({ method, text, send }) => {
        if (method !== 'exec' || !text.startsWith('INSERT INTO clicks')) return
        if (isStored) await send()
        throw new Killed()
      })
      await expect(importContent(killed, account, 'clicks', [click('c1', 'v1')], shortWindow)).rejects.toThrow(Killed)
      await expireProcessOf(stores, account)
      await importContent(stores, account, 'clicks', [click('c1', 'other'), click('c1', 'v1')])
      // Duplicates of the stored click.
      await importContent(stores, account, 'clicks', [click('c1', 'v1'), click('c1', 'other')])
      const expected = isStored ? [{ city: '', sub1: '' }, 1] : [{ city: 'city-c1', sub1: 'sub' }, 0]
      expect(await stateOf(account)).toEqual(expected)
    }
  })

  it('gives a click the time of its own visitor', async () => {
    const { stores } = server
    await importContent(stores, 'times', 'clicks', [click('c1', 'early'), click('c2', 'late')])
    const event = (id: string, clickId: string) => {
      const occurredAt = '2024-12-01T00:00:00.000Z'
      return { id, clickId, eventName: 'visit', occurredAt, receivedAt: occurredAt, properties: { a: 'b' } }
    }
    await importContent(stores, 'times', 'pixel-events', [event('e1', 'c1'), event('e2', 'c2')])
    await withWriter('times', async (writer) => {
      await list(writer, [
        { kind: 'visitor', id: 'early', at: '2024-11-10T00:00:00.000Z' },
        { kind: 'visitor', id: 'late', at },
      ])
      expect(await completeErasures(writer)).toEqual({ clicks: 2, conversions: 0, events: 1 })
    })
    const kept = await rowsOf(stores, `SELECT id FROM pixel_events WHERE account_id = 'times' AND properties != ''`)
    expect(kept).toEqual([{ id: 'e1' }])
  })
})

it('a visitor with thousands of clicks over months is erased', { tags: 'long' }, async () => {
  const { stores } = server
  // With a click of another visitor at the time of each.
  const clicks = Array.from({ length: 1_600 }, (_, n) => n).flatMap((n) => {
    const clickedAt = new Date(Date.UTC(2024, 0, 1) + n * 5 * 3_600_000).toISOString()
    return ['frequent', 'rare'].map((visitor) =>
      click(`${visitor}-${n}`, `${visitor}-${visitor === 'rare' ? n : ''}`, { clickedAt }),
    )
  })
  await importContent(stores, 'frequent', 'clicks', clicks)
  const event = { id: 'e1', eventName: 'visit', clickId: 'frequent-1599', properties: { a: 'b' } }
  await importContent(stores, 'frequent', 'pixel-events', [{ ...event, occurredAt: at, receivedAt: at }])
  await withWriter('frequent', async (writer) => {
    await list(writer, [{ kind: 'visitor', id: 'frequent-', at: '2025-06-01T00:00:00.000Z' }])
    expect(await completeErasures(writer)).toEqual({ clicks: 1_600, conversions: 0, events: 1 })
  })
  const query = `SELECT count() AS clicks, countIf(startsWith(id, 'rare')) AS others
      FROM clicks WHERE account_id = 'frequent' AND city != ''`
  const left = await rowsOf(stores, query)
  expect(left).toEqual([{ clicks: 1_600, others: 1_600 }])
})

it('lists ordered by storedAt have each conversion once after an erasure, also while its versions are not merged', {
  tags: 'long',
}, async () => {
  const { stores } = server
  const ids = ['a', 'b', 'c', 'd', 'e']
  await stopMerges(stores, 'conversions')
  onTestFinished(() => startMerges(stores, 'conversions'))
  // An erasure of the conversions' visitor leaves the click of another one as it is.
  await importContent(stores, 'changed', 'clicks', [click('c1', 'other')])
  const versions = [
    { day: 5, changed: 5 },
    { day: 5, changed: 5 },
    // Another day is another key of the table.
    { day: 6, changed: 3 },
    { day: 5, changed: 2 },
  ]
  for (const [n, { day, changed }] of versions.entries()) {
    const convertedAt = `2024-11-0${day}T10:00:00.000Z`
    const updatedAt = `2024-12-0${n + 1}T00:00:00.000Z`
    const more = { clickId: 'c1', convertedAt, updatedAt, visitorId: 'v1', status: 'approved' }
    const rows = ids.slice(0, changed).map((id) => ({ id, ...more }))
    await importContent(stores, 'changed', 'conversions', rows)
  }
  await withWriter('changed', async (writer) => {
    await list(writer, [{ kind: 'visitor', id: 'v1', at }])
    expect(await completeErasures(writer)).toMatchObject({ conversions: 5 })
    expect(await findDifferences(writer)).toEqual([])
  })
  for (const limit of [1, 2, 50]) {
    const path = `/conversions?updated_since=2020-01-01&limit=${limit}`
    const read = await readPages(server, path, keys.changed ?? '', ConversionPage)
    expect([limit, read.map(({ id }) => id)]).toEqual([limit, ids])
  }
  const exported = await server.get('/conversions?updated_after=2020-01-01&format=csv&fields=id', keys.changed ?? '')
  expect(exported.body.trim().split(/\W+/).filter(Boolean)).toEqual(['id', ...ids])
})

it('an imported event is erased if it was received before the erasure, whatever its time', async () => {
  await withWriter('imported', (writer) => list(writer, [{ kind: 'visitor', id: 'v1', at }]))
  const late = { eventName: 'visit', visitorId: 'v1', occurredAt: '2025-01-01T00:04:00Z', properties: { plan: 'old' } }
  const receivedAt = ['2024-12-31T23:59:59Z', '2025-01-01T00:00:01Z']
  const rows = ['server', 'browser'].flatMap((origin) =>
    receivedAt.map((time, index) => ({ ...late, id: `e${index}`, origin, receivedAt: time })),
  )
  await importContent(server.stores, 'imported', 'pixel-events', rows)
  await withWriter('imported', async (writer) => expect(await findUnerasedRows(writer)).toEqual([]))
  const sql = `SELECT id, properties FROM pixel_events WHERE account_id = 'imported' ORDER BY id, origin`
  const [erased, kept] = ['', '{"plan":"old"}'].map((properties, index) => ({ id: `e${index}`, properties }))
  expect(await rowsOf(server.stores, sql)).toEqual([erased, erased, kept, kept])
})

it('an event that is received after the erasure is new data, whatever its timestamp', async () => {
  const erasedMs = Date.now() - dayMs / 2
  await withWriter('received', (writer) =>
    list(writer, [{ kind: 'visitor', id: 'v1', at: new Date(erasedMs).toISOString() }]),
  )
  server.setNow(Date.now())
  const response = await post(server.app, keys.received ?? '', {
    event_name: 'visit',
    visitor_id: 'v1',
    campaign_id: 'k1',
    properties: { plan: 'new' },
    timestamp: new Date(erasedMs - dayMs).toISOString(),
  })
  expect(response.statusCode).toBe(200)
  await withWriter('received', async (writer) => {
    expect(await findUnerasedRows(writer)).toEqual([])
    await eraseAgain(writer)
  })
  const rows = await rowsOf(server.stores, `SELECT properties FROM pixel_events WHERE account_id = 'received'`)
  expect(rows).toEqual([{ properties: '{"plan":"new"}' }])
})

describe('the files of replaced parts', { tags: 'long' }, () => {
  it('are removed within seconds, so the parts that replace them are synced', async () => {
    const query = `SELECT name, create_table_query AS sql FROM system.tables
       WHERE database = currentDatabase() AND create_table_query LIKE '%old_parts_lifetime%'`
    const rows = await rowsOfEveryNode<{ name: string; sql: string }>(server.stores, query)
    const nodes = server.stores.clickhouse.cluster?.nodes ?? [server.stores.clickhouse]
    expect(rows.map(({ name }) => name).sort()).toEqual(nodes.flatMap(() => tables).sort())
    for (const { name, sql } of rows) expect(sql, name).toContain('min_rows_to_fsync_after_merge = 1')
  })

  it('are not removed beside a mutation, which that would stop; a wait for one that fails says why', async () => {
    await importContent(server.stores, 'stopped', 'clicks', [click('c1', 'v1')])
    await withWriter('stopped', async (writer) => {
      let cleanups = 0
      const watched = watch(writer, async (statement) => {
        if (isCleanUp.test(statement)) cleanups += 1
      })
      await beginFailingMutation()
      try {
        const areDone = () =>
          areMutationsDone(nodesOf(server.stores.clickhouse), ch`table = ${text('clicks')}`, { label: 'test' })
        await expect
          .poll(() => areDone().catch((error) => error))
          .toMatchObject({
            code: 'unavailable',
            message: expect.stringMatching(
              /^ClickHouse cannot complete a mutation of clicks, see .*: Code: 395.*failing/,
            ),
          })
        expect(await waitForRemoval(watched, tables, 2_500)).toBe(false)
        expect(cleanups).toBe(0)
      } finally {
        await killMutations()
      }
      expect(await waitForRemoval(watched, tables)).toBe(true)
      expect(cleanups).toBeGreaterThanOrEqual(tables.length)
    })
  })

  it('are left to a later writer by an import while a mutation of another account fails; an erasure says why', async () => {
    await withWriter('left', async (writer) => {
      await list(writer, [{ kind: 'visitor', id: 'v1', at }])
      // Without the minute of retries.
      const impatient = Object.assign(new Writer(writer), {
        retry: (_step: string, attempt: () => Promise<unknown>) => attempt(),
      })
      await beginFailingMutation()
      try {
        const reason = /^ClickHouse cannot complete a mutation of clicks/
        const erase = () => completeErasures(impatient, { inFlightMs: 0 }).catch((error) => error)
        await expect.poll(erase).toMatchObject({ message: expect.stringMatching(reason) })
        const outage = explainOutage(await erase(), new AbortController().signal, 'Run it again.')
        expect(outage).toMatchObject({ message: expect.stringMatching(/failing.*\. Run it again\.$/) })
        expect(await completeErasures(impatient, { ifStillRead: 'leave' })).toMatchObject({ clicks: 0 })
        expect(await hasIncompleteErasures(writer)).toBe(true)
        // A wait that began an hour ago: the mutation is younger.
        const startedMs = performance.now()
        const clock = vi.spyOn(performance, 'now').mockReturnValueOnce(startedMs - 3_600_000)
        await waitForEarlierMutations(impatient, tables).finally(() => clock.mockRestore())
      } finally {
        await killMutations()
      }
    })
  })

  it('are written again when another statement stops the mutation', async () => {
    await withWriter('stopped', async (writer) => {
      await list(writer, [{ kind: 'visitor', id: 'v1', at }])
      /** By query id, which the statements of one attempt share; each node of a cluster receives one. */
      const attempts = new Map<string | undefined, Promise<void> | undefined>()
      const watched = watch(writer, async (statement, queryId) => {
        if (!statement.includes('UPDATE')) return
        // The first attempt waits for this mutation, which fails.
        if (!attempts.has(queryId)) attempts.set(queryId, attempts.size === 0 ? beginFailingMutation() : undefined)
        await attempts.get(queryId)
      })
      let killed: Promise<void> | undefined
      const onMessage = (line: string) => {
        if (!line.includes('while waiting for mutations; retrying')) return
        // The blanking first: it would succeed after the failing mutation has ended.
        killed ??= killMutations("AND position(command, 'failing') = 0").then(() => killMutations())
      }
      const retried = new Writer({ ...watched, onMessage })
      expect(await completeErasures(retried)).toEqual({ clicks: 1, conversions: 0, events: 0 })
      await killed
      // On a busy machine an attempt is repeated.
      expect(attempts.size).toBeGreaterThan(1)
    })
    expect(await cityOf('stopped', 'c1')).toEqual([''])
  })

  it('are waited for after `asOf` may advance again', async () => {
    const { stores } = server
    await importContent(stores, 'held', 'clicks', [click('c1', 'v1')])
    const recorded: number[] = []
    await withWriter('held', async (writer) => {
      await list(writer, [{ kind: 'visitor', id: 'v1', at }])
      const watched = watch(writer, async (statement) => {
        if (!isCleanUp.test(statement)) return
        const rows = await stores.postgres`
          SELECT account_id FROM event_rewrites UNION ALL SELECT account_id FROM import_batches`
        recorded.push(rows.length)
      })
      expect(await completeErasures(watched)).toMatchObject({ clicks: 1 })
    })
    expect(recorded.length).toBeGreaterThan(0)
    expect(recorded.filter((count) => count > 0)).toEqual([])
  })
})

const beginFailingMutation = () =>
  changeTables(
    server.stores,
    `ALTER TABLE clicks UPDATE city = toString(throwIf(id != '', 'failing')) WHERE account_id = 'stopped'
     SETTINGS mutations_sync = 0`,
  )

const killMutations = (which = '') =>
  changeTables(
    server.stores,
    `KILL MUTATION WHERE database = currentDatabase() AND table = 'clicks' AND NOT is_done ${which} SYNC`,
  )

/** The same writer; a step runs before each of its statements that writes. */
function watch(writer: Writer, before: (statement: string, queryId?: string) => Promise<void>): Writer {
  const stores = interceptClickHouse(writer.stores, async ({ method, text, queryId }) => {
    if (method === 'exec') await before(text, queryId)
  })
  return new Writer({ ...writer, stores })
}

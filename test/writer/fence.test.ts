import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { execute } from '../../src/stores/clickhouse/client.ts'
import { failAfter, insertRows, matchNothingAfter, NotBegun, runStatement } from '../../src/stores/clickhouse/insert.ts'
import { areMutationsDone } from '../../src/stores/clickhouse/mutations.ts'
import { RowBinary } from '../../src/stores/clickhouse/rowBinary.ts'
import { ch, text } from '../../src/stores/clickhouse/sql.ts'
import { readClickHouseClock, waitForClickHouseClock } from '../../src/stores/cluster/clock.ts'
import { nodesOf } from '../../src/stores/cluster/connection.ts'
import { runOnEveryNode } from '../../src/stores/cluster/everyNode.ts'
import { LeaseLost } from '../../src/stores/postgres/lease.ts'
import { changeRows } from '../../src/writer/fence/mutations.ts'
import { Writer } from '../../src/writer/fence/session.ts'
import { importContent, makeAccount, rowsOf } from '../import/runImport.ts'
import { useTestStores } from '../kit/fixtures.ts'
import { interceptClickHouse, type SentStatement } from '../kit/interceptedClickHouse.ts'
import { changeTables, rowsOfEveryNode, stopMerges } from '../kit/rows.ts'
import { holds, until } from '../kit/until.ts'
import { withWriter } from './withWriter.ts'

const stores = useTestStores({ isDirty: true })
let account: string
beforeAll(async () => {
  for (const table of ['clicks', 'click_index', 'pixel_events']) await stopMerges(stores, table)
})
beforeEach(async () => {
  account = await makeAccount(stores)
})

const columns = [
  { name: 'account_id', type: 'String' },
  { name: 'id', type: 'String' },
  { name: 'clicked_at', type: 'DateTime64(3)' },
  { name: 'user_agent', type: 'String' },
]

/** Clicks of three months, as one block: 15,000 take more bytes than ClickHouse parses at a time. */
function insertionOf(rows: number) {
  const out = new RowBinary()
  for (let n = 0; n < rows; n++) {
    out.text(account)
    out.text(`k${n}`)
    out.instant(Date.UTC(2026, n % 3, 2) + n)
    out.text('x'.repeat(1_200))
  }
  return { table: 'clicks', columns, bytes: out.bytes, isDistinct: true }
}

const count = async (table: string) =>
  (await rowsOf<{ n: number }>(stores, `SELECT count() AS n FROM ${table} WHERE account_id = '${account}'`))[0]?.n

describe('an insert with a deadline', () => {
  it('that arrives in time stores a large batch as one part per month, with default values', async () => {
    const deadlineMs = (await readClickHouseClock(stores.clickhouse)) + 60_000
    const parts = `SELECT name FROM system.parts WHERE database = currentDatabase() AND table = 'clicks' AND active`
    const before = (await rowsOfEveryNode(stores, parts)).length
    await insertRows(stores.clickhouse, insertionOf(15_000), { queryId: randomUUID(), deadlineMs })
    expect(await count('clicks')).toBe(15_000)
    expect(await count('click_index')).toBe(15_000)
    const nodes = stores.clickhouse.cluster?.nodes.length ?? 1
    expect((await rowsOfEveryNode(stores, parts)).length).toBe(before + 3 * nodes)
    const query = `SELECT uniqExact(stored_at) AS moments, min(stored_at) > now() - INTERVAL 1 HOUR AS isRecent
        FROM clicks WHERE account_id = '${account}'`
    expect(await rowsOf(stores, query)).toEqual([{ moments: 1, isRecent: 1 }])
  })

  it('that begins after the deadline stores nothing in its table or in derived tables', async () => {
    const deadlineMs = await readClickHouseClock(stores.clickhouse)
    const late = insertRows(stores.clickhouse, insertionOf(100), { queryId: randomUUID(), deadlineMs })
    await expect(late).rejects.toThrow(NotBegun)
    expect([await count('clicks'), await count('click_index'), await count('sums_by_day')]).toEqual([0, 0, 0])
  })

  it('is checked when its rows have arrived, not when the request begins', async () => {
    const insertion = insertionOf(100)
    // On a busy machine the request may begin after the deadline: then again, with a later deadline.
    for (let windowMs = 300, isInTime = false; !isInTime; windowMs *= 2) {
      const deadlineMs = (await readClickHouseClock(stores.clickhouse)) + windowMs
      const statement = await statementOf(insertion, deadlineMs)
      async function* slowly() {
        yield insertion.bytes.subarray(0, 10)
        isInTime = (await readClickHouseClock(stores.clickhouse)) < deadlineMs
        await waitForClickHouseClock(stores.clickhouse, deadlineMs)
        yield insertion.bytes.subarray(10)
      }
      const values = Readable.from(slowly(), { objectMode: false })
      await expect(execute(stores.clickhouse.client, { ...statement, values })).rejects.toMatchObject({ code: '395' })
      expect(await count('clicks')).toBe(0)
    }
  })

  it('that is sent twice stores its rows twice: ClickHouse deduplicates no inserts', async () => {
    const insert = (query: string) => stores.clickhouse.client.command({ query })
    for (const table of ['clicks', 'pixel_events']) {
      for (let n = 0; n < 2; n++) {
        await insert(`INSERT INTO ${table} (account_id, id) VALUES ('${account}', 'same')`)
        await insert(`INSERT INTO ${table} (account_id, id) SELECT '${account}', 'selected' ORDER BY 1`)
      }
      expect([table, await count(table)]).toEqual([table, 4])
    }
  })
})

/** The statement that `insertRows` sends, without sending it. */
async function statementOf(insertion: Parameters<typeof insertRows>[1], deadlineMs: number) {
  const seen: SentStatement['order'][] = []
  const kept = interceptClickHouse(stores, ({ method, order }) => {
    if (method !== 'exec') return
    seen.push(order)
    throw new Error('kept')
  })
  const sending = insertRows(kept.clickhouse, insertion, { queryId: randomUUID(), deadlineMs })
  await expect(sending).rejects.toThrow('kept')
  const [statement] = seen
  if (!statement) throw new Error('no statement')
  return statement
}

it('an INSERT … SELECT that begins after its deadline stores nothing', async () => {
  const deadlineMs = await readClickHouseClock(stores.clickhouse)
  const late = (moment: number) =>
    runStatement(
      stores.clickhouse.client,
      ch`INSERT INTO click_index (account_id, id) SELECT ${text(account)}, 'k' WHERE ${failAfter(moment)}`,
      'test',
    )
  await expect(late(deadlineMs)).rejects.toThrow(NotBegun)
  expect(await count('click_index')).toBe(0)
  await late(deadlineMs + 60_000)
  expect(await count('click_index')).toBe(1)
})

it('a DELETE that begins after its deadline deletes nothing and leaves no failing mutation', async () => {
  await importContent(stores, account, 'clicks', [{ id: 'k1', clickedAt: '2026-01-01T00:00:00Z', campaignId: 'c1' }])
  const deadlineMs = await readClickHouseClock(stores.clickhouse)
  const removal = (moment: number) =>
    runOnEveryNode(
      stores.clickhouse,
      ch`DELETE FROM click_index WHERE account_id = ${text(account)} AND ${matchNothingAfter(moment)}`,
      'test',
    )
  await removal(deadlineMs)
  expect(await count('click_index')).toBe(1)
  await removal(deadlineMs + 60_000)
  expect(await count('click_index')).toBe(0)
  const unfinished = 'SELECT command FROM system.mutations WHERE database = currentDatabase() AND NOT is_done'
  expect(await rowsOfEveryNode(stores, unfinished)).toEqual([])
})

it('a mutation is sent without waiting for it, and rows are changed when the change returns', async () => {
  const clicks = Array.from({ length: 10 }, (_, n) => ({ id: `k${n}`, clickedAt: '2026-01-01T00:00:00Z' }))
  await importContent(stores, account, 'clicks', clicks)
  const change = ch`ALTER TABLE clicks UPDATE city = if(sleepEachRow(0.1) = 0, 'Lyon', '')`
  const where = ch`account_id = ${text(account)} AND city = ''`
  const changing = withWriter(stores, account, (writer) => changeRows(writer, ch`clicks`, change, where, 'test'))
  const running = `
    SELECT (SELECT count() FROM system.mutations WHERE database = currentDatabase() AND NOT is_done) AS mutations,
      (SELECT count() FROM system.processes WHERE current_database = currentDatabase() AND query_kind = 'Alter') AS statements`
  await until(async () => {
    const nodes = await rowsOfEveryNode<{ mutations: number; statements: number }>(stores, running)
    return nodes.some(({ mutations, statements }) => mutations > 0 && statements === 0)
  })
  await changing
  expect(await rowsOf(stores, `SELECT DISTINCT city FROM clicks WHERE account_id = '${account}'`)).toEqual([
    { city: 'Lyon' },
  ])
})

it('two outages during one mutation are retried each by itself', async () => {
  await importContent(stores, account, 'clicks', [{ id: 'k1', clickedAt: '2026-01-01T00:00:00Z' }])
  let polls = 0
  const breaking = interceptClickHouse(stores, ({ text: statement }) => {
    if (!statement.includes('FROM system.mutations') || ![2, 5].includes(++polls)) return
    throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
  })
  const said: string[] = []
  await withWriter(breaking, account, async (given) => {
    const writer = new Writer({ ...given, onMessage: (line) => said.push(line) })
    const change = ch`ALTER TABLE clicks UPDATE city = if(sleepEachRow(1) = 0, 'Lyon', '')`
    await changeRows(writer, ch`clicks`, change, ch`account_id = ${text(account)} AND city = ''`, 'test')
  })
  const line = 'Database unavailable while waiting for mutations; retrying.'
  expect(said).toEqual([line, line])
})

it('a mutation that ClickHouse tries again after a failure is not failing', async () => {
  await importContent(stores, account, 'clicks', [{ id: 'k1', clickedAt: '2026-01-01T00:00:00Z' }])
  const which = ch`position(command, ${text(account)}) > 0`
  const areDone = () => areMutationsDone(nodesOf(stores.clickhouse), which, { label: 'test' })
  const statement = `ALTER TABLE clicks UPDATE city = if(sleepEachRow(1)
       + throwIf((SELECT count() FROM pixel_events WHERE account_id = '${account}') = 0, 'failing') = 0, 'Lyon', '')
     WHERE account_id = '${account}' SETTINGS mutations_sync = 0, mutations_execute_subqueries_on_initiator = 0`
  await changeTables(stores, statement)
  await expect
    .poll(() => areDone().catch((error: Error) => error.message))
    .toMatch(/^ClickHouse cannot complete .*failing/)
  // Each attempt takes a second and fails, until the account has an event.
  await until(() => holds(areDone))
  const unfinished = `SELECT latest_fail_reason FROM system.mutations WHERE NOT is_done AND position(command, '${account}') > 0`
  expect(await rowsOfEveryNode(stores, unfinished)).toEqual([
    { latest_fail_reason: expect.stringContaining('failing') },
  ])
  const query = `INSERT INTO pixel_events (account_id, id) VALUES ('${account}', 'e1')`
  for (const node of nodesOf(stores.clickhouse)) await node.command({ query })
  await until(() => areDone().catch(() => false))
})

it('a wait that is interrupted throws the reason', async () => {
  await withWriter(stores, account, async (given) => {
    const interruption = new AbortController()
    const writer = new Writer({ ...given, signal: interruption.signal })
    const reason = new LeaseLost()
    const waiting = writer.waitUntil(async () => {
      setTimeout(() => interruption.abort(reason), 1)
      return false
    }, 'Waiting.')
    await expect(waiting).rejects.toBe(reason)
  })
})

it('a batch that arrives after its deadline is sent again with a later deadline, without a message', async () => {
  let isLate = false
  const slow = interceptClickHouse(stores, async ({ text }) => {
    if (isLate || !text.startsWith('INSERT INTO clicks')) return
    isLate = true
    const [row] = await stores.postgres<{ statement_deadline: Date }[]>`
      SELECT statement_deadline FROM leases
      WHERE name = (SELECT process FROM leases WHERE name = ${`writer:${account}`})`
    await waitForClickHouseClock(stores.clickhouse, row?.statement_deadline.getTime() ?? 0)
  })
  const rows = [{ id: 'k1', clickedAt: '2026-01-01T00:00:00Z', campaignId: 'c1' }]
  expect(await importContent(slow, account, 'clicks', rows)).toMatchObject({
    inserted: 1,
    said: [expect.stringMatching(/^warning: 1 row names a campaign/)],
  })
  expect([isLate, await count('clicks'), await count('click_index')]).toEqual([true, 1, 1])
})

it('the time within which a statement must begin follows the statements, so that a slow machine sends each one once', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  await withWriter(stores, account, async ({ fence }) => {
    const windows: number[] = []
    const send = (tookMs: number) =>
      fence.run(async ({ deadlineMs }) => {
        windows.push(deadlineMs - (await readClickHouseClock(stores.clickhouse)))
        vi.advanceTimersByTime(tookMs)
        if ((windows.at(-1) ?? 0) < tookMs) throw new NotBegun()
      })
    for (const tookMs of [6_000, 6_000, ...Array<number>(40).fill(0)]) await send(tookMs)
    // One statement was sent twice.
    expect(windows).toHaveLength(43)
    expect(windows[1]).toBeGreaterThan(10_000)
    // ClickHouse's clock has not advanced by the 12 s.
    expect(windows.at(-1)).toBeLessThanOrEqual(14_000)
  })
})

it('every statement of an import that writes can be ended by the next writer', async () => {
  const sent: SentStatement[] = []
  const recorded = interceptClickHouse(stores, (statement) => {
    if (statement.method !== 'read') sent.push(statement)
  })
  await importContent(recorded, account, 'clicks', [{ id: 'k1', clickedAt: '2026-01-01T00:00:00Z' }])
  await importContent(recorded, account, 'conversions', [
    { id: 'v1', clickId: 'k1', convertedAt: '2026-01-02T00:00:00Z', status: 'approved' },
  ])
  const labels = sent.map(({ label }) => label)
  expect(labels).toEqual(expect.arrayContaining(['insert.clicks', 'import.click_copies', 'insert.conversions']))
  const others = sent.filter(({ queryId }) => !queryId?.startsWith('write process:'))
  expect(others.map(({ text: statement }) => statement)).toEqual([])
})

it('pixel events whose insert is not confirmed are stored once, and counted once', async () => {
  const events = Array.from({ length: 3 }, (_, n) => ({ id: `e${n}`, eventName: 'paid', visitorId: 'v' }))
  let breaks = 1
  const breaking = interceptClickHouse(stores, async ({ text, send }) => {
    if (!text.startsWith('INSERT INTO pixel_events ') || breaks-- <= 0) return
    await send()
    throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
  })
  const done = await importContent(breaking, account, 'pixel-events', events)
  expect(done).toMatchObject({ inserted: events.length, duplicates: 0, rejected: 0 })
  expect(await count('pixel_events')).toBe(events.length)
})

it('a statement that fails after ClickHouse has begun its response is reported as failed', async () => {
  const failing = execute(stores.clickhouse.client, {
    query: `INSERT INTO click_index (account_id, id)
      SELECT '${account}', toString(sleepEachRow(0.1) + throwIf(number = 5)) FROM numbers(6)`,
    clickhouse_settings: {
      send_progress_in_http_headers: 1,
      http_headers_progress_interval_ms: '50',
      max_block_size: '1',
    },
  })
  await expect(failing).rejects.toMatchObject({ code: '395' })
})

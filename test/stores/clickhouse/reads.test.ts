import { setMaxListeners } from 'node:events'
import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { Problem } from '../../../src/problem.ts'
import { readWatermark } from '../../../src/query/watermark.ts'
import { selectGroups, selectRows } from '../../../src/stores/clickhouse/select.ts'
import { ch, counts, instantKeys, integer, text, texts } from '../../../src/stores/clickhouse/sql.ts'
import { concat, textList, writeTexts } from '../../../src/stores/clickhouse/textList.ts'
import { type ClickHouse, openClickHouse } from '../../../src/stores/cluster/connection.ts'
import { runOnEveryNode } from '../../../src/stores/cluster/everyNode.ts'
import { askNode } from '../../../src/stores/cluster/replicaState.ts'
import { useOpened, useTestStores } from '../../kit/fixtures.ts'
import { openHttpServer } from '../../kit/httpServer.ts'
import { storeClicks } from '../../kit/rows.ts'

const label = 'test'

describe('a read', () => {
  const stores = useTestStores()

  it('sends every value unchanged', async () => {
    const values = ['', '\t\n\r\'"\\', '\\N', '--x\r\nContent-Disposition: form-data; name="query"\r\n\r\n1', 'ß漢😀\0']
    const keys = values.map((id, atMs) => ({ atMs, id }))
    const query = ch`
SELECT
  [${text(values[0] as string)}, ${text(values[1] as string)}, ${text(values[2] as string)}, ${text(values[3] as string)}, ${text(values[4] as string)}] AS one,
  ${texts(values)} AS several,
  ${concat(writeTexts(values))} AS written,
  arrayMap(key -> key.2, ${instantKeys(keys)}) AS ids,
  arrayMap(key -> toUnixTimestamp64Milli(key.1), ${instantKeys(keys)}) AS times,
  ${counts([0, 2 ** 50])} AS counts,
  ${integer(-1)} AS negative`
    expect(await selectRows(stores.clickhouse, query, { label })).toEqual([
      {
        one: values,
        several: values,
        written: values,
        ids: values,
        times: [0, 1, 2, 3, 4],
        counts: [0, 2 ** 50],
        negative: -1,
      },
    ])
  })

  it('reports the error of a statement that fails after its first rows were sent', async () => {
    const query = ch`SELECT repeat('x', 1000) AS filler, throwIf(number = 20000) FROM numbers(30000)`
    // ClickHouse before 25.11 wrote the error as a row.
    const settings = { max_block_size: '1000', max_threads: 1, compatibility: '25.10' } as const
    const read = selectRows(stores.clickhouse, query, { label, settings })
    await expect(read).rejects.toMatchObject({ type: 'FUNCTION_THROW_IF_VALUE_IS_NON_ZERO' })
  })

  it('gets the response to a query of groups at its end, whatever progress ClickHouse reports before', async () => {
    const read = vi.spyOn(stores.clickhouse.reader, 'read')
    onTestFinished(() => read.mockRestore())
    const query = ch`SELECT throwIf(sum(sleepEachRow(0.02)) = 0) FROM numbers(10) GROUP BY number % 2 WITH TOTALS LIMIT 1`
    const settings = { max_block_size: '1', interactive_delay: '1000' } as const
    await expect(selectGroups(stores.clickhouse, query, { label, settings })).rejects.toThrow(/throwIf/)
    await expect(read.mock.results[0]?.value).rejects.toThrow(/throwIf/)
  })

  it('calls failures of replicas that end by themselves unavailable, and no other ones', async () => {
    const codeOf = async (code: number) => {
      const query = ch`SELECT throwIf(1, 'of a test', ${integer(code)}::Int16)`
      const settings = { allow_custom_error_code_in_throwif: 1 } as const
      const read = selectRows(stores.clickhouse, query, { label, settings })
      return await read.catch((error: { code: string }) => error.code)
    }
    // No Keeper, a session with Keeper that ended during an insert, a locked part, another replica that has all rows, a wrong value.
    const codes = await Promise.all([225, 244, 384, 667, 27].map(codeOf))
    expect(codes).toEqual([...new Array(4).fill('unavailable'), '27'])
  })

  it('says of a query beyond its memory limit that it is too large, and how to narrow it', async () => {
    const query = ch`SELECT length(groupArray(number)) AS n FROM numbers(5000000)`
    // The reader may not change its memory limit.
    const reader = stores.clickhouse.client
    const settings = { max_memory_usage: '10000000' }
    const read = selectRows({ reader, onQuery: undefined }, query, { label, settings })
    const message = /needs more memory .*; request a shorter range, add filters, or try again later\.$/
    await expect(read).rejects.toMatchObject({ code: 'unavailable', message: expect.stringMatching(message) })
  })

  it('runs statements whose parameters take megabytes, whatever characters they contain', async () => {
    const ids = Array.from({ length: 20_000 }, (_, n) => `Щ\t\n\r'"\\;é${n}`.repeat(4))
    await storeClicks(stores, 'acme', [{ id: `${ids.at(-1)}` }, { id: 'kept' }])
    const removal = ch`DELETE FROM clicks WHERE account_id = ${text('acme')} AND has(${textList(ids)}, id)`
    await runOnEveryNode(stores.clickhouse, removal, 'test')
    const query = ch`SELECT id FROM clicks WHERE account_id = ${text('acme')}`
    expect(await selectRows(stores.clickhouse, query, { label: 'test' })).toEqual([{ id: 'kept' }])
  })

  it('ends the query of the watermark of events when the read has ended', async () => {
    const signal = AbortSignal.abort(new Problem('query_timeout', 'The deadline has passed.'))
    await expect(readWatermark({ stores, signal }, 'acme', 'events')).rejects.toMatchObject({ code: 'query_timeout' })
  })
})

describe('a read over connections that stay open', () => {
  let received = 0
  let respond: (socket: Socket, isFirst: boolean) => boolean
  const used = new WeakSet<Socket>()
  let pings = 0
  let respondsToPings = true
  let resets = 0
  const waiting: Socket[] = []
  const wait = (socket: Socket) => !waiting.push(socket)
  const complete = () => waiting.at(-1)?.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{"one":1}\n')
  const server = useOpened(() =>
    openHttpServer((request, response) => {
      if (request.url === '/ping') {
        pings += 1
        if (pings <= resets) request.socket.resetAndDestroy()
        else if (respondsToPings) response.end('Ok.\n')
        return
      }
      received += 1
      const { socket } = request
      const isFirst = !used.has(socket)
      used.add(socket)
      if (respond(socket, isFirst)) response.end('{"one":1}\n')
    }),
  )
  let clickhouse: ClickHouse
  const read = (signal?: AbortSignal) => selectRows(clickhouse, ch`SELECT 1`, { label, ...(signal && { signal }) })

  beforeAll(() => {
    clickhouse = openClickHouse({ url: server.url, username: 'x', password: 'x', database: 'x' })
  })
  afterEach(() => {
    vi.useRealTimers()
    respondsToPings = true
    resets = 0
  })
  afterAll(() => clickhouse.close())

  it('is sent again once when the server has closed its connection', async () => {
    respond = (socket, isFirst) => isFirst || !socket.destroy()
    expect([await read(), await read(), received]).toEqual([[{ one: 1 }], [{ one: 1 }], 3])
    // As a look at a node of a cluster: a process that was suspended does not take the node for unavailable.
    const ask = () => askNode(clickhouse.client, 'SELECT 1')
    expect([await ask(), await ask(), received]).toEqual([[{ one: 1 }], [{ one: 1 }], 6])
    respond = (socket) => !socket.destroy()
    await expect(read()).rejects.toMatchObject({ code: 'unavailable' })
    expect(received).toBe(8)
  })

  it('fails when the server does not respond to a ping either, also while it waits for a free connection', async () => {
    respond = () => false
    respondsToPings = false
    pings = 0
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const reads = Array.from({ length: 40 }, () =>
      read().catch((error: Problem) => [error.code, error.details.retryAfterS]),
    )
    await vi.advanceTimersByTimeAsync(2_000)
    await vi.waitFor(() => expect(pings).toBe(1), { timeout: 10_000 })
    await vi.advanceTimersByTimeAsync(3_000)
    expect(await Promise.all(reads)).toEqual(Array(40).fill(['unavailable', 2]))
    expect(pings).toBe(1)
  })

  it.each([
    ['for as long as the server responds to pings', 0, [1, 2, 3]],
    ['when the connection of one ping is reset, and the next ping gets a response', 1, [2]],
  ])('goes on %s', async (_, resetsOfPings, counts) => {
    respond = wait
    ;[pings, resets] = [0, resetsOfPings]
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const result = read()
    for (const count of counts) {
      await vi.advanceTimersByTimeAsync(2_000)
      await vi.waitFor(() => expect(pings).toBe(count), { timeout: 10_000 })
      await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1), { timeout: 10_000 })
    }
    complete()
    expect(await result).toEqual([{ one: 1 }])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('lets an aborted query end by itself and rejects then, so that the next read has its connection', async () => {
    respond = wait
    waiting.length = 0
    const client = new AbortController()
    let isSettled = false
    // The time in which the query must end does not pass.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const aborted = read(client.signal).catch((error: Problem) => error.message)
    void aborted.then(() => (isSettled = true))
    await vi.waitFor(() => expect(waiting).toHaveLength(1), { timeout: 10_000 })
    client.abort()
    await setImmediate()
    expect(isSettled).toBe(false)
    complete()
    expect(await aborted).toBe('The client disconnected.')
    const next = read()
    await vi.waitFor(() => expect(waiting).toHaveLength(2), { timeout: 10_000 })
    complete()
    expect(await next).toEqual([{ one: 1 }])
    expect(waiting[1]).toBe(waiting[0])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('ends at its deadline while it waits for a free connection', async () => {
    respond = () => false
    const ending = new AbortController()
    setMaxListeners(0, ending.signal)
    const reads = Array.from({ length: 100 }, () => read(ending.signal))
    const outcomes = Promise.allSettled(reads)
    await expect.poll(() => received).toBeGreaterThan(5)
    ending.abort(new Problem('query_timeout', 'The deadline has passed.'))
    for (const outcome of await outcomes) expect(outcome).toMatchObject({ reason: { code: 'query_timeout' } })
  })
})

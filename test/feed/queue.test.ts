import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { RowQueue, type RowStore } from '../../src/feed/queue.ts'
import { originsOf } from '../../src/feed/rowOrigins.ts'
import type { FeedRow, RowResult } from '../../src/feed/rows.ts'
import { Problem } from '../../src/problem.ts'

beforeEach(
  () =>
    void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] }),
)
afterEach(() => void vi.useRealTimers())

/** What the queue asks of a store, which takes `flushMs` for each flush. */
class ObservedStore implements RowStore {
  readonly claims = this
  readonly lost = new AbortController().signal
  readonly size = 0
  /** Accounts of other writers. */
  readonly busy = new Set<string>()
  requested: string[] = []
  flushMs = 0
  isUnavailable = false
  readonly claimed = new Set<string>()
  /** Each flush, at its end: when it began, and its rows as `account text`. */
  readonly flushes: { atMs: number; rows: string[] }[] = []
  readonly releases: { atMs: number; accountIds: readonly string[] }[] = []

  async claim(accountIds: readonly string[]): Promise<ReadonlySet<string>> {
    for (const id of accountIds) if (!this.busy.has(id)) this.claimed.add(id)
    return new Set(accountIds.filter((id) => this.claimed.has(id)))
  }

  holderOf(): string {
    return 'another process'
  }

  async readUnneeded(): Promise<readonly string[]> {
    return this.requested.filter((id) => this.claimed.has(id))
  }

  async release(accountIds: readonly string[]): Promise<void> {
    if (accountIds.length === 0) return
    this.releases.push({ atMs: performance.now(), accountIds })
    for (const id of accountIds) this.claimed.delete(id)
  }

  async flush(rows: readonly FeedRow[]): Promise<readonly RowResult[]> {
    const atMs = performance.now()
    if (this.flushMs > 0) await new Promise((resolve) => setTimeout(resolve, this.flushMs))
    if (this.isUnavailable) throw new Problem('unavailable', 'A database is unavailable.')
    for (const { accountId } of rows) if (!this.claimed.has(accountId)) throw new Error(`${accountId} is not claimed`)
    this.flushes.push({ atMs, rows: rows.map(({ accountId, bytes }) => `${accountId} ${bytes}`) })
    return rows.map(() => ({ result: 'inserted' }))
  }
}

const origin = originsOf(false, Date.now)()
const rowsOf = (accountId: string, texts: readonly string[] = ['x']): FeedRow[] =>
  texts.map((text) => ({ accountId, resource: 'clicks', bytes: Buffer.from(text), origin, line: 0 }))

function open(flushMs = 2_000) {
  const store = new ObservedStore()
  const warnings: string[] = []
  const queue = new RowQueue(store, { flushMs, warn: (line) => void warnings.push(line) })
  const running = queue.run()
  running.catch(() => {})
  /** Adds rows of an account; the texts tell them apart. */
  const add = (accountId: string, texts?: readonly string[], waitMs = Number.POSITIVE_INFINITY) =>
    queue.add(rowsOf(accountId, texts), waitMs)
  return { store, queue, running, warnings, add, startMs: performance.now() }
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

describe('a flush', () => {
  it('begins FEED_FLUSH_MS after the last one began, or after a pause that is longer with more accounts', async () => {
    const { store, queue, startMs } = open(2_000)
    const rows = Array.from({ length: 1_000 }, (_, n) => rowsOf(`a${n}`)).flat()
    const feeding = setInterval(() => queue.add(rows, Number.POSITIVE_INFINITY), 500)
    await pass(10_000)
    // The pause is at most a fifth of FEED_FLUSH_MS, since 1,000 accounts are a fifth of those that a flush may have.
    for (const flushMs of [900, 1_800, 7_000]) {
      store.flushMs = flushMs
      await pass(20_000)
    }
    clearInterval(feeding)
    const begun = store.flushes.map(({ atMs }) => atMs - startMs)
    const intervals = begun.slice(1).map((atMs, index) => Math.round((atMs - (begun[index] ?? 0)) / 100) * 100)
    const intervalAt = (ms: number) => intervals[begun.findIndex((atMs) => atMs > ms)]
    expect([5_000, 20_000, 40_000, 50_000].map(intervalAt)).toEqual([2_000, 2_000, 2_200, 7_400])
  })

  it('begins at once with 50,000 rows or 30 MiB, and takes no more', async () => {
    const { store, add } = open(10_000)
    add('acme')
    await pass(100)
    expect(store.flushes).toHaveLength(1)
    add('acme', Array<string>(49_999).fill('x'))
    await pass(100)
    expect(store.flushes).toHaveLength(1)
    add('acme', Array<string>(50_002).fill('y'))
    await pass(100)
    expect(store.flushes.map(({ rows }) => rows.length)).toEqual([1, 50_000, 50_000])
    await pass(10_000)
    const mebibyte = 'z'.repeat(1 << 20)
    add('acme', Array<string>(29).fill(mebibyte))
    await pass(100)
    expect(store.flushes.map(({ rows }) => rows.length)).toEqual([1, 50_000, 50_000, 1])
    add('acme', Array<string>(2).fill(mebibyte))
    await pass(100)
    expect(store.flushes.at(-1)?.rows).toHaveLength(30)
  })

  it('has rows of 5,000 accounts; the others follow, and the rows of an account keep their order', async () => {
    const { store, add } = open(2_000)
    for (const text of ['first', 'second'])
      for (let index = 0; index <= 5_000; index += 1) add(`a${index}`, [`${text}${index}`])
    await pass(2_100)
    expect(store.flushes.map(({ rows }) => rows.length)).toEqual([10_000, 2])
    expect(store.flushes[1]?.rows).toEqual(['a5000 first5000', 'a5000 second5000'])
    const first = store.flushes[0]?.rows.filter((row) => row.startsWith('a7 '))
    expect(first).toEqual(['a7 first7', 'a7 second7'])
  })

  it('is repeated with the same rows, in their order, while a database is unavailable', async () => {
    const { store, add, warnings } = open(500)
    store.isUnavailable = true
    const batch = add('acme', ['1', '2'])
    await pass(100)
    add('acme', ['3'])
    await pass(5_000)
    expect([store.flushes, warnings.length]).toEqual([[], 1])
    store.isUnavailable = false
    await pass(2_000)
    await batch.done
    expect(store.flushes[0]?.rows).toEqual(['acme 1', 'acme 2', 'acme 3'])
  })
})

describe('the expected wait', () => {
  it('is the number of waiting rows divided by the rows a second of the last flushes', async () => {
    const { store, queue, add } = open(0)
    store.flushMs = 4_000
    const texts = (count: number) => Array<string>(count).fill('xxxx')
    add('acme', texts(2_000))
    await pass(100)
    add('acme', texts(2_000))
    // Nothing is measured yet.
    expect(queue.expectedWaitMs(400_000)).toBe(0)
    await pass(4_900)
    add('acme', texts(3_000))
    expect(queue.expectedWaitMs()).toBeCloseTo(9_000, -3)
    expect(queue.expectedWaitMs(4_000)).toBeCloseTo(11_000, -3)
    await pass(60_000)
    expect(queue.expectedWaitMs(400_000)).toBe(0)
    // Requests after a small flush are not refused.
    for (let time = 0; time < 20; time += 1) {
      add('acme', ['xxxx'])
      await pass(5_000)
    }
    add('acme', ['xxxx'])
    expect(queue.expectedWaitMs(4_000)).toBeCloseTo(4_000, -3)
  })

  it('is longer as soon as a flush takes longer than the last ones', async () => {
    const { store, queue, add } = open(0)
    add('acme', Array<string>(1_000).fill('x'))
    store.flushMs = 1_000
    await pass(1_500)
    store.flushMs = 100_000
    add('acme', Array<string>(1_000).fill('x'))
    await pass(30_000)
    add('acme', Array<string>(1_000).fill('x'))
    expect(queue.expectedWaitMs()).toBeCloseTo(30_000, -3)
    await pass(150_000)
    // Flushes then have the rows of 20 s, at least 1,000.
    store.flushMs = 10_000
    add('acme', Array<string>(9_000).fill('x'))
    await pass(10_500)
    expect(store.flushes.at(-1)?.rows).toHaveLength(1_000)
  })
})

describe('an account', () => {
  it('that another writer wants is released within 2 s of the end of a flush, and claimed again when it is free', async () => {
    const { store, add } = open(2_000)
    add('acme')
    await pass(100)
    store.flushMs = 4_000
    add('acme')
    await pass(3_000)
    store.requested = ['acme']
    // The flush takes four seconds and began after two.
    await pass(2_800)
    expect([store.flushes.length, store.releases]).toEqual([1, []])
    store.busy.add('acme')
    await pass(1_000)
    expect(store.releases.map(({ accountIds }) => accountIds)).toEqual([['acme']])
    store.requested = []
    const batch = add('acme')
    await pass(20_000)
    expect(batch.isDone).toBe(false)
    store.busy.clear()
    store.flushMs = 0
    await pass(10_000)
    expect(batch.isDone).toBe(true)
  })

  it('that another writer has delays its rows alone, which follow in order, and is reported after 2 s', async () => {
    const { store, add, warnings } = open(500)
    store.busy.add('acme')
    const waiting = add('acme', ['1'])
    const other = add('beta', ['2'])
    await pass(100)
    await other.done
    expect(warnings).toEqual([])
    // Memory has only the rows that wait.
    expect([other.rows, waiting.rows.length]).toEqual([[undefined], 1])
    add('acme', ['3'])
    await pass(30_000)
    expect([waiting.isDone, store.flushes.map(({ rows }) => rows)]).toEqual([false, [['beta 2']]])
    expect(warnings).toEqual(['Rows wait for another process, which has their accounts: acme.'])
    store.busy.clear()
    await pass(2_000)
    await waiting.done
    expect(store.flushes[1]?.rows).toEqual(['acme 1', 'acme 3'])
  })

  it('that another writer has longer than its source waits gives its rows retry', async () => {
    const { store, queue, add } = open(500)
    store.busy.add('acme')
    const [now, later] = [add('acme', ['1'], 0), add('acme', ['2'], 60_000)]
    await pass(100)
    const reason = 'another writer has the account'
    expect([now.results, later.isDone]).toEqual([[{ result: 'retry', reason }], false])
    await pass(59_000)
    expect(later.isDone).toBe(false)
    await pass(3_000)
    expect([later.results, queue.held.open]).toEqual([[{ result: 'retry', reason }], 0])
  })

  it('does not wait in vain for the time in which a database was unavailable', async () => {
    const { store, add } = open(500)
    store.isUnavailable = true
    add('beta', ['1'])
    await pass(100)
    const waiting = add('acme', ['2'], 60_000)
    await pass(90_000)
    store.busy.add('acme')
    store.claimed.delete('acme')
    store.isUnavailable = false
    await pass(5_000)
    store.busy.clear()
    await pass(5_000)
    expect(waiting.results).toEqual([{ result: 'inserted' }])
  })
})

describe('the end of a queue', () => {
  it('stores all rows at once, and gives rows that other writers delay retry unless their source waits', async () => {
    for (const isPatient of [false, true]) {
      const { store, queue, running, add } = open(10_000)
      store.busy.add('acme')
      add('beta')
      await pass(100)
      const [delayed, ready] = [add('acme', ['1'], 60_000), add('beta', ['2'], 60_000)]
      queue.close(isPatient)
      await pass(100)
      expect([ready.results, delayed.isDone]).toEqual([[{ result: 'inserted' }], !isPatient])
      store.busy.clear()
      await pass(2_000)
      await running
      const ending = [{ result: 'retry', reason: 'the feed is ending' }]
      expect(delayed.results).toEqual(isPatient ? [{ result: 'inserted' }] : ending)
      expect(add('beta').results).toEqual(ending)
    }
  })

  it('fails while a database is unavailable, and gives its rows retry, so that their request ends at once', async () => {
    const { store, queue, running, add } = open(500)
    store.isUnavailable = true
    const batch = add('acme')
    await pass(3_000)
    queue.close()
    await pass(2_000)
    await expect(running).rejects.toThrow('unavailable')
    expect(batch.results).toEqual([{ result: 'retry', reason: 'the feed is ending' }])
  })
})

it('counts what is in memory: rows until they are stored, other rows until their source has named them', async () => {
  const { store, queue, add } = open(500)
  add('acme')
  await pass(100)
  add('acme', ['abc', 'de'])
  await pass(300)
  expect([queue.held, Math.round(queue.oldestAgeMs / 100)]).toEqual([{ open: 2, rows: 2, bytes: 5 }, 3])
  store.busy.add('beta')
  const waiting = queue.add(
    [{ resource: '', bytes: Buffer.from('bad'), reason: 'is not JSON' }, ...rowsOf('beta')],
    9_000,
  )
  expect(queue.held).toEqual({ open: 3, rows: 4, bytes: 9 })
  await pass(500)
  expect(queue.held).toEqual({ open: 1, rows: 2, bytes: 4 })
  queue.cancel(waiting)
  expect([queue.held, queue.oldestAgeMs]).toEqual([{ open: 0, rows: 2, bytes: 4 }, 0])
  expect(waiting.results.map((row) => row?.result)).toEqual(['rejected', 'retry'])
  for (const _ of [1, 2]) waiting.forget()
  expect(queue.held).toEqual({ open: 0, rows: 0, bytes: 0 })
  expect(queue.isFull((128 << 20) - 1)).toBe(false)
  expect(queue.isFull(128 << 20)).toBe(true)
})

it('keeps of a row that waits for another writer no bytes of the rows beside it', async () => {
  const { store, add } = open(500)
  store.busy.add('acme')
  const batch = add('acme', ['abc'], 60_000)
  await pass(1_100)
  expect(batch.rows[0]?.bytes.buffer.byteLength).toBe(3)
})

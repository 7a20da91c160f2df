import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Batcher, type BatcherOptions } from '../../src/stores/batcher.ts'

type Held = { items: readonly number[]; resolve: () => void; fail: (error: Error) => void; signal: AbortSignal }

function open(options: Partial<BatcherOptions<number>> = {}) {
  const held: Held[] = []
  const batches = new Batcher<number>({
    itemsMax: 100,
    concurrentMax: 1,
    timeoutMs: 10_000,
    run: (items, signal) =>
      new Promise((resolve, fail) => {
        held.push({ items, resolve, fail, signal })
      }),
    ...options,
  })
  return { batches, held }
}

const nextImmediate = () => new Promise((resolve) => setImmediate(resolve))

describe('batches', () => {
  it('combine concurrent calls, and end all of them', async () => {
    const { batches, held } = open()
    const ended = Promise.all([[1], [2, 3], []].map((items) => batches.addAll(items)))
    await nextImmediate()
    expect(held.map(({ items }) => items)).toEqual([[1, 2, 3]])
    held[0]?.resolve()
    await ended
  })

  it('collect items while one runs, and exceed neither the concurrency nor the size limit', async () => {
    const { batches, held } = open({ itemsMax: 2, concurrentMax: 2 })
    const ended = Promise.all([1, 2, 3, 4, 5].map((item) => batches.add(item)))
    for (let count = 0; count < 5; count++) await nextImmediate()
    expect(held.map(({ items }) => items)).toEqual([
      [1, 2],
      [3, 4],
    ])
    expect(batches.queued).toBe(1)
    held[1]?.resolve()
    while (held.length < 3) await nextImmediate()
    for (const { resolve } of held) resolve()
    await ended
  })

  it('fail as a whole, without effect on others', async () => {
    const { batches, held } = open({ itemsMax: 2 })
    const settled = Promise.allSettled([1, 2, 3, 4].map((item) => batches.add(item)))
    await nextImmediate()
    held[0]?.resolve()
    while (held.length < 2) await nextImmediate()
    held[1]?.fail(new Error('of both'))
    expect(
      (await settled).map((result) => (result.status === 'fulfilled' ? result.value : result.reason.message)),
    ).toEqual([1, 2, 'of both', 'of both'])
  })

  it('wait for the next calls of all callers that got a response, however long responses take to write', async () => {
    const gather = { quietMs: 5, mostMs: 1_000, mostMsPerItem: 0, beside: { items: 10, mostMs: 1_000 } }
    const { batches, held } = open({ gather, concurrentMax: 2 })
    let elapsedMs = 0
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => elapsedMs)
    const writeAndCallAgain = async () => {
      await batches.add(0)
      elapsedMs += gather.quietMs
      await nextImmediate()
      return await batches.add(0)
    }
    const results = [writeAndCallAgain(), writeAndCallAgain(), writeAndCallAgain()]
    await nextImmediate()
    results.push(batches.add(0))
    for (let next = 0; next < 2; next++) {
      while (held.length === next) await nextImmediate()
      held[next]?.resolve()
    }
    await Promise.all(results)
    clock.mockRestore()
    expect(held.map(({ items }) => items.length)).toEqual([3, 4])
  })

  it('are idle when the last one has ended or failed', async () => {
    const { batches, held } = open({ itemsMax: 1 })
    await batches.idle()
    const settled = Promise.allSettled([batches.add(1), batches.add(2)])
    let isIdle = false
    const idle = batches.idle().then(() => {
      isIdle = true
    })
    await nextImmediate()
    held[0]?.resolve()
    while (held.length < 2) await nextImmediate()
    expect(isIdle).toBe(false)
    held[1]?.fail(new Error('of 2'))
    await idle
    await settled
  })

  describe('with a fake clock', () => {
    beforeEach(() => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'performance'] })
    })
    afterEach(() => {
      vi.useRealTimers()
    })

    /** Batches that take so many milliseconds, and when each started with how many items. */
    function openTimed(takeMs: (batch: number) => number, options: Partial<BatcherOptions<number>>) {
      const openedAtMs = performance.now()
      const starts: { atMs: number; items: number }[] = []
      const { batches } = open({
        ...options,
        run: async (items) => {
          starts.push({ atMs: Math.round(performance.now() - openedAtMs), items: items.length })
          await new Promise((resolve) => setTimeout(resolve, takeMs(starts.length)))
        },
      })
      return { batches, starts }
    }

    async function callAgain(batches: Batcher<number>, times: number) {
      for (let time = 0; time < times; time++) await batches.add(1)
    }

    it('start no faster than their pace, the first ones at once, and a late one delays its own window only', async () => {
      const { batches, starts } = openTimed((batch) => (batch === 1 ? 60 : 20), { pace: { starts: 3, withinMs: 120 } })
      const done = callAgain(batches, 8)
      await vi.advanceTimersByTimeAsync(1_000)
      await done
      expect(starts.map(({ atMs }) => Math.round(atMs / 10))).toEqual([0, 6, 8, 12, 14, 16, 24, 26])
    })

    it('fail a batch at its deadline with items queued as long, and process the others', async () => {
      const { batches, held } = open({ itemsMax: 1, timeoutMs: 1_000 })
      const refused = [batches.add(1), batches.add(2)].map((call) =>
        expect(call).rejects.toMatchObject({ code: 'unavailable', status: 503 }),
      )
      await vi.advanceTimersByTimeAsync(500)
      const later = batches.add(3)
      await vi.advanceTimersByTimeAsync(510)
      await Promise.all(refused)
      expect(held.map(({ items, signal }) => [items, signal.aborted])).toEqual([
        [[1], true],
        [[3], false],
      ])
      held[1]?.resolve()
      await later
    })

    const gather = { quietMs: 5, mostMs: 30, mostMsPerItem: 0, beside: { items: 10, mostMs: 100 } }

    it.each([
      [undefined, [0, 22, 44, 72]],
      [{ starts: 3, withinMs: 120 }, [0, 22, 44, 120]],
    ])('start as in the example of openBatchTiming, with pace %j', async (pace, startsAtMs) => {
      const { batches, starts } = openTimed(() => 20, { gather, concurrentMax: 2, ...(pace && { pace }) })
      /** Sends an item, and each next one a millisecond after its response. */
      async function send(times: number) {
        for (let time = 0; time < times; time++) {
          await batches.add(1)
          await new Promise((resolve) => setTimeout(resolve, 1))
        }
      }
      const a = send(4)
      await vi.advanceTimersByTimeAsync(10)
      const b = send(2)
      await vi.advanceTimersByTimeAsync(1_000)
      await Promise.all([a, b])
      expect(starts.map(({ items }) => items)).toEqual([1, 2, 2, 1])
      expect(starts.map(({ atMs }) => atMs)).toEqual(startsAtMs)
    })

    it('have a maximum delay, whether items keep coming or not', async () => {
      const { batches, starts } = openTimed(() => 20, { gather })
      const results = Array.from({ length: 9 }, (_, item) => batches.add(item))
      await vi.advanceTimersByTimeAsync(25)
      results.push(batches.add(9))
      await vi.advanceTimersByTimeAsync(6)
      expect(starts.map(({ items }) => items)).toEqual([9, 1])
      await vi.advanceTimersByTimeAsync(20)
      for (let item = 10; item < 60; item++) {
        results.push(batches.add(item))
        await vi.advanceTimersByTimeAsync(1)
      }
      await vi.advanceTimersByTimeAsync(1_000)
      await Promise.all(results)
      expect(starts.reduce((sum, { items }) => sum + items, 0)).toBe(60)
    })

    it('start beside a running one at a minimum size or after a maximum delay', async () => {
      const { batches, starts } = openTimed(() => 500, { gather, concurrentMax: 3 })
      const results: Promise<number>[] = [batches.add(0)]
      await vi.advanceTimersByTimeAsync(10)
      for (let item = 1; item < 11; item++) results.push(batches.add(item))
      await vi.advanceTimersByTimeAsync(10)
      results.push(batches.add(11))
      await vi.advanceTimersByTimeAsync(1_000)
      await Promise.all(results)
      expect(starts.map(({ items }) => items)).toEqual([1, 10, 1])
      expect(starts[2]?.atMs).toBeLessThan(150)
    })
  })
})

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Batcher, type BatcherOptions } from '../../../src/api/events/batcher.ts'

interface Held {
  items: readonly number[]
  answer: (results: readonly (string | Error)[]) => void
  fail: (error: Error) => void
  signal: AbortSignal
}

/** Batches of numbers whose answers are given by hand. */
function open(options: Partial<BatcherOptions<number, string>> = {}) {
  const held: Held[] = []
  const batches = new Batcher<number, string>({
    itemsMax: 100,
    concurrentMax: 1,
    deadlineMs: 10_000,
    run: (items, signal) =>
      new Promise((answer, fail) => {
        held.push({ items, answer, fail, signal })
      }),
    ...options,
  })
  return { batches, held }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))
const texts = (items: readonly number[] = []) => items.map((item) => `answer ${item}`)

describe('batches', () => {
  it('put calls of one moment together and give each its own answer', async () => {
    const { batches, held } = open()
    const answers = Promise.all([1, 2, 3].map((item) => batches.add(item)))
    await turn()
    expect(held.map(({ items }) => items)).toEqual([[1, 2, 3]])
    held[0]?.answer(texts(held[0].items))
    expect(await answers).toEqual(['answer 1', 'answer 2', 'answer 3'])
  })

  it('gather while one runs, and never run more at once than allowed, nor larger ones', async () => {
    const { batches, held } = open({ itemsMax: 2, concurrentMax: 2 })
    const answers = Promise.all([1, 2, 3, 4, 5].map((item) => batches.add(item)))
    for (let count = 0; count < 5; count++) await turn()
    expect(held.map(({ items }) => items)).toEqual([
      [1, 2],
      [3, 4],
    ])
    expect(batches.queued).toBe(1)
    held[1]?.answer(texts(held[1].items))
    while (held.length < 3) await turn()
    for (const { items, answer } of held) answer(texts(items))
    expect(await answers).toEqual(texts([1, 2, 3, 4, 5]))
  })

  it('fail an item alone, or a batch alone', async () => {
    const { batches, held } = open({ itemsMax: 2 })
    const settled = Promise.allSettled([1, 2, 3, 4].map((item) => batches.add(item)))
    await turn()
    held[0]?.answer(['answer 1', new Error('of 2')])
    while (held.length < 2) await turn()
    held[1]?.fail(new Error('of both'))
    expect(
      (await settled).map((result) => (result.status === 'fulfilled' ? result.value : result.reason.message)),
    ).toEqual(['answer 1', 'of 2', 'of both', 'of both'])
  })

  it('hear everybody who was answered before they call it silence, however long the answers take to write', async () => {
    const gather = { quietMs: 5, mostMs: 1_000, mostMsPerItem: 0, beside: { items: 10, mostMs: 1_000 } }
    const { batches, held } = open({ gather, concurrentMax: 2 })
    const writeAndAskAgain = async () => {
      await batches.add(0)
      for (const sinceMs = performance.now(); performance.now() - sinceMs < gather.quietMs; );
      await turn()
      return await batches.add(0)
    }
    const answers = [writeAndAskAgain(), writeAndAskAgain(), writeAndAskAgain()]
    await turn()
    answers.push(batches.add(0))
    for (let next = 0; next < 2; next++) {
      while (held.length === next) await turn()
      held[next]?.answer(texts(held[next]?.items))
    }
    await Promise.all(answers)
    expect(held.map(({ items }) => items.length)).toEqual([3, 4])
  })

  it('are idle when the last one has ended, however it did', async () => {
    const { batches, held } = open({ itemsMax: 1 })
    await batches.idle()
    const settled = Promise.allSettled([batches.add(1), batches.add(2)])
    let isIdle = false
    const idle = batches.idle().then(() => {
      isIdle = true
    })
    await turn()
    held[0]?.answer(['answer 1'])
    while (held.length < 2) await turn()
    expect(isIdle).toBe(false)
    held[1]?.fail(new Error('of 2'))
    await idle
    await settled
  })

  describe('by a clock of their own', () => {
    beforeEach(() => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'performance'] })
    })
    afterEach(() => {
      vi.useRealTimers()
    })

    /** Batches that take so many milliseconds, and when each started with how many items. */
    function openTimed(takeMs: (batch: number) => number, options: Partial<BatcherOptions<number, string>>) {
      const openedAtMs = performance.now()
      const starts: { atMs: number; items: number }[] = []
      const { batches } = open({
        ...options,
        run: async (items) => {
          starts.push({ atMs: Math.round(performance.now() - openedAtMs), items: items.length })
          await new Promise((resolve) => setTimeout(resolve, takeMs(starts.length)))
          return texts(items)
        },
      })
      return { batches, starts }
    }

    /** A caller who asks again as soon as it is answered. */
    async function askAgain(batches: Batcher<number, string>, times: number) {
      for (let time = 0; time < times; time++) await batches.add(1)
    }

    it('start no faster than their pace, the first ones at once, and a late one delays no window but its own', async () => {
      const { batches, starts } = openTimed((batch) => (batch === 1 ? 60 : 20), { pace: { starts: 3, withinMs: 120 } })
      const done = askAgain(batches, 8)
      await vi.advanceTimersByTimeAsync(1_000)
      await done
      expect(starts.map(({ atMs }) => Math.round(atMs / 10))).toEqual([0, 6, 8, 12, 14, 16, 24, 26])
    })

    it('give up on a batch after its deadline, and on whoever waited as long, and go on with the others', async () => {
      const { batches, held } = open({ itemsMax: 1, deadlineMs: 1_000 })
      const refused = [batches.add(1), batches.add(2)].map((call) =>
        expect(call).rejects.toMatchObject({ code: 'unavailable', status: 503 }),
      )
      await vi.advanceTimersByTimeAsync(500)
      const later = batches.add(3)
      await vi.advanceTimersByTimeAsync(501)
      await Promise.all(refused)
      expect(held.map(({ items, signal }) => [items, signal.aborted])).toEqual([
        [[1], true],
        [[3], false],
      ])
      held[1]?.answer(['in time'])
      expect(await later).toBe('in time')
    })

    const gather = { quietMs: 5, mostMs: 30, mostMsPerItem: 0, beside: { items: 10, mostMs: 100 } }

    it('put callers together who were answered apart, and never keep a lone one waiting', async () => {
      const { batches, starts } = openTimed(() => 20, { gather })
      const one = askAgain(batches, 5)
      await vi.advanceTimersByTimeAsync(10)
      const other = askAgain(batches, 3)
      await vi.advanceTimersByTimeAsync(1_000)
      await Promise.all([one, other])
      expect(starts.map(({ items }) => items)).toEqual([1, 2, 2, 2, 1])
    })

    it('wait for no more than so long, whatever keeps coming, nor for those who stay away', async () => {
      const { batches, starts } = openTimed(() => 20, { gather })
      const answers = Array.from({ length: 9 }, (_, item) => batches.add(item))
      await vi.advanceTimersByTimeAsync(25)
      answers.push(batches.add(9))
      await vi.advanceTimersByTimeAsync(6)
      expect(starts.map(({ items }) => items)).toEqual([9, 1])
      await vi.advanceTimersByTimeAsync(20)
      for (let item = 10; item < 60; item++) {
        answers.push(batches.add(item))
        await vi.advanceTimersByTimeAsync(1)
      }
      await vi.advanceTimersByTimeAsync(1_000)
      expect(await Promise.all(answers)).toHaveLength(60)
    })

    it('start beside a running one when they have grown, or after a while', async () => {
      const { batches, starts } = openTimed(() => 500, { gather, concurrentMax: 3 })
      const answers = [batches.add(0)]
      await vi.advanceTimersByTimeAsync(10)
      for (let item = 1; item < 11; item++) answers.push(batches.add(item))
      await vi.advanceTimersByTimeAsync(10)
      answers.push(batches.add(11))
      await vi.advanceTimersByTimeAsync(1_000)
      await Promise.all(answers)
      expect(starts.map(({ items }) => items)).toEqual([1, 10, 1])
      expect(starts[2]?.atMs).toBeLessThan(150)
    })
  })
})

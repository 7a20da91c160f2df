import { describe, expect, it } from 'vitest'
import { Batches, type BatchOptions } from '../../src/events/batches.ts'

interface Held {
  items: readonly number[]
  answer: (results: readonly (string | Error)[]) => void
  fail: (error: Error) => void
  signal: AbortSignal
}

/** Batches of numbers whose answers are given by hand. */
function open(options: Partial<BatchOptions<number, string>> = {}) {
  const held: Held[] = []
  const batches = new Batches<number, string>({
    itemsMax: 100,
    underWayMax: 1,
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
    const { batches, held } = open({ itemsMax: 2, underWayMax: 2 })
    const answers = Promise.all([1, 2, 3, 4, 5].map((item) => batches.add(item)))
    for (let count = 0; count < 5; count++) await turn()
    expect(held.map(({ items }) => items)).toEqual([
      [1, 2],
      [3, 4],
    ])
    expect(batches.waiting).toBe(1)
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

  it('give up on a batch after its deadline, and go on with the next one', async () => {
    const { batches, held } = open({ itemsMax: 1, deadlineMs: 5 })
    const [first, second] = [batches.add(1), batches.add(2)]
    await expect(first).rejects.toMatchObject({ code: 'unavailable', status: 503 })
    expect(held[0]?.signal.aborted).toBe(true)
    while (held.length < 2) await turn()
    held[1]?.answer(['in time'])
    expect(await second).toBe('in time')
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

  it('start no faster than their pace, though the first ones start at once', async () => {
    const startedAtMs: number[] = []
    const { batches } = open({
      pace: { starts: 3, withinMs: 60 },
      run: async (items) => {
        startedAtMs.push(performance.now())
        return texts(items)
      },
    })
    for (let item = 0; item < 10; item++) await batches.add(item)
    for (let index = 3; index < startedAtMs.length; index++) {
      expect((startedAtMs[index] ?? 0) - (startedAtMs[index - 3] ?? 0)).toBeGreaterThan(58)
    }
  })
})

import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { ConcurrencyLimiter } from '../../src/http/concurrencyLimiter.ts'

const { signal } = new AbortController()
const limits = { perAccountMax: () => 1, totalMax: 2, waitMs: 15_000, refuse: () => new Error('refused') as never }

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

it('limits all accounts together; waiting accounts take turns, however much one of them has queued', async () => {
  const limiter = new ConcurrencyLimiter(limits)
  const started: string[] = []
  const releases: (() => void)[] = []
  const acquire = async (account: string) => {
    releases.push(await limiter.acquire(account, signal))
    started.push(account)
  }
  await Promise.all([acquire('a'), acquire('b')])
  const waiting = ['a', 'a', 'b', 'c', 'c', 'd'].map(acquire)
  // Grows with each start.
  for (const release of releases) {
    release()
    await vi.advanceTimersByTimeAsync(0)
  }
  await Promise.all(waiting)
  expect(started).toEqual(['a', 'b', 'a', 'b', 'c', 'd', 'a', 'c'])
})

it('counts work by its slots, and its release once, also when the account has new work', async () => {
  const refused: boolean[] = []
  const refuse = (isOwnLimit: boolean) => {
    refused.push(isOwnLimit)
    return limits.refuse()
  }
  // One account may have four times as many slots as remain free.
  const perAccountMax = (total: number) => 4 * (100 - total)
  const limiter = new ConcurrencyLimiter({ perAccountMax, totalMax: 95, waitMs: 0, refuse })
  const release = await limiter.acquire('a', undefined, 80)
  await expect(limiter.acquire('a', undefined, 1)).rejects.toThrow('refused')
  await limiter.acquire('b', undefined, 15)
  await expect(limiter.acquire('c', undefined, 1)).rejects.toThrow('refused')
  expect([limiter.running, refused]).toEqual([95, [true, false]])
  release()
  await limiter.acquire('a', undefined, 65)
  release()
  expect(limiter.running).toBe(80)
  await expect(limiter.acquire('a', undefined, 4)).rejects.toThrow('refused')
  await limiter.acquire('a', undefined, 3)
})

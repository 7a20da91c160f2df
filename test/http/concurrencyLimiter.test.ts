import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { ConcurrencyLimiter } from '../../src/http/concurrencyLimiter.ts'

const { signal } = new AbortController()
const limits = { perAccountMax: 1, totalMax: 2, waitMs: 15_000, refuse: () => new Error('refused') as never }

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

it('limits all accounts together; waiting accounts take turns, however much one of them has queued', async () => {
  const limiter = new ConcurrencyLimiter(limits)
  const started: string[] = []
  const acquire = (account: string) => limiter.acquire(account, signal).then(() => void started.push(account))
  await Promise.all([acquire('a'), acquire('b')])
  const waiting = ['a', 'a', 'b', 'c', 'c', 'd'].map(acquire)
  // Grows with each start.
  for (const account of started) {
    limiter.release(account)
    await vi.advanceTimersByTimeAsync(0)
  }
  await Promise.all(waiting)
  expect(started).toEqual(['a', 'b', 'a', 'b', 'c', 'd', 'a', 'c'])
})

it('refuses work that waits too long, and knows whether an account waits for slots of others', async () => {
  const limiter = new ConcurrencyLimiter(limits)
  await Promise.all([limiter.acquire('a', signal), limiter.acquire('b', signal)])
  const own = expect(limiter.acquire('a', signal)).rejects.toThrow('refused')
  expect(limiter.isContended).toBe(false)
  const other = expect(limiter.acquire('c', signal)).rejects.toThrow('refused')
  expect(limiter.isContended).toBe(true)
  vi.advanceTimersByTime(15_000)
  await Promise.all([own, other])
  expect(limiter.isContended).toBe(false)
  limiter.release('a')
  await limiter.acquire('c', signal)
})

import { expect, it } from 'vitest'
import { FixedWindowCounters } from '../../src/http/fixedWindowCounters.ts'

it('keeps every counter for its window, whatever the number of invented names', () => {
  const counters = new FixedWindowCounters(1_000_000)
  expect(counters.add('real', 0)).toEqual({ count: 1, isAdded: true, endsInMs: 60_000 })
  for (let n = 0; n < 300_000; n++) counters.add(`invented-${n}`, 30_000)
  expect(counters.add('real', 59_999)).toEqual({ count: 2, isAdded: true, endsInMs: 1 })
  expect(counters.add('real', 60_000)).toEqual({ count: 1, isAdded: true, endsInMs: 60_000 })
})

it('starts each window at its first count, across rotations', () => {
  const counters = new FixedWindowCounters(1_000)
  counters.add('other', 0)
  for (const atMs of [50_000, 61_000]) counters.add('late', atMs)
  expect(counters.add('late', 109_999)).toEqual({ count: 3, isAdded: true, endsInMs: 1 })
  expect(counters.add('late', 110_000)).toEqual({ count: 1, isAdded: true, endsInMs: 60_000 })
})

it('counts every invented name in limited memory, and keeps the counters in use', () => {
  const counters = new FixedWindowCounters(1_000)
  for (let n = 0; n < 5_000; n++) {
    counters.add(`invented-${n}`, 1)
    if (n % 400 === 0) counters.add('real', 2)
  }
  expect(counters.size).toBeLessThanOrEqual(1_000)
  expect(counters.add('real', 3)).toEqual({ count: 14, isAdded: true, endsInMs: 59_999 })
  expect([1, 2, 3].map(() => counters.add('late', 4).count)).toEqual([1, 2, 3])
  // All windows have ended after two minutes.
  counters.add('first', 60_004)
  counters.add('second', 120_004)
  expect(counters.size).toBe(2)
})

it('ends every window when the clock is set back', () => {
  const counters = new FixedWindowCounters(10)
  counters.add('a', 100_000)
  expect(counters.add('a', 50_000)).toEqual({ count: 1, isAdded: true, endsInMs: 60_000 })
})

import { setImmediate as tick } from 'node:timers/promises'
import { beforeEach, expect, it } from 'vitest'
import { Problem } from '../../src/problem.ts'
import { RefreshingCache, type RefreshingCacheOptions } from '../../src/stores/refreshingCache.ts'

type Read = { key: string; resolve(value: string | undefined): void; reject(error: Error): void }

let nowMs: number
let reads: Read[]
let cache: RefreshingCache<string, string>

const open = (options: Partial<RefreshingCacheOptions<string, string>>) =>
  new RefreshingCache<string, string>({
    max: 2,
    freshMs: 100,
    staleWhileRevalidateMs: 0,
    staleIfErrorMs: 0,
    retryMs: 50,
    isFailing: () => false,
    now: () => nowMs,
    keyOf: (key) => key,
    read: (key) => new Promise((resolve, reject) => reads.push({ key, resolve, reject })),
    ...options,
  })

beforeEach(() => {
  nowMs = 1_000_000
  reads = []
  cache = open({ staleWhileRevalidateMs: 900 })
})

async function load(key: string, value: string | undefined): Promise<string | undefined> {
  const found = cache.find(key)
  reads.pop()?.resolve(value)
  return await found
}

it('returns a value while one background read refreshes it', async () => {
  expect(await load('a', 'first')).toBe('first')
  nowMs += 99
  expect(await cache.find('a')).toBe('first')
  expect(reads).toEqual([])
  nowMs += 1
  expect(await Promise.all([cache.find('a'), cache.find('a')])).toEqual(['first', 'first'])
  expect(reads).toHaveLength(1)
  reads[0]?.resolve('second')
  await tick()
  expect(await cache.find('a')).toBe('second')
})

it('waits for one shared read when the value is too old, and passes its error on', async () => {
  await load('a', 'first')
  nowMs += 1_000
  const failing = Promise.allSettled([cache.find('a'), cache.find('a')])
  reads.pop()?.reject(new Error('unavailable'))
  expect((await failing).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  const waiting = Promise.all([cache.find('a'), cache.find('a')])
  expect(reads).toHaveLength(1)
  reads.pop()?.resolve('second')
  expect(await waiting).toEqual(['second', 'second'])
})

it('keeps the value when a background read fails, and repeats the read after a pause', async () => {
  await load('a', 'first')
  nowMs += 100
  expect(await cache.find('a')).toBe('first')
  reads.pop()?.reject(new Error('unavailable'))
  await tick()
  nowMs += 49
  expect(await cache.find('a')).toBe('first')
  expect(reads).toEqual([])
  nowMs += 1
  expect(await cache.find('a')).toBe('first')
  expect(reads).toHaveLength(1)
})

it('counts the age of a value from the start of its read', async () => {
  const found = cache.find('a')
  nowMs += 1_000
  reads.pop()?.resolve('first')
  await found
  void cache.find('a')
  expect(reads).toHaveLength(1)
})

it('forgets a value that no longer exists', async () => {
  await load('a', 'first')
  nowMs += 100
  expect(await cache.find('a')).toBe('first')
  reads.pop()?.resolve(undefined)
  await tick()
  expect(await load('a', undefined)).toBeUndefined()
  expect(await load('a', 'again')).toBe('again')
})

it('completes requests for a value that is evicted while it is read', async () => {
  await load('a', 'first')
  nowMs += 1_000
  const waiting = cache.find('a')
  await load('b', 'b')
  await load('c', 'c')
  reads[0]?.resolve('second')
  expect(await waiting).toBe('second')
})

it('shares the first read of a value, and reads once more for requests that waited when it finds none', async () => {
  const found = Promise.all(Array.from({ length: 3 }, () => cache.find('a')))
  expect(reads).toHaveLength(1)
  reads.pop()?.resolve('first')
  expect(await found).toEqual(['first', 'first', 'first'])
  const missing = cache.find('b')
  const later = Promise.all([cache.find('b'), cache.find('b')])
  reads.pop()?.resolve(undefined)
  expect(await missing).toBeUndefined()
  await tick()
  expect(reads).toHaveLength(1)
  reads.pop()?.resolve('created')
  expect(await later).toEqual(['created', 'created'])
  const never = Promise.all(Array.from({ length: 9 }, () => cache.find('c')))
  reads.pop()?.resolve(undefined)
  await tick()
  reads.pop()?.resolve(undefined)
  expect(new Set(await never)).toEqual(new Set([undefined]))
  expect(reads).toEqual([])
})

it('returns a value whose read fails with a Problem for its time, at once while reads are expected to fail', async () => {
  let isFailing = false
  cache = open({ staleIfErrorMs: 900, isFailing: () => isFailing })
  await load('a', 'first')
  nowMs += 999
  const waiting = cache.find('a')
  const failed = cache.find('a')
  reads.pop()?.reject(new Problem('unavailable', 'down'))
  expect(await Promise.all([waiting, failed])).toEqual(['first', 'first'])
  isFailing = true
  expect(await cache.find('a')).toBe('first')
  isFailing = false
  const bug = cache.find('a')
  reads.pop()?.reject(new Error('bug'))
  await expect(bug).rejects.toThrow('bug')
  nowMs += 1
  const late = cache.find('a')
  reads.pop()?.reject(new Problem('unavailable', 'down'))
  await expect(late).rejects.toThrow('down')
})

it('reads an expired value before it is returned, and returns it if that fails', async () => {
  cache = open({ staleWhileRevalidateMs: 400, staleIfErrorMs: 900 })
  await load('a', 'first')
  await load('b', 'first')
  cache.expire('a')
  expect(await cache.find('b')).toBe('first')
  expect(await load('a', 'second')).toBe('second')
  cache.expire()
  const failing = cache.find('b')
  reads.pop()?.reject(new Problem('unavailable', 'down'))
  expect(await failing).toBe('first')
})

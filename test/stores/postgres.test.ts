// @module-tag postgres

import { afterEach, expect, it, vi } from 'vitest'
import { queryPostgres } from '../../src/stores/postgres/connection.ts'

afterEach(() => {
  vi.useRealTimers()
})

it('a Postgres query without a result after 20 seconds fails with 503', async () => {
  vi.useFakeTimers()
  const waiting = queryPostgres(new Promise(() => {}))
  const refused = expect(waiting).rejects.toMatchObject({ code: 'unavailable', details: { retryAfterS: 2 } })
  await vi.advanceTimersByTimeAsync(20_001)
  await refused
  expect(vi.getTimerCount()).toBe(0)
  expect(await queryPostgres(Promise.resolve(1))).toBe(1)
  expect(vi.getTimerCount()).toBe(0)
})

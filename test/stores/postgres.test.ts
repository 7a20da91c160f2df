import { afterEach, expect, it, vi } from 'vitest'
import { queryPostgres } from '../../src/stores/postgres/connection.ts'

afterEach(() => {
  vi.useRealTimers()
})

it('a question to Postgres that has no answer after 20 seconds is given up with 503', async () => {
  vi.useFakeTimers()
  const asked = queryPostgres(new Promise(() => {}))
  const refused = expect(asked).rejects.toMatchObject({ code: 'unavailable', details: { retryAfterS: 2 } })
  vi.advanceTimersByTime(20_000)
  await refused
  expect(vi.getTimerCount()).toBe(0)
  expect(await queryPostgres(Promise.resolve(1))).toBe(1)
  expect(vi.getTimerCount()).toBe(0)
})

// @module-tag postgres

import { afterEach, expect, it, vi } from 'vitest'
import { queryPostgres } from '../../src/stores/postgres/connection.ts'
import { useTestStores } from '../kit/fixtures.ts'

const stores = useTestStores()

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

it('a Postgres query that the server ends, for instance after its statement_timeout, fails with 503', async () => {
  const ended = stores.postgres.unsafe(`DO $$ BEGIN RAISE EXCEPTION 'ended' USING ERRCODE = 'query_canceled'; END $$`)
  await expect(queryPostgres(ended)).rejects.toMatchObject({ code: 'query_timeout', details: { retryAfterS: 5 } })
})

// @module-tag long

import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { selectRows } from '../../../src/stores/clickhouse/select.ts'
import { ch } from '../../../src/stores/clickhouse/sql.ts'
import { openTestApp } from '../../kit/app.ts'
import { startClickHouse } from '../../kit/clickhouseServer.ts'
import { useOpened } from '../../kit/fixtures.ts'
import { openTestStores } from '../../kit/stores.ts'

const server = useOpened(() => startClickHouse())
const api = useOpened(async () => {
  const alone = { CLICKHOUSE_CLUSTER: '', CLICKHOUSE_NODES: '' }
  await (await openTestStores({ ...alone, CLICKHOUSE_URL: server.url('tributary_owner') })).close()
  const users = {
    CLICKHOUSE_URL: server.url('tributary_writer'),
    CLICKHOUSE_READER_URL: server.url('tributary_reader'),
  }
  return await openTestApp({}, { ...alone, ...users })
})

/** Between 5 s, after which a read fails, and 30 s, after which a connection without traffic is closed. */
const late = () => pause(20_000, 'late')

it('a read gets 503 soon while ClickHouse is stopped, and 200 once it goes on', async () => {
  const key = await api.account('acme')
  const get = () => api.get('/stats/overview', key)
  expect((await get()).statusCode).toBe(200)
  server.pause()
  try {
    const response = await Promise.race([get(), late()])
    expect(response).toMatchObject({ statusCode: 503, headers: { 'retry-after': '2' } })
    expect((await api.app.inject('/readyz')).json().message).toBe('Not ready: ClickHouse did not respond.')
  } finally {
    server.resume()
  }
  await expect.poll(async () => (await get()).statusCode).toBe(200)
})

it('a read that is merely long is completed', async () => {
  const query = ch`SELECT sum(sleepEachRow(1)) AS slept, count() AS rows FROM numbers(9)`
  const options = { label: 'test', settings: { max_block_size: '1' } }
  expect(await selectRows(api.stores.clickhouse, query, options)).toEqual([{ slept: 0, rows: 9 }])
})

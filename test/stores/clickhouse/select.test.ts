import { afterAll, beforeAll, expect, it } from 'vitest'
import { Problem } from '../../../src/problem.ts'
import { readEventWatermark } from '../../../src/query/eventWatermark.ts'
import { runOnEveryNode } from '../../../src/stores/clickhouse/insert.ts'
import { selectRows } from '../../../src/stores/clickhouse/select.ts'
import { ch, text } from '../../../src/stores/clickhouse/sql.ts'
import { textList } from '../../../src/stores/clickhouse/textList.ts'
import { openTestStores, type TestStores } from '../../kit/stores.ts'

let stores: TestStores

beforeAll(async () => {
  stores = await openTestStores()
})
afterAll(() => stores?.close())

it('says of a query beyond its memory limit that it is too large, and how to narrow it', async () => {
  const query = ch`SELECT length(groupArray(number)) AS n FROM numbers(5000000)`
  // The reader may not change its memory limit.
  const reader = stores.clickhouse.client
  const read = selectRows({ reader, onQuery: undefined }, query, {
    label: 'test',
    settings: { max_memory_usage: '10000000' },
  })
  await expect(read).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(/needs more memory .*; request a shorter range, add filters, or try again later\.$/),
  })
})

it('runs statements whose parameters take megabytes, whatever characters they contain', async () => {
  const ids = Array.from({ length: 20_000 }, (_, n) => `Щ\t\n\r'"\\;é${n}`.repeat(4))
  const { client } = stores.clickhouse
  await client.insert({
    table: 'clicks',
    values: [
      { account_id: 'acme', id: ids.at(-1) },
      { account_id: 'acme', id: 'kept' },
    ],
    format: 'JSONEachRow',
  })
  await runOnEveryNode(
    stores.clickhouse,
    ch`DELETE FROM clicks WHERE account_id = ${text('acme')} AND has(${textList(ids)}, id)`,
    'test',
  )
  const query = ch`SELECT id FROM clicks WHERE account_id = ${text('acme')}`
  expect(await selectRows(stores.clickhouse, query, { label: 'test' })).toEqual([{ id: 'kept' }])
})

it('ends the query of the watermark of events when the read has ended', async () => {
  const ended = AbortSignal.abort(new Problem('query_timeout', 'The deadline has passed.'))
  await expect(readEventWatermark(stores, 'acme', ended)).rejects.toMatchObject({ code: 'query_timeout' })
})

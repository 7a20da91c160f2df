// @module-tag long

import type { ClickHouseSettings } from '@clickhouse/client'
import { expect, it } from 'vitest'
import { eventExportSql } from '../../../src/api/events/list/export.ts'
import { planEventList } from '../../../src/api/events/list/routes.ts'
import { eventExportSettings, rowFormatSettings } from '../../../src/rows/clickhouseOutputFormat.ts'
import { parseFields } from '../../../src/rows/selectedFields.ts'
import { streamBytes } from '../../../src/stores/clickhouse/select.ts'
import { callerOf } from '../../kit/accounts.ts'
import { openTestStores } from '../../kit/stores.ts'

/** Events of a kilobyte, whose order by id differs from their order by time. */
const events = 150_000
const memoryMax = 100_000_000

it('an export of events sorts on disk what does not fit into memory', async () => {
  const stores = await openTestStores()
  try {
    await stores.clickhouse.client.command({
      query: `
        INSERT INTO pixel_events (account_id, origin, id, event_name, visitor_id, properties, occurred_at, received_at)
        WITH toDateTime64('2026-11-20 00:00:00', 3, 'UTC') + toIntervalSecond(number) AS at
        SELECT 'acme', 'server', hex(sipHash64(number)), 'visit', 'v', concat('{"a":"', repeat(hex(sipHash128(number)), 30), '"}'), at, at
        FROM numbers(${events})`,
    })
    const { max_bytes_before_external_sort: sortMemory } = rowFormatSettings
    const { max_block_size: blockRows } = eventExportSettings
    // The settings of exports on a tenth of the scale.
    const spilling = {
      max_bytes_before_external_sort: `${Number(sortMemory) / 10}`,
      max_block_size: `${Math.round(Number(blockRows) / 10)}`,
      max_bytes_ratio_before_external_sort: 0,
    }
    expect(await exportWith(spilling)).toBe(events)
    const inMemory = exportWith({ ...spilling, max_bytes_before_external_sort: '0' })
    await expect(inMemory).rejects.toMatchObject({ code: 'unavailable' })
  } finally {
    await stores.close()
  }

  /** @returns the number of rows, which come in the order of time */
  async function exportWith(settings: ClickHouseSettings): Promise<number> {
    const plan = planEventList({ order: 'asc' }, callerOf('acme'), 0)
    const query = eventExportSql(plan, [], {
      format: 'ndjson',
      csvEscape: undefined,
      selected: parseFields('occurredAt,properties'),
    })
    let [rows, last, rest] = [0, '', '']
    // The reader may not change the limit of its memory.
    const writer = Object.create(stores.clickhouse, { reader: { value: stores.clickhouse.client } })
    for await (const chunk of streamBytes(writer, query, {
      label: 'test',
      settings: { ...rowFormatSettings, ...settings, max_memory_usage: `${memoryMax}`, max_threads: 1 },
    })) {
      const lines = (rest + chunk.toString()).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const { occurredAt } = JSON.parse(line)
        if (occurredAt <= last) throw new Error(`${occurredAt} follows ${last}.`)
        last = occurredAt
        rows += 1
      }
    }
    return rows
  }
})

// @module-tag long

import { readFileSync } from 'node:fs'
import { beforeAll, expect, inject, it } from 'vitest'
import { useTestApp } from '../../kit/app.ts'
import { processesOf } from '../../kit/processes.ts'

const memoryMb = 1_000

const api = useTestApp({}, { CLICKHOUSE_MEMORY_MB: `${memoryMb}` })
let keys: Record<string, string>

beforeAll(async () => {
  keys = { heavy: await api.account('heavy'), light: await api.account('light') }
  const insert = (account: string, value: string, numbers: string) =>
    api.stores.clickhouse.client.command({
      query: `INSERT INTO clicks (account_id, id, clicked_at, sub1)
        SELECT '${account}', toString(n), toDateTime64('2026-11-20 10:00:00', 3, 'UTC'), ${value}
        FROM (SELECT arrayJoin(${numbers}) AS n)`,
    })
  // A report by this value groups 120 MB; a query may use 300, all reads 600.
  for (let from = 0; from < 40_000; from += 10_000)
    await insert('heavy', 'repeat(toString(cityHash64(n)), 150)', `range(${from}, ${from + 10_000})`)
  await insert('light', `'x'`, '[0]')
})

const report = (account: string, query: string) => api.get(`/reports?${query}`, keys[account])

it.skipIf(inject('engines').clickhouseUrl)(
  'bounds the memory of eight heavy reports, while another account gets its own',
  async () => {
    const heavy = Array.from({ length: 8 }, (_, n) => report('heavy', `group_by=sub1&days=${20 + n}`))
    for (const days of [20, 21, 22]) expect((await report('light', `group_by=sub1&days=${days}`)).statusCode).toBe(200)
    for (const { statusCode, headers } of await Promise.all(heavy)) {
      expect([200, 503]).toContain(statusCode)
      expect(headers['retry-after'] !== undefined).toBe(statusCode === 503)
    }
    const engine = processesOf(api.stores.settings.DATA_DIR).find(({ program }) => program === 'clickhouse/engine')
    const [, peakKb] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${engine?.id}/status`, 'utf8')) ?? []
    // ClickHouse measures the process, including Node, twice a second.
    expect(Number(peakKb)).toBeLessThan(memoryMb * 1_100)
  },
)

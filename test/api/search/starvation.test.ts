// @module-tag long

import { beforeAll, describe, expect, it } from 'vitest'
import { withReadDeadline } from '../../../src/api/listResponse.ts'
import { searchCampaigns } from '../../../src/api/search/campaigns.ts'
import { planSearch } from '../../../src/api/search/plan.ts'
import type { Postgres } from '../../../src/stores/postgres/connection.ts'
import { getFrom, openTestApp, useTestApp } from '../../kit/app.ts'
import { useOpened } from '../../kit/fixtures.ts'
import { interceptPostgres } from '../../kit/interceptedPostgres.ts'
import { hasPostgres, startPostgres } from '../../kit/postgresServer.ts'

/** Stores many campaigns with names of one letter, 200 times: the slowest to search in. */
async function fill(postgres: Postgres, accountId: string, rows: number): Promise<void> {
  for (let first = 0; first < rows; first += 5_000) {
    await postgres`
      INSERT INTO campaigns (account_id, id, name, user_id, status, created_at, updated_at, search_text)
      SELECT ${accountId}, 'c' || n, repeat('a', 200), ${accountId}, 'active', now(), now(), format('c%sX%sXactive', n, repeat('a', 200))
      FROM generate_series(${first}::integer, ${Math.min(first + 5_000, rows) - 1}::integer) AS n`
  }
}

const hostileTexts = [`${'a'.repeat(99)}b`, `b${'a'.repeat(99)}`, 'éé']

describe('a search of 20,000 campaigns that almost match', () => {
  const api = useTestApp()
  let key: string

  beforeAll(async () => {
    key = await api.account('wide')
    await fill(api.stores.postgres, 'wide', 20_000)
  })

  it.each(hostileTexts)(
    'runs as short slices, between which key look-ups and the readiness check run: %s',
    async (q) => {
      const newKeys: string[] = []
      for (let n = 0; n < 5; n++)
        newKeys.push(await api.account(`new-${n}-${Buffer.from(q).toString('hex').slice(0, 8)}`))
      let slices = 0
      let release = () => {}
      const released = new Promise<void>((resolve) => {
        release = resolve
      })
      const postgresReader = interceptPostgres(api.stores.postgresReader, (text, run) => {
        const query = run()
        if (!text.includes('WITH examined') || ++slices !== 2) return query
        const { options } = query as unknown as { options: object }
        return Object.assign(
          released.then(() => query),
          { options },
        )
      })
      const app = await api.open({ stores: { ...api.stores, postgresReader } })
      const search = getFrom(app, `/campaigns/search?q=${encodeURIComponent(q)}`, key)
      await expect.poll(() => slices, { timeout: 10_000 }).toBe(2)
      for (const newKey of newKeys) {
        expect((await getFrom(app, '/offers?limit=1', newKey)).statusCode).toBe(200)
        expect((await app.inject('/readyz')).statusCode).toBe(200)
      }
      expect(slices).toBe(2)
      release()
      const { statusCode, body } = await search
      expect([statusCode, JSON.parse(body).data]).toEqual([200, []])
      // A slice reads at most 500 rows.
      expect(slices).toBeGreaterThanOrEqual(40)
    },
  )

  it('reads only matching rows and the last row of each slice', async () => {
    let rows = 0
    const counted = (postgres: Postgres) =>
      interceptPostgres(postgres, (text, run) => {
        const query = run()
        if (/^\s*(WITH|SELECT).*LIMIT/s.test(text)) void query.then((read) => (rows += read.length))
        return query
      })
    const stores = {
      ...api.stores,
      postgres: counted(api.stores.postgres),
      postgresReader: counted(api.stores.postgresReader),
    }
    const app = await api.open({ stores })
    for (const query of ['q=%C3%A9%C3%A9', 'q=ctive&fields=name,tags']) {
      rows = 0
      expect((await getFrom(app, `/campaigns/search?${query}`, key)).json().data).toEqual([])
      expect(rows).toBeGreaterThan(0)
      expect(rows).toBeLessThan(100)
    }
  })
})

it('a search reads campaigns by an index, also when its statement ran before they were imported', async () => {
  const api = await openTestApp()
  const { postgres } = api.stores
  const key = await api.account('grown')
  const search = async () => {
    const campaigns = (await getFrom(api.app, '/campaigns/search?q=aaa&limit=20', key)).json().data
    const conversions = (await getFrom(api.app, '/conversions/search?q=aaa', key)).json().data
    return [campaigns.length, conversions.length]
  }
  const scans = async () => {
    await postgres`SELECT pg_stat_force_next_flush()`
    return await postgres`SELECT seq_scan, seq_tup_read FROM pg_stat_user_tables WHERE relname = 'campaigns'`
  }
  // After five executions a prepared statement keeps its plan: here, one for empty tables.
  await postgres`ANALYZE campaigns, offers`
  for (let n = 0; n < 7; n++) expect(await search()).toEqual([0, 0])
  await fill(postgres, 'grown', 10_000)
  const before = await scans()
  expect(await search()).toEqual([20, 0])
  expect(await scans()).toEqual(before)
  await api.close()
})

describe.skipIf(!hasPostgres())('on a Postgres server', () => {
  const server = useOpened(() => startPostgres())
  const api = useOpened(() => openTestApp({}, { DATABASE_URL: server.url('tributary') }))

  beforeAll(async () => {
    await api.account('wide')
    await fill(api.stores.postgres, 'wide', 20_000)
  })

  const searchFor = (q: string, deadlineMs?: number) => {
    const plan = planSearch('campaigns/search', { q }, { accountId: 'wide', currency: 'USD' })
    return withReadDeadline(
      new AbortController().signal,
      'search for a longer text',
      (signal) => searchCampaigns({ stores: api.stores, signal }, plan),
      ...(deadlineMs === undefined ? [] : [deadlineMs]),
    )
  }

  it.each(hostileTexts)('finds nothing that is not there: %s', async (q) => {
    expect((await searchFor(q)).data).toEqual([])
  })

  it('ends at the deadline without cancelling its statement, since Postgres may cancel the next one instead', async () => {
    const { postgres } = api.stores
    const locks = await postgres.reserve()
    await locks`BEGIN`
    await locks`LOCK TABLE campaigns IN ACCESS EXCLUSIVE MODE`
    await expect(searchFor('aab', 200)).rejects.toMatchObject({ code: 'query_timeout' })
    const waiting = await postgres`SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'campaigns'::regclass`
    expect(waiting).toHaveLength(1)
    await locks`ROLLBACK`
    locks.release()
    expect((await searchFor('aab')).data).toEqual([])
  })
})

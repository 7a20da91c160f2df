// @module-tag postgres

import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { openMetrics } from '../../../src/http/prometheusMetrics.ts'
import { openResponseCache } from '../../../src/http/responseCache.ts'
import { openClickHouse } from '../../../src/stores/cluster/connection.ts'
import { openPostgres } from '../../../src/stores/postgres/connection.ts'
import { probeRoutes } from '../../http/probe.ts'
import { getFrom, testNowMs, useTestApp } from '../../kit/app.ts'
import { freePort } from '../../kit/serverProcess.ts'

const metrics = openMetrics()
const api = useTestApp({ metrics, routes: [probeRoutes] })

it('health is public', async () => {
  const alive = await api.app.inject('/healthz')
  expect([alive.statusCode, alive.json()]).toEqual([200, { status: 'alive' }])
  const ready = await api.app.inject('/readyz')
  expect([ready.statusCode, ready.json()]).toEqual([200, { status: 'ready' }])
})

it('health names the unavailable store, while the process is alive', async () => {
  const { stores } = api
  const port = await freePort()
  const address = { username: 'x', password: 'secret', database: 'x' }
  const clickhouse = openClickHouse({ ...address, url: `http://127.0.0.1:${port}` })
  const postgres = openPostgres({ url: `postgres://x:secret@127.0.0.1:${port}/x` })
  for (const [broken, names] of [
    [{ ...stores, clickhouse }, 'ClickHouse'],
    [{ ...stores, postgres, postgresReader: postgres }, 'Postgres'],
    [{ clickhouse, postgres, postgresReader: postgres }, 'ClickHouse and Postgres'],
  ] as const) {
    const app = await api.open({ stores: broken })
    const response = await app.inject('/readyz')
    expect([response.statusCode, response.json().error]).toEqual([503, 'unavailable'])
    expect(response.json().message).toBe(`Not ready: ${names} did not respond.`)
    expect(response.headers['retry-after']).toBe('1')
    expect((await app.inject('/healthz')).statusCode).toBe(200)
  }
  await clickhouse.close()
  await postgres.end()
})

it('readiness checks the stores once a second at most, whatever the number of requests', async () => {
  const labels: string[] = []
  const clickhouse = Object.create(api.stores.clickhouse, {
    onQuery: { value: (label: string) => labels.push(label), writable: true },
  })
  let nowMs = testNowMs
  const app = await api.open({ stores: { ...api.stores, clickhouse }, now: () => nowMs })
  for (const checks of [1, 2]) {
    const responses = await Promise.all(Array.from({ length: 50 }, () => app.inject('/readyz')))
    expect(new Set(responses.map(({ statusCode }) => statusCode))).toEqual(new Set([200]))
    expect(labels).toEqual(Array(checks).fill('ready'))
    nowMs += 1_000
  }
})

describe('metrics', () => {
  it('count responses by method, route and status, with one label for all unknown paths', async () => {
    const key = await api.account('counted')
    for (let count = 0; count < 3; count++) await api.get('/probe/mine', key)
    for (let count = 0; count < 5; count++) await api.app.inject(`/invented-${count}`)
    const text = await metrics.registry.metrics()
    expect(text).toContain('http_requests_total{method="GET",route="/api/v1/probe/:id",status="200"} 3')
    expect(text).toContain('http_requests_total{method="GET",route="unknown",status="404"} 5')
    expect(text).toContain('http_request_duration_seconds_count{route="/api/v1/probe/:id"} 3')
    expect(text).not.toContain('invented')
    expect(text).toContain('nodejs_heap_size_used_bytes')
  })

  it('time ClickHouse queries by label, and count cached reports and rejections by limit', async () => {
    const own = openMetrics()
    const responseCache = openResponseCache({ ttlMs: 3_600_000, onResponse: own.countResponse })
    const app = await api.open({ responseCache, metrics: own })
    const key = await api.account('timed')
    for (let count = 0; count < 2; count++) await getFrom(app, '/stats/daily?days=1', key)
    await getFrom(app, '/clicks', key)
    for (let count = 0; count < 121; count++) await getFrom(app, '/clicks', 'wrong')
    const text = await own.registry.metrics()
    expect(text).toContain('clickhouse_query_duration_seconds_count{label="stats.daily"} 1')
    expect(text).toMatch(/clickhouse_query_duration_seconds_count\{label="clicks.page"\} [1-9]/)
    expect(text).toContain('report_responses_total{source="query"} 1')
    expect(text).toContain('report_responses_total{source="cache"} 1')
    expect(text).toContain('rate_limit_denials_total{limit="address"} 1')
  })

  it('show how long the sums of an import have been unconfirmed', async () => {
    const { stores } = api
    await api.account('importing')
    const age = async () => {
      const text = await metrics.registry.getSingleMetricAsString('sums_unconfirmed_age_seconds')
      return Number(/^sums_unconfirmed_age_seconds (\S+)$/m.exec(text)?.[1])
    }
    expect(await age()).toBe(0)
    await stores.postgres`
      INSERT INTO import_batches (token, account_id, resource, first_at, last_at, created_at)
      VALUES ('left', 'importing', 'clicks', now(), now(), now() - interval '1 hour')`
    expect(await age()).toBeGreaterThanOrEqual(3_600)
    await stores.postgres`DELETE FROM import_batches`
    expect(await age()).toBe(0)
  })

  it('show the age of the newest row of each resource, and none of a resource without rows', async () => {
    const { stores } = api
    await stores.postgres`
      INSERT INTO watermarks (account_id, resource, stored_at, last_row_at)
      VALUES ('importing', 'clicks', now(), now() - interval '2 hours'), ('importing', 'costs', now(), NULL)`
    const text = await metrics.registry.getSingleMetricAsString('newest_row_age_seconds')
    const [, age] = /^newest_row_age_seconds\{resource="clicks"\} (\S+)$/m.exec(text) ?? []
    expect(Number(age)).toBeGreaterThanOrEqual(7_200)
    expect(text).not.toContain('costs"}')
  })

  it('do not wait for a store that does not respond', async () => {
    const own = openMetrics()
    own.addGauge('silent', 'Reads a store that does not respond.', () => new Promise(() => {}))
    own.addGauge('labelled', 'The same with labels.', () => new Promise(() => {}), ['resource'])
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const texts = ['silent', 'labelled'].map((name) => own.registry.getSingleMetricAsString(name))
    await vi.advanceTimersByTimeAsync(2_001)
    const [silent, labelled] = await Promise.all(texts)
    expect(silent).toMatch(/^silent NaN$/im)
    expect(labelled).not.toMatch(/^labelled/m)
  })
})

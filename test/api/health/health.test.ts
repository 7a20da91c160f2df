import { createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { rollupAgeS } from '../../../src/api/health/rollupAge.ts'
import { buildApp } from '../../../src/app.ts'
import { openTelemetry, serveTelemetry } from '../../../src/http/telemetry.ts'
import { openClickHouse } from '../../../src/stores/clickhouse/connection.ts'
import { openPostgres, type Postgres } from '../../../src/stores/postgres/connection.ts'
import { openProbe, type Probe } from '../../http/probe.ts'
import { testNowMs } from '../../kit/app.ts'

let probe: Probe
const metrics = openTelemetry()

beforeAll(async () => {
  probe = await openProbe({ telemetry: metrics })
})
afterAll(() => probe.close())

/** A port of loopback that nobody listens on. */
async function deadPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

describe('health', () => {
  it('is told without a key', async () => {
    const alive = await probe.app.inject('/healthz')
    expect([alive.statusCode, alive.json()]).toEqual([200, { status: 'alive' }])
    const ready = await probe.app.inject('/readyz')
    expect([ready.statusCode, ready.json()]).toEqual([200, { status: 'ready' }])
  })

  it('names the store that does not answer, and the process is alive all the same', async () => {
    const { stores } = probe
    const port = await deadPort()
    const clickhouse = openClickHouse({
      url: `http://127.0.0.1:${port}`,
      username: 'x',
      password: 'secret',
      database: 'x',
    })
    const postgres = openPostgres({ url: `postgres://x:secret@127.0.0.1:${port}/x` })
    for (const [broken, names] of [
      [{ ...stores, clickhouse }, 'ClickHouse'],
      [{ ...stores, postgres, postgresReader: postgres }, 'Postgres'],
      [{ clickhouse, postgres, postgresReader: postgres }, 'ClickHouse and Postgres'],
    ] as const) {
      const app = await buildApp({ settings: stores.settings, stores: broken, now: () => testNowMs, routes: [] })
      const answer = await app.inject('/readyz')
      expect([answer.statusCode, answer.json().error]).toEqual([503, 'unavailable'])
      expect(answer.json().message).toBe(`Not ready: ${names} did not answer.`)
      expect(answer.headers['retry-after']).toBe('1')
      expect((await app.inject('/healthz')).statusCode).toBe(200)
      await app.close()
    }
    await clickhouse.close()
    await postgres.end()
  })
})

describe('a store that can’t be reached', () => {
  it('makes answers 503 with the time to wait, and tells nothing of the inside', async () => {
    const { stores } = probe
    const key = await probe.key('severed')
    const port = await deadPort()
    const clickhouse = openClickHouse({
      url: `http://127.0.0.1:${port}`,
      username: 'x',
      password: 'secret',
      database: 'x',
    })
    const postgres = openPostgres({ url: `postgres://x:secret@127.0.0.1:${port}/x` })
    for (const broken of [
      { ...stores, clickhouse },
      { ...stores, postgres, postgresReader: postgres },
    ]) {
      const app = await buildApp({ settings: stores.settings, stores: broken, now: () => testNowMs })
      const answer = await app.inject({ url: '/api/v1/clicks', headers: { authorization: `ApiKey ${key}` } })
      expect([answer.statusCode, answer.json().error]).toEqual([503, 'unavailable'])
      expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1)
      expect(answer.body).not.toMatch(/127\.0\.0\.1|ECONN|secret|select/i)
      await app.close()
    }
    await clickhouse.close()
    await postgres.end()
  })
})

describe('metrics', () => {
  it('count answers by method, route and status, whatever paths callers invent', async () => {
    const key = await probe.key('counted')
    const headers = { authorization: `ApiKey ${key}` }
    for (let count = 0; count < 3; count++) await probe.app.inject({ url: '/api/v1/probe/mine', headers })
    for (let count = 0; count < 5; count++) await probe.app.inject(`/invented-${count}`)
    const text = await metrics.registry.metrics()
    expect(text).toContain('http_requests_total{method="GET",route="/api/v1/probe/:id",status="200"} 3')
    expect(text).toContain('http_requests_total{method="GET",route="unknown",status="404"} 5')
    expect(text).toContain('http_request_duration_seconds_count{route="/api/v1/probe/:id"} 3')
    expect(text).not.toContain('invented')
    expect(text).toContain('nodejs_heap_size_used_bytes')
  })

  it('time the questions to ClickHouse by label, and count where reports come from and what limits refuse', async () => {
    const { stores } = probe
    const own = openTelemetry()
    const app = await buildApp({ settings: stores.settings, stores, now: () => testNowMs, telemetry: own })
    const headers = { authorization: `ApiKey ${await probe.key('timed')}` }
    for (let count = 0; count < 2; count++) await app.inject({ url: '/api/v1/stats/daily?days=1', headers })
    await app.inject({ url: '/api/v1/clicks', headers })
    for (let count = 0; count < 121; count++) {
      await app.inject({ url: '/api/v1/clicks', headers: { authorization: 'ApiKey wrong' } })
    }
    const text = await own.registry.metrics()
    expect(text).toContain('clickhouse_query_duration_seconds_count{label="stats.daily"} 1')
    expect(text).toMatch(/clickhouse_query_duration_seconds_count\{label="clicks.page"\} [1-9]/)
    expect(text).toContain('report_answers_total{from="run"} 1')
    expect(text).toContain('report_answers_total{from="kept"} 1')
    expect(text).toContain('rate_limit_denials_total{limit="address"} 1')
    await app.close()
  })

  it('tell how long the sums of an import have been unconfirmed', async () => {
    const { stores } = probe
    await probe.key('importing')
    const age = async () => {
      const text = await metrics.registry.getSingleMetricAsString('rollups_unconfirmed_age_seconds')
      return Number(/^rollups_unconfirmed_age_seconds (\S+)$/m.exec(text)?.[1])
    }
    expect(await age()).toBe(0)
    await stores.postgres`
      INSERT INTO import_batches (token, account_id, resource, first_at, last_at, created_at)
      VALUES ('left', 'importing', 'clicks', now(), now(), now() - interval '1 hour')`
    expect(await age()).toBeGreaterThanOrEqual(3_600)
    await stores.postgres`DELETE FROM import_batches`
    expect(await age()).toBe(0)
  })

  it('do not wait for a Postgres that hangs', async () => {
    vi.useFakeTimers()
    try {
      const age = rollupAgeS((() => new Promise(() => {})) as unknown as Postgres)
      vi.advanceTimersByTime(2_000)
      expect(await age).toBeNaN()
    } finally {
      vi.useRealTimers()
    }
  })

  it('are served apart from the API', async () => {
    const { port, stop } = await serveTelemetry(metrics, 0)
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`)
    expect(answer.status).toBe(200)
    expect(await answer.text()).toContain('http_requests_total')
    expect((await fetch(`http://127.0.0.1:${port}/other`)).status).toBe(404)
    stop()
    expect((await probe.app.inject('/metrics')).statusCode).toBe(404)
  })
})

// @module-tag long

import { execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { packageRoot } from '../../src/package.ts'
import { serve, start } from '../cli/runCommand.ts'
import { importContent } from '../import/runImport.ts'
import { makeAccountWithKey } from '../kit/accounts.ts'
import { useFolder, useTestStores } from '../kit/fixtures.ts'
import { isInstalled } from '../kit/isInstalled.ts'
import { hasRedis, startRedis } from '../kit/redis.ts'
import { storeMetadata } from '../kit/rows.ts'
import { freePort } from '../kit/serverProcess.ts'
import { type AlertRule, alertRules, alertValue, rulesFile } from './prometheusRules.ts'

const folder = useFolder()

/** Series by their labels, with a value per minute in the notation of promtool: `1+2x3` is 1 3 5 7. */
type Series = Record<string, string>

/** When an alert fires, the labels that it has then, and when it stays silent. */
interface AlertCase {
  fires: Series
  labels: Record<string, string>
  silent: Series
}

const one = { instance: 'one' }
const buckets = (name: string, labels: string, slowFrom: string) => ({
  [`${name}_bucket{instance="one",${labels},le="0.5"}`]: slowFrom === '0.5' ? '0x30' : '0+60x30',
  [`${name}_bucket{instance="one",${labels},le="5"}`]: '0+60x30',
  [`${name}_bucket{instance="one",${labels},le="+Inf"}`]: '0+60x30',
})
/** A gauge whose store does not respond; promtool repeats no NaN. */
const nan = 'NaN '.repeat(20).trim()
/** The alert of a gauge of one instance. */
const gauge = (name: string, fires: string, silent: string): AlertCase => {
  const series = (values: string) => ({ [`${name}{instance="one"}`]: values })
  return { fires: series(fires), labels: one, silent: series(silent) }
}
const denials = (limit: string): AlertCase => {
  const series = (of: string, values: string) => ({
    [`rate_limit_denials_total{instance="one",limit="${of}"}`]: values,
  })
  return {
    fires: series(limit, '0+1x30'),
    labels: one,
    silent: { ...series(limit, '7x30'), ...series('key', '0+1x30') },
  }
}
const insert = 'step="insert"'
const report = 'label="reports"'

const cases: Record<string, AlertCase> = {
  TributaryDown: {
    fires: { 'up{job="tributary",instance="one"}': '1x5 0x25' },
    labels: { job: 'tributary', ...one },
    silent: { 'up{job="tributary",instance="one"}': '1x30', 'up{job="other",instance="one"}': '0x30' },
  },
  TributaryBug: {
    fires: { 'http_requests_total{instance="one",method="GET",route="/r",status="500"}': '0x15 1x15' },
    labels: { ...one, method: 'GET', route: '/r' },
    silent: {
      'http_requests_total{instance="one",method="GET",route="/r",status="500"}': '3x30',
      'http_requests_total{instance="one",method="GET",route="/r",status="200"}': '0+9x30',
    },
  },
  TributaryUnavailable: {
    fires: {
      'http_requests_total{instance="one",route="/r",status="503"}': '0+4x30',
      'http_requests_total{instance="one",route="/s",status="503"}': '0+4x30',
    },
    labels: one,
    silent: {
      'http_requests_total{instance="one",route="/r",status="503"}': '0+5x30',
      'http_requests_total{instance="one",route="/r",status="200"}': '0+90x30',
    },
  },
  TributaryDiskFull: gauge('clickhouse_disk_used_ratio', '0.81x30', `0.8x10 ${nan}`),
  TributaryNodeDown: {
    fires: {
      'clickhouse_node_up{instance="one",node="http://two:8123"}': '0x30',
      'clickhouse_node_up{instance="other",node="http://two:8123"}': '1x30',
    },
    labels: { node: 'http://two:8123' },
    silent: { 'clickhouse_node_up{instance="one",node="http://two:8123"}': '1x30' },
  },
  TributarySlowInserts: {
    fires: buckets('event_flush_duration_seconds', insert, '0.5'),
    labels: one,
    silent: {
      ...buckets('event_flush_duration_seconds', insert, '5'),
      ...buckets('event_flush_duration_seconds', 'step="look_up"', '0.5'),
    },
  },
  TributaryEventsQueued: gauge('events_queued', '4001x30', '4000x30'),
  TributarySlowQueries: {
    fires: buckets('clickhouse_query_duration_seconds', report, '0.5'),
    labels: { ...one, label: 'reports' },
    silent: buckets('clickhouse_query_duration_seconds', report, '5'),
  },
  TributaryRefusedKeys: denials('address'),
  TributaryTooManyReads: denials('queries'),
  TributaryEventCeiling: {
    fires: { 'events_total{instance="one",outcome="over_ceiling"}': '0x5 1x25' },
    labels: one,
    silent: {
      'events_total{instance="one",outcome="over_ceiling"}': '1x30',
      'events_total{instance="one",outcome="stored"}': '0+9x30',
    },
  },
  TributaryRedisDown: gauge('redis_up', '0x30', '1x30'),
  TributaryUnconfirmedSums: gauge('sums_unconfirmed_age_seconds', '901x30', `900x10 ${nan}`),
  TributaryKeyExpiring: gauge('api_keys_expiring', '1x30', `0x10 ${nan}`),
  TributaryOverloaded: gauge('nodejs_eventloop_lag_p99_seconds', '0.3x30', '0.2x30'),
  TributaryNoNewClicks: {
    fires: { 'newest_row_age_seconds{instance="one",resource="clicks"}': '21601x30' },
    labels: { ...one, resource: 'clicks' },
    silent: {
      'newest_row_age_seconds{instance="one",resource="clicks"}': '21600x30',
      'newest_row_age_seconds{instance="one",resource="costs"}': '90000x30',
    },
  },
  TributaryFeedBehind: gauge('tributary_feed_oldest_row_age_seconds', '61x30', '60x30'),
}

const hasPrometheus = isInstalled('prometheus')

describe.skipIf(!hasPrometheus)('deploy/prometheus-rules.yaml', () => {
  it('has an example of each alert', () => {
    expect(Object.keys(cases)).toEqual(alertRules.map(({ alert }) => alert))
  })

  it.each(alertRules)('$alert fires when it should, and not otherwise', (rule) => {
    const { fires, labels, silent } = cases[rule.alert] as AlertCase
    const firing = { exp_labels: { ...labels, ...rule.labels }, exp_annotations: rule.annotations }
    const file = folder(`${rule.alert}.json`)
    const tests = [testOf(rule, fires, [firing]), testOf(rule, silent, [])]
    writeFileSync(file, JSON.stringify({ rule_files: [rulesFile], evaluation_interval: '1m', tests }))
    execFileSync('promtool', ['test', 'rules', file], { encoding: 'utf8' })
  })
})

/** A test of promtool, whose files may be JSON. */
function testOf({ alert }: AlertRule, series: Series, expected: object[]): object {
  return {
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    alert_rule_test: [{ eval_time: '20m', alertname: alert, exp_alerts: expected }],
  }
}

describe.skipIf(!hasPrometheus || !hasRedis())('a Prometheus that collects the metrics of a server', () => {
  const stores = useTestStores()

  it('returns rows for every expression of the rules and of the dashboard', async () => {
    const redis = await startRedis()
    onTestFinished(() => redis.close())
    const metricsPort = await freePort()
    const settings = { PORT: '0', METRICS_PORT: `${metricsPort}`, REDIS_URL: redis.url }
    const { printed, end } = await serve({ ...stores.environment, ...settings })
    const feedMetricsPort = await freePort()
    const sources = { FEED_PORT: `${await freePort()}`, FEED_TOKEN: 'x'.repeat(32), METRICS_PORT: `${feedMetricsPort}` }
    const feed = start(['feed'], { ...stores.environment, ...sources })
    onTestFinished(() => void feed.kill('SIGKILL'))
    const { key } = await makeAccountWithKey(stores, 'acme')
    await storeMetadata(stores, 'campaigns', 'acme', [{ id: 'camp' }])
    await importContent(stores, 'acme', 'clicks', [{ id: 'c1', clickedAt: '2026-01-05T00:00:00Z' }])
    const prometheus = await startPrometheus(metricsPort, feedMetricsPort)
    const all = [...alertRules.map(alertValue), ...dashboardExpressions()]
    // Only a cluster has nodes: test/replicas reads this metric.
    const expressions = all.filter((expression) => !expression.includes('clickhouse_node_up'))
    expect(expressions.length).toBeGreaterThan(20)
    for (const expression of expressions) {
      const readRows = async () => {
        await sendRequests(printed.url, key)
        return (await prometheus.query(expression)).length
      }
      await expect.poll(readRows, { message: expression }).toBeGreaterThan(0)
    }
    expect(await end()).toBe(0)
  })
})

async function sendRequests(url: string, key: string): Promise<void> {
  const headers = { authorization: `ApiKey ${key}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ visitor_id: 'v', campaign_id: 'camp', event_name: 'signup', event_id: randomUUID() })
  const responses = await Promise.all([
    fetch(`${url}/api/v1/stats/overview`, { headers }),
    fetch(`${url}/api/v1/events`, { method: 'POST', headers, body }),
  ])
  expect(responses.map(({ status }) => status)).toEqual([200, 200])
}

/** Expressions of all panels, for all instances. */
function dashboardExpressions(): string[] {
  const { panels } = JSON.parse(readFileSync(join(packageRoot, 'deploy/grafana-dashboard.json'), 'utf8')) as {
    panels: { targets: { expr: string }[] }[]
  }
  expect(panels.length).toBeGreaterThanOrEqual(8)
  const targets = panels.flatMap((panel) => panel.targets)
  return targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '1m').replaceAll('$instance', '.+'))
}

/** Starts a Prometheus for one test, which scrapes processes each second as the job of the rules. */
async function startPrometheus(
  ...metricsPorts: number[]
): Promise<{ query: (expression: string) => Promise<unknown[]> }> {
  const port = await freePort()
  const config = {
    global: { scrape_interval: '1s' },
    rule_files: [rulesFile],
    scrape_configs: [
      { job_name: 'tributary', static_configs: [{ targets: metricsPorts.map((metrics) => `127.0.0.1:${metrics}`) }] },
    ],
  }
  writeFileSync(folder('prometheus.json'), JSON.stringify(config))
  const words = [`--config.file=${folder('prometheus.json')}`, `--storage.tsdb.path=${folder('data')}`]
  const child = spawn('prometheus', [...words, `--web.listen-address=127.0.0.1:${port}`], { stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  const url = `http://127.0.0.1:${port}`
  await expect.poll(async () => (await fetch(`${url}/-/ready`).catch(() => undefined))?.status).toBe(200)
  return {
    async query(expression) {
      const response = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(expression)}`)
      const { data } = (await response.json()) as { data: { result: unknown[] } }
      return data.result
    },
  }
}

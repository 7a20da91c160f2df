import { Counter, Histogram } from 'prom-client'
import type { Metrics } from '../http/prometheusMetrics.ts'
import { importNames } from '../import/resourceNames.ts'
import type { RowQueue } from './queue.ts'
import { rowResults } from './rows.ts'

const flushBucketsS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** Opens the metrics of a feed. @param queue undefined while another feed is active */
export function openFeedMetrics(
  { registry, addGauge }: Pick<Metrics, 'registry' | 'addGauge'>,
  queue: () => RowQueue | undefined,
) {
  const registers = [registry]
  const rows = new Counter({
    name: 'tributary_feed_rows_total',
    help: 'Rows by resource and result; a row without a known resource has the resource "unknown".',
    labelNames: ['resource', 'result'],
    registers,
  })
  for (const resource of [...importNames, 'unknown']) for (const result of rowResults) rows.inc({ resource, result }, 0)
  const flushes = new Histogram({
    name: 'tributary_feed_flush_seconds',
    help: 'Duration of a flush in seconds, from the claim of its accounts to the results of its rows.',
    buckets: flushBucketsS,
    registers,
  })
  addGauge(
    'tributary_feed_oldest_row_age_seconds',
    'Age of the oldest row without a result, seconds; 0 without such rows.',
    async () => (queue()?.oldestAgeMs ?? 0) / 1_000,
  )
  addGauge('tributary_feed_waiting_rows', 'Rows without a result.', async () => queue()?.held.open ?? 0)
  const claimed = async () => queue()?.store.claims.size ?? 0
  addGauge('tributary_feed_claimed_accounts', 'Accounts that the feed has claimed.', claimed)
  return {
    countRow: (resource: string | undefined, result: string) => rows.inc({ resource: resource || 'unknown', result }),
    timeFlush: (seconds: number) => flushes.observe(seconds),
  }
}

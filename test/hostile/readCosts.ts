import { Agent } from 'node:http'
import { sendRequest } from '../faults/httpRequest.ts'

/** Reads that an account may send at any time, of the largest ranges and of an account with 60,000 campaigns. */
const costlyReads = {
  'comparison of 744 hours': '/stats/daily?interval=hour&from=2026-10-10&to=2026-11-09&compare=previous_period',
  'comparison of 366 days': '/reports?group_by=day&from=2025-11-22&to=2026-11-22&compare=previous_year',
  'comparison with another range':
    '/stats/daily?from=2025-11-22&to=2026-11-22&compare_from=2023-01-01&compare_to=2024-01-01',
  'search in names of campaigns': '/conversions/search?q=aaaa',
  'search of campaigns': '/campaigns/search?q=aaaa&limit=200',
  'export of rows with names': '/clicks?format=ndjson',
  'export of campaigns': '/campaigns?format=ndjson',
  'export of campaigns as Parquet': '/campaigns?format=parquet',
} as const

/** Zones with clock changes, offsets of quarters of an hour, and a skipped day; each read has another one, so none is cached. */
const zones = ['America/New_York', 'Asia/Kathmandu', 'Pacific/Apia', 'Australia/Lord_Howe', 'America/Santiago']

/** The measurement adds its own period to each value. */
const resolutionMs = 10

/**
 * Measures for how long the server responds to no other request during one allowed read.
 * @returns the longest time that the event loop was blocked, ms, by read: the least of several measurements, without the
 *   pauses that have other causes
 */
export async function measureReadCosts(
  port: number,
  metricsPort: number,
  key: string,
): Promise<Record<string, number>> {
  const agent = new Agent({ keepAlive: true })
  /** Reading the metric starts its next period. */
  const readBlockedMs = async () => {
    const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
    const [, seconds] = /^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(text) ?? []
    return Number(seconds) * 1000 - resolutionMs
  }
  const costs: Record<string, number> = {}
  for (const [name, path] of Object.entries(costlyReads)) {
    const measured: number[] = []
    for (const zone of zones) {
      const zoned = path.includes('compare') ? `${path}&tz=${zone}` : path
      await readBlockedMs()
      const response = await sendRequest(agent, { port }, { method: 'GET', path: `/api/v1${zoned}`, key })
      if (response?.status !== 200) throw new Error(`${name}: ${response?.status} ${response?.body.slice(0, 200)}`)
      measured.push(await readBlockedMs())
    }
    costs[name] = Math.round(Math.min(...measured) * 10) / 10
  }
  agent.destroy()
  return costs
}

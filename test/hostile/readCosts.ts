import { existsSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { Agent } from 'node:http'
import { sendRequest } from '../faults/httpRequest.ts'
import { until } from '../kit/until.ts'
import type { Accounts } from './accounts.ts'
import { costlyTrees } from './filterTrees.ts'

/** Paths by description. */
type Reads = Readonly<Record<string, string>>

/** Reads that an account may send at any time, of the largest ranges and of an account with 60,000 campaigns and offers. */
const costlyReads: Reads = {
  'comparison of 744 hours': '/stats/daily?interval=hour&from=2026-10-10&to=2026-11-09&compare=previous_period',
  'comparison of 366 days': '/stats/daily?from=2025-11-22&to=2026-11-22&compare=previous_year',
  'comparison with another range':
    '/stats/daily?from=2025-11-22&to=2026-11-22&compare_from=2023-01-01&compare_to=2024-01-01',
  'search in names of campaigns': '/conversions/search?q=aaaa',
  'search of campaigns': '/campaigns/search?q=aaaa&limit=200',
  'report by the networks of 60,000 offers': '/reports?group_by=affiliate_network&days=365',
  'report of 60,000 offers of networks': `/reports?group_by=sub1&filters=${encodeURIComponent('[["contains","affiliate_network",["n"]]]')}`,
  'export of rows with names': '/clicks?format=ndjson',
  'export of campaigns': '/campaigns?format=ndjson',
  'export of campaigns as Parquet': '/campaigns?format=parquet',
  ...Object.fromEntries(
    Object.entries(costlyTrees).map(([name, tree]) => [
      `report with ${name}`,
      `/reports?group_by=country&days=365&filters=${encodeURIComponent(tree)}`,
    ]),
  ),
}

/** Reads of the account with the longest texts. */
const longReads: Reads = {
  'report by long texts': '/reports?group_by=sub1,sub2,sub3&compare=previous_period',
  'report by long texts as CSV': '/reports?group_by=sub1,sub2,sub3&compare=previous_period&format=csv&csv_bom=true',
  'report by long texts, by change': '/reports?group_by=sub1,sub2,sub3&compare=previous_period&sort=-change.clicks',
  'report by 10,000 names of events': '/reports?group_by=event_name&metrics=events,eventVisitors',
  'report by long properties': '/reports?group_by=property:text&metrics=events&compare=previous_period',
  'report of long properties': `/reports?group_by=day&metrics=events&filters=${encodeURIComponent('[["contains","property:text",["x"]]]')}`,
  'clicks with long texts': '/clicks?limit=200',
  'clicks with long texts, oldest first': '/clicks?limit=200&order=asc',
  'clicks with long texts of a country': '/clicks?limit=200&country=DE',
  'export of long texts': '/clicks?format=ndjson&country=DE',
  'journey of long texts': '/journeys?limit=200&visitor_id=visitor',
  'campaigns with long tags': '/campaigns?limit=200',
  'search of long tags': '/campaigns/search?limit=200&q=%C3%A9%C3%A9',
  'export of campaigns with long tags': '/campaigns?format=ndjson',
  'export of campaigns with long tags as CSV': '/campaigns?format=csv',
  'export of campaigns with long tags as Parquet': '/campaigns?format=parquet',
}

/** Zones with clock changes, offsets of quarters of an hour, and a skipped day; each read has another one, so none is cached. */
const zones = ['America/New_York', 'Asia/Kathmandu', 'Pacific/Apia', 'Australia/Lord_Howe', 'America/Santiago']

/**
 * Measures for how long the server responds to no other request during one allowed read.
 * @param server with `longestTurn.mjs`, which writes to `file`
 * @returns CPU time of the longest turn of the event loop, ms, by read: the median of several measurements, since a turn can
 *   include a garbage collection or another request
 */
export async function measureReadCosts(
  port: number,
  { pid, file }: { pid: number; file: string },
  { searching, long }: Accounts,
): Promise<Record<string, number>> {
  const agent = new Agent({ keepAlive: true })
  const costs: Record<string, number> = {}
  const readsOf = (key: string, reads: Reads) => Object.entries(reads).map(([name, path]) => ({ key, name, path }))
  for (const { key, name, path } of [...readsOf(searching, costlyReads), ...readsOf(long, longReads)]) {
    const measured: number[] = []
    for (const zone of zones) {
      const zoned = /^\/(stats|reports)/.test(path) ? `${path}&tz=${zone}` : path
      await rm(file, { force: true })
      process.kill(pid, 'SIGUSR2')
      const response = await sendRequest(agent, { port }, { method: 'GET', path: `/api/v1${zoned}`, key })
      process.kill(pid, 'SIGUSR2')
      if (response?.status !== 200) throw new Error(`${name}: ${response?.status} ${response?.body.slice(0, 200)}`)
      await until(() => existsSync(file))
      measured.push(Number(await readFile(file, 'utf8')))
    }
    const median = measured.toSorted((a, b) => a - b)[Math.floor(measured.length / 2)] ?? Number.NaN
    costs[name] = Math.round(median * 10) / 10
  }
  agent.destroy()
  return costs
}

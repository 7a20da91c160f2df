import type { CompareData } from './compareData.ts'

/** A read of both commits. */
export interface CompareRead {
  name: string
  /** Below /api/v1. Each number has another path, where responses are cached for two seconds. */
  path(number: number): string
  /** The part of the first response that must be equal for both commits. */
  facts(body: string): unknown
  /** The largest CPU time relative to the commit of the goals. */
  goal?: number
  /** Whether the short form has it. */
  isShort?: boolean
  /** Of each turn, instead of the default. */
  requests?: number
  /** Requests at the same time (1). */
  connections?: number
}

const dayMs = 86_400_000

interface Listed {
  data: { id: string }[]
}
interface Report extends Listed {
  totals: { clicks: number; conversions: number }
}

const idsOf = (body: string) => (JSON.parse(body) as Listed).data.map(({ id }) => id)
const totalsOf = (body: string) => {
  const { totals } = JSON.parse(body) as Report
  return [totals.clicks, totals.conversions]
}
const linesOf = (body: string) => body.split('\n').length
/** All IANA zones: each is another path. */
const zones = Intl.supportedValuesOf('timeZone')

/**
 * Checks that a report over all rows has the counts of the files.
 * @param get reads a path below /api/v1
 * @throws Error when the counts differ
 */
export async function checkTotals(data: CompareData, get: (path: string) => Promise<string>): Promise<void> {
  const path = `/reports?group_by=country&from=${dayBefore(data, 365)}&to=${dayBefore(data, 1)}`
  const reported = totalsOf(await get(path))
  const expected = [data.countedClicks, data.approvedConversions]
  if (`${reported}` !== `${expected}`) throw new Error(`The report counts ${reported}; the files have ${expected}.`)
}

/** The reads that are compared. */
export function compareReads(data: CompareData): CompareRead[] {
  const day = (daysAgo: number) => dayBefore(data, daysAgo)
  /** A range of whole days, another one for each number. */
  const range = (days: number, number: number) => {
    const first = 365 - (number % (366 - days))
    return `from=${day(first)}&to=${day(first - days + 1)}`
  }
  const report = (dimensions: string, days: number, rest: Partial<CompareRead> = {}, more = ''): CompareRead => ({
    name: `report by ${dimensions.replace(',', ' × ')}, ${days} days`,
    path: (number) => `/reports?group_by=${dimensions}&${range(days, number)}${more}`,
    facts: totalsOf,
    ...rest,
  })
  const list = (name: string, path: CompareRead['path'], rest: Partial<CompareRead> = {}): CompareRead => ({
    name,
    path,
    facts: idsOf,
    ...rest,
  })
  /** A page of the clicks before a day, another one for each number. */
  const before = (number: number) => `/clicks?limit=200&to=${day(40 + (number % 300))}`
  /** A whole list of a tenth of the clicks. */
  const exported = (format: string, facts: CompareRead['facts']) =>
    list(`clicks as ${format}`, () => `/clicks?format=${format}&from=${day(73)}&to=${day(37)}`, { facts, requests: 1 })
  return [
    report('country', 30, { goal: 1, isShort: true }),
    report('country', 30, { name: 'the same, compared', goal: 1, isShort: true }, '&compare=previous_period'),
    report('country', 30, { name: 'the same, two metrics', goal: 0.8 }, '&metrics=clicks,cost'),
    report('campaign', 30, { goal: 0.95, isShort: true }),
    report('campaign', 300),
    report('offer', 30),
    report('country', 30, { name: 'report by country of a campaign' }, '&campaign_id=cmp-1'),
    report('country,device', 30, { goal: 0.5, requests: 4 }),
    list('daily, 90 days in a zone', (number) => `/stats/daily?days=90&tz=${zones[number % zones.length]}`, {
      facts: (body) => (JSON.parse(body) as Listed).data.length,
    }),
    list('clicks, 200, newest', () => '/clicks?limit=200', { goal: 0.85, isShort: true }),
    list('clicks, 200, old', before, { goal: 0.75 }),
    list('clicks, 200, campaign', () => '/clicks?limit=200&campaign_id=cmp-1', { goal: 0.7, isShort: true }),
    list('clicks, 200, rare campaign', (number) => `${before(number)}&campaign_id=cmp-50`),
    list('clicks, 200, converted', (number) => `${before(number)}&converted=true`),
    list('conversions, 200', () => '/conversions?limit=200', { goal: 0.9, isShort: true }),
    list('search, 50, one in 3,000', () => '/conversions/search?q=placement-1234'),
    list('search, 50, everywhere', () => '/conversions/search?q=txn-'),
    list('one campaign', () => '/campaigns/cmp-5', { facts: (body) => (JSON.parse(body) as { id: string }).id }),
    exported('ndjson', linesOf),
    exported('csv', linesOf),
    exported('parquet', (body) => body.slice(0, 4)),
    {
      ...report('country', 30, { name: 'cached report', requests: 60, connections: 16 }),
      path: () => '/reports?group_by=country&days=30',
    },
  ]
}

function dayBefore({ untilMs }: CompareData, daysAgo: number): string {
  return new Date(untilMs - daysAgo * dayMs).toISOString().slice(0, 10)
}

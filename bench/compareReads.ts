import type { CompareData } from './compareData.ts'

/** A read of both commits. */
export interface CompareRead {
  name: string
  /** Below /api/v1. Each number has another path, so that no response comes from a cache. */
  path(number: number): string
  /** The part of the first response that must be equal for both commits. */
  facts(body: never): unknown
}

const dayMs = 86_400_000

interface Listed {
  data: { id: string }[]
}
interface Report extends Listed {
  totals: { clicks: number; conversions: number }
}

const idsOf = ({ data }: Listed) => data.map(({ id }) => id)
const totalsOf = ({ totals }: Report) => [totals.clicks, totals.conversions]
/** All IANA zones: each is another path. */
const zones = Intl.supportedValuesOf('timeZone')

/**
 * Checks that a report over all rows has the counts of the files.
 * @param get reads a path below /api/v1
 * @throws Error when the counts differ
 */
export async function checkTotals(data: CompareData, get: (path: string) => Promise<string>): Promise<void> {
  const path = `/reports?group_by=country&from=${dayBefore(data, 365)}&to=${dayBefore(data, 1)}`
  const reported = totalsOf(JSON.parse(await get(path)) as Report)
  const expected = [data.countedClicks, data.approvedConversions]
  if (`${reported}` !== `${expected}`) throw new Error(`The report counts ${reported}; the files have ${expected}.`)
}

/** The reads that are timed. */
export function compareReads(data: CompareData): CompareRead[] {
  const day = (daysAgo: number) => dayBefore(data, daysAgo)
  /** A range of whole days, another one for each number. */
  const range = (days: number, number: number) => {
    const first = 365 - (number % (366 - days))
    return `from=${day(first)}&to=${day(first - days + 1)}`
  }
  const report = (dimension: string, days: number, filter = ''): CompareRead => ({
    name: `report by ${dimension}, ${days} days${filter && ', one campaign'}`,
    path: (number) => `/reports?group_by=${dimension}&${range(days, number)}${filter}`,
    facts: totalsOf,
  })
  /** A page of the clicks before a day, another one for each number. */
  const pageOfClicks = (name: string, filter: string): CompareRead => ({
    name: `clicks, 200, ${name}`,
    path: (number) => `/clicks?limit=200&to=${day(1 + (number % 364))}${filter}`,
    facts: idsOf,
  })
  const page = (name: string, path: string): CompareRead => ({ name, path: () => path, facts: idsOf })
  return [
    report('country', 30),
    report('offer', 30),
    report('campaign', 300),
    report('country', 30, '&campaign_id=cmp-1'),
    {
      name: 'daily, 90 days in a zone',
      path: (number) => `/stats/daily?days=90&tz=${zones[number % zones.length]}`,
      facts: ({ data }: Listed) => data.length,
    },
    pageOfClicks('unfiltered', ''),
    pageOfClicks('rare campaign', '&campaign_id=cmp-50'),
    pageOfClicks('converted', '&converted=true'),
    page('conversions, 200', '/conversions?limit=200'),
    page('search, 50, one in 3,000', '/conversions/search?q=placement-1234'),
    page('search, 50, everywhere', '/conversions/search?q=txn-'),
    { name: 'one campaign', path: () => '/campaigns/cmp-5', facts: ({ id }: { id: string }) => id },
  ]
}

function dayBefore({ untilMs }: CompareData, daysAgo: number): string {
  return new Date(untilMs - daysAgo * dayMs).toISOString().slice(0, 10)
}

import type { Tributary } from 'tributary-client'
import type { ChangingResource } from './resources.ts'

/** Days of one request of checksums. */
const daysMax = 366
const dayMs = 86_400_000

/** The API that is copied. */
export interface Source {
  client: Tributary
  /** First UTC day to copy; undefined for all. */
  from: string | undefined
  signal: AbortSignal
}

/** UTC days, both included. */
export interface DayRange {
  from: string
  to: string
}

/** Checksums of one day, as in the API; the amount as decimal text. */
export interface DayChecksum {
  day: string
  rows: number
  amount: string
  hash: string
}

/** Checksums of the source. */
export interface SourceChecksums {
  asOf: string
  days: DayChecksum[]
  range: DayRange
}

/**
 * Reads the checksums of the days of a range.
 * @returns days with rows, in order
 */
export async function checksumsOf(
  { client, signal }: Source,
  { name, amount }: ChangingResource,
  range: DayRange,
): Promise<SourceChecksums> {
  const days: DayChecksum[] = []
  let asOf: string | undefined
  for (let from = range.from; from <= range.to; from = addDays(from, daysMax)) {
    const [to = range.to] = [addDays(from, daysMax - 1), range.to].sort()
    const query = { from, to }
    const path = name === 'clicks' ? '/checksums/clicks' : '/checksums/conversions'
    const response = await client.get(path, { query, signal })
    // The earliest time holds for all parts.
    asOf ??= response.asOf
    for (const day of response.data) {
      const sum = (day as unknown as Record<typeof amount, number>)[amount]
      days.push({ day: day.day, rows: day.rows, amount: `${sum}`, hash: day.hash })
    }
  }
  return { asOf: asOf ?? '', days, range }
}

/**
 * Finds the first and the last UTC day with rows in the source or in the copy.
 * @returns undefined if there are none
 */
export async function dayRange(
  { client, from, signal }: Source,
  resource: ChangingResource,
  copy: DayRange | undefined,
): Promise<DayRange | undefined> {
  const timeOf = (row: object | undefined) => {
    const times = row as { clickedAt?: string; convertedAt?: string } | undefined
    return (resource.name === 'clicks' ? times?.clickedAt : times?.convertedAt)?.slice(0, 10)
  }
  const page = async (order: 'asc' | 'desc') => {
    const query = { ...resource.query, ...(from && { from }), order, limit: 1 }
    return timeOf((await client.get(resource.path, { query, signal })).data[0])
  }
  const firsts = [await page('asc'), copy?.from].filter((day) => day !== undefined).sort()
  const lasts = [await page('desc'), copy?.to].filter((day) => day !== undefined).sort()
  const [first] = firsts
  const last = lasts.at(-1)
  return first && last ? { from: first, to: last } : undefined
}

function addDays(day: string, days: number): string {
  return new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10)
}

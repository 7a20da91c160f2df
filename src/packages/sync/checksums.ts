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

/** Checksums of one day, as in the API; the amount as decimal text, 0 for events. */
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
  /** The days that are compared: the source has removed the rows of earlier ones, and the copy keeps them. */
  range: DayRange
}

/**
 * Reads the checksums of the days of a range.
 * @returns days with rows, in order
 */
export async function checksumsOf(
  { client, signal }: Source,
  { path, amount }: ChangingResource,
  range: DayRange,
): Promise<SourceChecksums> {
  const days: DayChecksum[] = []
  let asOf: string | undefined
  let firstCompared = range.from
  for (let from = range.from; from <= range.to; from = addDays(from, daysMax)) {
    const [to = range.to] = [addDays(from, daysMax - 1), range.to].sort()
    const query = { from, to }
    const response = await client.get(`/checksums${path}`, { query, signal })
    // The earliest time holds for all parts.
    asOf ??= response.asOf
    const { retainedFrom = '' } = response as { retainedFrom?: string }
    if (retainedFrom.slice(0, 10) > firstCompared) firstCompared = retainedFrom.slice(0, 10)
    for (const day of response.data) {
      const amounts: Partial<Record<string, unknown>> = day
      days.push({ day: day.day, rows: day.rows, amount: `${amount ? amounts[amount] : 0}`, hash: day.hash })
    }
  }
  return { asOf: asOf ?? '', days, range: { ...range, from: firstCompared } }
}

/**
 * Finds the first and the last UTC day with rows in the source or in the copy.
 * @returns undefined if there are none
 */
export async function dayRange(
  source: Source,
  resource: ChangingResource,
  copy: DayRange | undefined,
): Promise<DayRange | undefined> {
  const times = await timeRange(source, resource)
  const firsts = [times?.from, copy?.from].filter((time) => time !== undefined).sort()
  const lasts = [times?.to, copy?.to].filter((time) => time !== undefined).sort()
  const [first] = firsts
  const last = lasts.at(-1)
  return first && last ? { from: first.slice(0, 10), to: last.slice(0, 10) } : undefined
}

/**
 * Reads the times of the first and the last row of the source.
 * @returns undefined if there are no rows
 */
export async function timeRange(
  { client, from, signal }: Source,
  resource: ChangingResource,
): Promise<{ from: string; to: string } | undefined> {
  const page = async (order: 'asc' | 'desc') => {
    const query = { ...resource.query, ...(from && { from }), order, limit: 1 }
    const [row] = (await client.get(resource.path, { query, signal })).data
    const times: Partial<Record<ChangingResource['time'], string | null>> | undefined = row
    return times?.[resource.time]
  }
  const [first, last] = [await page('asc'), await page('desc')]
  return first && last ? { from: first, to: last } : undefined
}

/**
 * Whether the source has not removed the rows of a day by age. It announces a removal before it removes rows, so an export that ends
 * before the answer is complete.
 */
export async function isRetained(
  { client, signal }: Source,
  { path, query }: ChangingResource,
  day: string,
): Promise<boolean> {
  const page = await client.get(path, { query: { ...query, from: day, to: day, limit: 1 }, signal })
  const { retainedFrom = '' } = page as { retainedFrom?: string }
  return retainedFrom.slice(0, 10) <= day
}

function addDays(day: string, days: number): string {
  return new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10)
}

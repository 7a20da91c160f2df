import type { Tributary } from 'tributary-client'
import { isCount, isDay, isHash, isInstant, received, receivedRetainedDay, receivedRows } from './received.ts'
import type { ChangingResource } from './resources.ts'

/** Days of one request of checksums. */
const daysMax = 366
const dayMs = 86_400_000

export interface CopySource {
  client: Tributary
  /** First UTC day to copy; undefined for all. */
  from: string | undefined
  signal: AbortSignal
}

/** UTC days, or times of rows; both ends are included. */
export type Span = { from: string; to: string }

/** Checksums of one day, as in the API; the amount as decimal text, 0 for events. */
export type DayChecksum = { day: string; rows: number; amount: string; hash: string }

export interface SourceChecksums {
  asOf: string
  days: DayChecksum[]
  /** The days that are compared: the source has removed the rows of earlier ones, and the copy keeps them. */
  range: Span
}

/**
 * Reads the checksums of the days of a range.
 * @returns days with rows, in order
 * @throws TemporaryError
 */
export async function requestChecksums(
  { client, signal }: CopySource,
  { path, amount }: ChangingResource,
  range: Span,
): Promise<SourceChecksums> {
  const isAmount = (value: unknown): value is number => Number.isFinite(value)
  const days: DayChecksum[] = []
  let asOf: string | undefined
  let firstCompared = range.from
  for (let from = range.from; from <= range.to; from = addDays(from, daysMax)) {
    const [to = range.to] = [addDays(from, daysMax - 1), range.to].sort()
    const url = `/checksums${path}` as const
    const response = await client.get(url, { query: { from, to }, signal })
    // The earliest time holds for all parts.
    asOf ??= received(url, 'asOf', response.asOf, isInstant)
    const retainedDay = receivedRetainedDay(url, response)
    if (retainedDay > firstCompared) firstCompared = retainedDay
    let before = ''
    for (const row of receivedRows(url, response)) {
      const isNext = (day: unknown): day is string => isDay(day) && day >= from && day <= to && day > before
      const day = received(url, `day, asked from ${from} to ${to},`, row.day, isNext)
      const rows = received(url, 'rows', row.rows, isCount)
      const hash = received(url, 'hash', row.hash, isHash)
      days.push({ day, rows, amount: `${amount ? received(url, amount, row[amount], isAmount) : 0}`, hash })
      before = day
    }
  }
  return { asOf: asOf ?? '', days, range: { ...range, from: firstCompared } }
}

/**
 * Finds the first and the last UTC day with rows in the source or in the copy.
 * @param times of the first and last row of the source
 * @returns undefined if there are none
 */
export function dayRange(times: Span | undefined, copy: Span | undefined): Span | undefined {
  const days = [times?.from, times?.to, copy?.from, copy?.to].flatMap((time) => time?.slice(0, 10) ?? []).sort()
  const [from, to] = [days[0], days.at(-1)]
  return from && to ? { from, to } : undefined
}

/**
 * Reads the times of the first and the last row of the source, and the last row.
 * @returns undefined if there are no rows
 */
export async function timeRange({ client, from, signal }: CopySource, resource: ChangingResource) {
  const page = async (order: 'asc' | 'desc') => {
    const query = { ...resource.query, ...(from && { from }), order, limit: 1 }
    const [row] = receivedRows(resource.path, await client.get(resource.path, { query, signal }))
    const isInRange = (time: unknown): time is string => isInstant(time) && time >= (from ?? '')
    return row && { row, time: received(resource.path, resource.time, row[resource.time], isInRange) }
  }
  const [first, last] = await Promise.all([page('asc'), page('desc')])
  return first && last && first.time <= last.time ? { from: first.time, to: last.time, row: last.row } : undefined
}

/**
 * Whether the source has not removed the rows of a day by age. It announces a removal before it removes rows, so an export that ends
 * before the answer is complete.
 */
export async function isRetained(source: CopySource, resource: ChangingResource, day: string): Promise<boolean> {
  return (await retainedDay(source, resource, day)) <= day
}

/** @returns the first day of rows that the source has not removed by age; empty if it has not removed rows from `day` on */
export async function retainedDay({ client, signal }: CopySource, { path, query }: ChangingResource, day: string) {
  const page = await client.get(path, { query: { ...query, from: day, to: day, limit: 1 }, signal })
  return receivedRetainedDay(path, page)
}

const addDays = (day: string, days: number) => new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10)

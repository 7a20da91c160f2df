import type { RetainedRanges } from '../stores/postgres/retainedRanges.ts'
import type { ListedResource } from './readContext.ts'
import { toInstantText } from './timeRange.ts'

/** The field of a response that reads rows from a time before the rows that are retained. */
export type RetainedFrom = { retainedFrom?: string }

/**
 * @param fromMs from when rows are read, epoch milliseconds; undefined: all
 * @param retainedMs from when rows are retained, epoch milliseconds; 0: all
 */
export function retainedFrom(fromMs: number | undefined, retainedMs: number): RetainedFrom {
  return Math.max(fromMs ?? 0, 0) < retainedMs ? { retainedFrom: toInstantText(retainedMs) } : {}
}

/** @returns from when rows of a resource are retained, epoch milliseconds; 0: all */
export function retainedMsOf(resource: ListedResource, { clicksMs, eventsMs }: RetainedRanges): number {
  return { clicks: clicksMs, conversions: 0, costs: clicksMs, events: eventsMs }[resource]
}

/** Moves the start of a range to the first retained row: the rest of it has none. */
export function onlyRetained<Range extends { fromMs?: number | undefined }>(range: Range, retainedMs: number): Range {
  return (range.fromMs ?? 0) < retainedMs ? { ...range, fromMs: retainedMs } : range
}

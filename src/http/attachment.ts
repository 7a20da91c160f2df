import type { RowFormat } from '../../schema/rowFormat.ts'
import type { Range } from '../query/timeRange.ts'
import { atInstant, startOfDate } from '../query/timeZone.ts'

/** What the name of a downloaded file says. */
export interface FileContent {
  resource: string
  accountId: string
  /** Absent if the resource has no range. */
  range?: Partial<Range>
  /** IANA name of the time zone of the range; UTC by default. */
  tz?: string
}

/**
 * The header that makes a browser save a response as a file:
 * `clicks_from_2026-11-01_to_2026-11-20_acme.csv`. An end of the range that is not a midnight has its local time.
 */
export function attachmentHeader({ resource, accountId, range = {}, tz = 'UTC' }: FileContent, format: RowFormat) {
  const { fromMs, untilMs } = range
  const parts = [
    resource,
    ...(fromMs === undefined ? [] : ['from', endText(fromMs, tz, 0)]),
    ...(untilMs === undefined ? [] : ['to', endText(untilMs, tz, 1)]),
    accountId,
  ]
  return { 'content-disposition': `attachment; filename="${parts.join('_').replaceAll(':', '-')}.${format}"` }
}

/** @param daysBefore how many days the last date of the range is before a midnight at this end */
function endText(epochMs: number, tz: string, daysBefore: 0 | 1): string {
  const local = atInstant(epochMs, tz).toPlainDateTime()
  const date = local.toPlainDate()
  return `${startOfDate(date, tz) === epochMs ? date.subtract({ days: daysBefore }) : local}`
}

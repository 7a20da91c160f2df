import { dateFormat } from './formatters.ts'
import type { Dates } from './ranges.ts'

const dayMs = 86_400_000

const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()

/** The time zone of the browser; UTC if it has none that it knows, such as Etc/Unknown. */
export const ownZone = timeZone && isZone(timeZone) ? timeZone : 'UTC'

/** The date of a moment in a time zone, such as `2026-11-21`. */
export function dateIn(zone: string, epochMs: number): string {
  // Swedish dates have this form.
  return dateFormat({ locale: 'sv', timeZone: zone }).format(epochMs)
}

/** The dates of the range of a response, in a time zone. */
export function datesIn(zone: string, { from, to }: Dates): Dates {
  return { from: dateIn(zone, Date.parse(from)), to: dateIn(zone, Date.parse(to) - 1) }
}

/** Whether a range ends within a day of a time zone, as one that ends at the present time of day does. */
export const endsWithinDay = (zone: string, range: Dates | undefined): boolean =>
  range !== undefined && datesIn(zone, range).to === dateIn(zone, Date.parse(range.to))

export const addDays = (date: string, days: number): string =>
  new Date(Date.parse(date) + days * dayMs).toISOString().slice(0, 10)

export function endOfMonth(date: string): string {
  const [year = 0, month = 0] = date.split('-').map(Number)
  return new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10)
}

export const daysBetween = (from: string, to: string): number =>
  Math.round((Date.parse(to) - Date.parse(from)) / dayMs) + 1

export function isDate(text: string | null): text is string {
  // TRAP: February 30 parses as a day in March.
  return text !== null && !Number.isNaN(Date.parse(text)) && addDays(text, 0) === text
}

export function isZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
    return true
  } catch {
    return false
  }
}

/** Whether units of the series, named by the API, have begun at a moment. */
export function begunAt(zone: string, epochMs: number): (id: string) => boolean {
  const date = dateIn(zone, epochMs)
  return (id) => (id.includes('T') ? Date.parse(id) <= epochMs : id <= date)
}

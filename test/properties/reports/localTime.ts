import type { RangeName } from '../../../schema/range.ts'

// Local times by Intl and plain arithmetic; independent of the library that the program uses.

const dayMs = 86_400_000
const formats = new Map<string, Intl.DateTimeFormat>()

/** @returns `2026-10-25T02:30:00.000+02:00` */
export function localText(epochMs: number, zone: string): string {
  const offsetMs = offsetOf(epochMs, zone)
  const minutes = Math.abs(offsetMs) / 60_000
  const two = (value: number) => String(value).padStart(2, '0')
  const offset = `${offsetMs < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
  return `${new Date(epochMs + offsetMs).toISOString().slice(0, -1)}${offset}`
}

/** @returns the UTC offset of a zone at an instant, milliseconds */
function offsetOf(epochMs: number, zone: string): number {
  const format =
    formats.get(zone) ?? new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' })
  formats.set(zone, format)
  const wholeSecondMs = Math.floor(epochMs / 1000) * 1000
  return Date.parse(`${format.format(wholeSecondMs).replace(' ', 'T')}Z`) - wholeSecondMs
}

/**
 * Finds the instant of a local time.
 * @param local epoch milliseconds as if the local time were UTC
 * @returns the first one of a repeated time; for a skipped time, the instant that the clock before the change would show
 */
export function instantOf(local: number, zone: string): { epochMs: number; exists: boolean } {
  const offsets = [offsetOf(local - dayMs, zone), offsetOf(local + dayMs, zone)]
  const instants = offsets.map((offset) => local - offset).sort((a, b) => a - b)
  const found = instants.find((epochMs) => epochMs + offsetOf(epochMs, zone) === local)
  return { epochMs: found ?? local - (offsets[0] ?? 0), exists: found !== undefined }
}

/** @returns the instant of a local time that a caller sends: the moment of the change for a skipped time */
export function sentInstantOf(local: number, zone: string): number {
  const { epochMs, exists } = instantOf(local, zone)
  if (exists) return epochMs
  let atMs = epochMs - (epochMs % 60_000)
  while (atMs - 60_000 + offsetOf(atMs - 60_000, zone) > local) atMs -= 60_000
  return atMs
}

export function startOfDate(date: string, zone: string): number {
  return instantOf(Date.parse(date), zone).epochMs
}

export function dateOf(epochMs: number, zone: string): string {
  return localText(epochMs, zone).slice(0, 10)
}

export function addDays(date: string, days: number): string {
  return new Date(Date.parse(date) + days * dayMs).toISOString().slice(0, 10)
}

/** @returns the date one year earlier; 28 February for 29 February */
export function yearBefore(date: string): string {
  const earlier = `${String(Number(date.slice(0, 4)) - 1).padStart(4, '0')}${date.slice(4)}`
  return addDays(earlier, 0) === earlier ? earlier : earlier.replace('02-29', '02-28')
}

/** The dates of a calendar range, the last one included. */
export function datesOfRange(name: RangeName, today: string): { from: string; to: string } {
  if (name === 'today') return { from: today, to: today }
  if (name === 'yesterday') return { from: addDays(today, -1), to: addDays(today, -1) }
  const from = startOfUnit(name, today)
  if (name.startsWith('this')) return { from, to: today }
  const to = addDays(from, -1)
  return { from: startOfUnit(name, to), to }
}

function startOfUnit(name: RangeName, date: string): string {
  if (name.endsWith('week')) return addDays(date, -((new Date(date).getUTCDay() + 6) % 7))
  if (name.endsWith('year')) return `${date.slice(0, 4)}-01-01`
  const month = Number(date.slice(5, 7)) - (name.endsWith('quarter') ? (Number(date.slice(5, 7)) - 1) % 3 : 0)
  return `${date.slice(0, 5)}${String(month).padStart(2, '0')}-01`
}

/** The same day of the unit before; the last day of its month if the month lacks it. */
export function dateBefore(name: RangeName, date: string): { date: string; isLacking: boolean } {
  if (name === 'today' || name === 'yesterday') return { date: addDays(date, -1), isLacking: false }
  if (name.endsWith('week')) return { date: addDays(date, -7), isLacking: false }
  const months = name.endsWith('year') ? 12 : name.endsWith('quarter') ? 3 : 1
  const [year = 0, month = 0, day = 0] = date.split('-').map(Number)
  const first = new Date(Date.UTC(year, month - 1 - months, 1))
  const days = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate()
  const text = first.toISOString().slice(0, 8)
  return { date: `${text}${String(Math.min(day, days)).padStart(2, '0')}`, isLacking: day > days }
}

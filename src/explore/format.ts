import type { MetricKind } from './metrics.ts'
import type { Dates } from './ranges.ts'

export const noValue = '–'

/** The value of a metric; undefined: the response does not have the metric. */
export type Value = number | null | undefined

const formats: Record<MetricKind, (currency: string) => Intl.NumberFormatOptions> = {
  count: () => ({}),
  amount: (currency) => ({ style: 'currency', currency, currencyDisplay: 'narrowSymbol' }),
  rate: (currency) => {
    const amount = formats.amount(currency)
    const { maximumFractionDigits = 2 } = new Intl.NumberFormat(undefined, amount).resolvedOptions()
    return { ...amount, ...digits(maximumFractionDigits + 2) }
  },
  percent: () => ({ style: 'unit', unit: 'percent', ...digits(2) }),
}

/** Always as many decimals, so that the numbers of a column align. */
function digits(count: number): Intl.NumberFormatOptions {
  return { minimumFractionDigits: count, maximumFractionDigits: count }
}

const cache = new Map<string, Intl.NumberFormat>()

/**
 * Formats the value of a metric in the language of the browser.
 * @param isShort in few characters, for axes
 */
export function formatValue(value: Value, kind: MetricKind, currency: string, isShort = false): string {
  if (value === null || value === undefined) return noValue
  const id = `${kind} ${currency} ${isShort}`
  const known = cache.get(id)
  if (known) return known.format(value)
  const short: Intl.NumberFormatOptions = { notation: 'compact', minimumFractionDigits: 0, maximumFractionDigits: 2 }
  const made = new Intl.NumberFormat(undefined, { ...formats[kind](currency), ...(isShort && short) })
  cache.set(id, made)
  return made.format(value)
}

const durationsSeconds = { day: 86_400, hour: 3_600, minute: 60, second: 1 }

/** A duration in its two largest units, such as `1 hr 23 min`. */
export function formatSeconds(seconds: number | null): string {
  if (seconds === null) return noValue
  let rest = Math.round(seconds)
  const parts = Object.entries(durationsSeconds).map(([unit, size]) => {
    const count = Math.floor(rest / size)
    rest -= count * size
    return { count, text: count.toLocaleString(undefined, { style: 'unit', unit, unitDisplay: 'short' }) }
  })
  const first = parts.findIndex(({ count }) => count > 0)
  const shown = first < 0 ? parts.slice(-1) : parts.slice(first, first + 2).filter(({ count }) => count > 0)
  return shown.map(({ text }) => text).join(' ')
}

/** Two dates, both included, such as `Oct 25 – Nov 23, 2026`. */
export function formatDates({ from, to }: Dates): string {
  return new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' }).formatRange(
    new Date(from),
    new Date(to),
  )
}

/** An instant with its time in a time zone. */
export function formatMoment(instant: string, zone: string): string {
  return new Date(instant).toLocaleString(undefined, { dateStyle: 'short', timeStyle: 'short', timeZone: zone })
}

/** The date of an instant in a time zone. */
export function formatDate(instant: string, zone: string): string {
  return new Date(instant).toLocaleDateString(undefined, { dateStyle: 'medium', timeZone: zone })
}

/** The label of a unit of time: `2026-11-20`, or an hour `2026-11-20T14:00+05:30`. */
export function formatUnit(id: string): string {
  const [date = '', time] = id.split('T')
  const day = new Date(date).toLocaleDateString(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' })
  return time ? `${day}, ${time.slice(0, 5)}` : day
}

/** The label of a unit of time on an axis after the label of another one: hours of the same day have no date. */
export function formatTick(id = '', before = ''): string {
  const [date = '', time = ''] = id.split('T')
  const isFirstOfDay = !before.startsWith(date)
  return time && !(isFirstOfDay && time.startsWith('00:00'))
    ? isFirstOfDay
      ? formatUnit(id)
      : time.slice(0, 5)
    : formatUnit(date)
}

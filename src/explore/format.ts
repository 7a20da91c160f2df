import type { MetricKind } from './metrics.ts'

export const noValue = '–'

/** The value of a metric; undefined: the response does not have the metric. */
export type Value = number | null | undefined

const formats: Record<MetricKind, (currency: string) => Intl.NumberFormatOptions> = {
  count: () => ({}),
  amount: (currency) => ({ style: 'currency', currency, currencyDisplay: 'narrowSymbol' }),
  rate: (currency) => ({ ...formats.amount(currency), minimumFractionDigits: 2, maximumFractionDigits: 4 }),
  percent: () => ({ style: 'unit', unit: 'percent', maximumFractionDigits: 2 }),
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

/** A duration, such as `3 min` or `2.5 days`. */
export function formatSeconds(seconds: number | null): string {
  if (seconds === null) return noValue
  const [unit, size] = Object.entries(durationsSeconds).find(([, size]) => seconds >= 2 * size) ?? ['second', 1]
  const options = { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: 1 } as const
  return (seconds / size).toLocaleString(undefined, options)
}

/** The label of a unit of time: `2026-11-20`, or an hour `2026-11-20T14:00+05:30`. */
export function formatUnit(id: string): string {
  const [date = '', time] = id.split('T')
  const day = new Date(date).toLocaleDateString(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' })
  return time ? `${day}, ${time.slice(0, 5)}` : day
}

import type { MetricKind } from './metrics.ts'

/** Shown where a value does not exist. */
export const noValue = '–'

const formats: Record<MetricKind, (currency: string) => Intl.NumberFormatOptions> = {
  count: () => ({}),
  amount: (currency) => ({ style: 'currency', currency, currencyDisplay: 'narrowSymbol' }),
  rate: (currency) => ({ ...formats.amount(currency), minimumFractionDigits: 2, maximumFractionDigits: 4 }),
  percent: () => ({ style: 'unit', unit: 'percent', maximumFractionDigits: 2 }),
}

const cache = new Map<string, Intl.NumberFormat>()

/** Formats the value of a metric in the language of the browser. */
export function formatValue(value: number | null | undefined, kind: MetricKind, currency: string): string {
  return value === null || value === undefined ? noValue : formatter(kind, currency, false).format(value)
}

/** The same in few characters, for axes. */
export function formatShort(value: number, kind: MetricKind, currency: string): string {
  return formatter(kind, currency, true).format(value)
}

function formatter(kind: MetricKind, currency: string, isShort: boolean): Intl.NumberFormat {
  const id = `${kind} ${currency} ${isShort}`
  const known = cache.get(id)
  if (known) return known
  const short: Intl.NumberFormatOptions = { notation: 'compact', minimumFractionDigits: 0, maximumFractionDigits: 2 }
  const made = new Intl.NumberFormat(undefined, { ...formats[kind](currency), ...(isShort && short) })
  cache.set(id, made)
  return made
}

/** A change against an earlier value. */
export interface Change {
  text: string
  direction: 'up' | 'down' | 'same'
}

/**
 * The change of a value: relative, in percent; of a percentage, in percentage points.
 * @returns undefined if it cannot be computed
 */
export function changeOf(
  now: number | null | undefined,
  before: number | null | undefined,
  kind: MetricKind,
): Change | undefined {
  if (typeof now !== 'number' || typeof before !== 'number') return undefined
  if (kind !== 'percent' && before === 0) return now === 0 ? { text: '0%', direction: 'same' } : undefined
  const change = kind === 'percent' ? now - before : ((now - before) / Math.abs(before)) * 100
  const shown = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1, signDisplay: 'exceptZero' }).format(change)
  return {
    text: kind === 'percent' ? `${shown} pp` : `${shown}%`,
    direction: change > 0 ? 'up' : change < 0 ? 'down' : 'same',
  }
}

/** A moment in a time zone, such as `11/21/26, 3:00 PM`. */
export function formatMoment(instant: string | number, zone: string): string {
  const options = { dateStyle: 'short', timeStyle: 'short', timeZone: zone } as const
  return new Intl.DateTimeFormat(undefined, options).format(new Date(instant))
}

/** A duration, such as `3 min` or `2.5 days`. */
export function formatSeconds(seconds: number | null): string {
  if (seconds === null) return noValue
  const [size, unit] =
    seconds < 120
      ? [1, 'second']
      : seconds < 7_200
        ? [60, 'minute']
        : seconds < 172_800
          ? [3_600, 'hour']
          : [86_400, 'day']
  const options = { style: 'unit', unit: `${unit}`, unitDisplay: 'short', maximumFractionDigits: 1 } as const
  return new Intl.NumberFormat(undefined, options).format(seconds / Number(size))
}

/** The label of a unit of time: `2026-11-20`, or an hour `2026-11-20T14:00+05:30`. */
export function formatUnit(id: string): string {
  const [date = '', time] = id.split('T')
  const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' }).format(
    new Date(date),
  )
  return time ? `${day}, ${time.slice(0, 5)}` : day
}

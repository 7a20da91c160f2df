import { dateFormat, numberFormat } from './formatters.ts'
import type { MetricKind } from './metrics.ts'
import type { Dates } from './ranges.ts'

export const noValue = '–'

/** The value of a metric; undefined: the response does not have the metric. */
export type Value = number | null | undefined

const formats: Record<MetricKind, (currency: string) => Intl.NumberFormatOptions> = {
  count: () => ({}),
  amount: (currency) => ({ style: 'currency', currency, currencyDisplay: 'narrowSymbol' }),
  price: (currency) => formats.amount(currency),
  rate: (currency) => {
    const amount = formats.amount(currency)
    const { maximumFractionDigits = 2 } = numberFormat(amount).resolvedOptions()
    return { ...amount, ...digits(maximumFractionDigits + 2) }
  },
  percent: () => ({ style: 'unit', unit: 'percent', ...digits(2) }),
}

/** At least two digits of values such as 0.0012. */
const ofShort = {
  notation: 'compact',
  minimumFractionDigits: 0,
  maximumSignificantDigits: 2,
  roundingPriority: 'morePrecision',
} as const

/** Always as many decimals, so that the numbers of a column align. */
const digits = (count: number) => ({ minimumFractionDigits: count, maximumFractionDigits: count })

/**
 * Formats the value of a metric in the language of the browser.
 * @param decimals in few characters, with at most as many decimals
 */
export function formatValue(value: Value, kind: MetricKind, currency = '', decimals?: number): string {
  if (value === null || value === undefined) return noValue
  const short = decimals !== undefined && { ...ofShort, maximumFractionDigits: decimals }
  // Amounts below half a cent have no sign.
  return numberFormat({ signDisplay: 'negative', ...formats[kind](currency), ...short }).format(value)
}

/** Formats a value in the width of a card: from a million on in few digits. */
export const formatTotal = (value: Value, kind: MetricKind, currency: string) =>
  formatValue(value, kind, currency, Math.abs(value ?? 0) < 1e6 ? undefined : 2)

/** The class of a value that is shown as less than zero. */
export function lossClass(value: Value, kind: MetricKind, currency: string): string {
  const shown = (of: number) => formatValue(of, kind, currency)
  return value && value < 0 && shown(value) !== shown(-value) ? 'loss' : ''
}

/** A change above this many percent, up or down, is shown as a multiple. */
const percentMax = 999

/**
 * The change of a value: in percent, such as `+4.2%`, or as a multiple, such as `× 12`; from a loss to a gain, or the reverse, both
 * values; between percentages in percentage points, such as `+4.2 pp`.
 */
export function formatChange(now: number, before: number, kind: MetricKind, currency: string): string {
  const signed = { ...digits(1), signDisplay: 'exceptZero' } as const
  if (kind === 'percent') return `${numberFormat(signed).format(now - before)} pp`
  if (now * before < 0) return `from ${formatValue(before, kind, currency)} to ${formatValue(now, kind, currency)}`
  const percent = ((now - before) / Math.abs(before)) * 100
  if (Math.abs(percent) > percentMax) return `× ${numberFormat({ maximumFractionDigits: 0 }).format(now / before)}`
  return numberFormat({ ...formats.percent(''), ...signed }).format(percent)
}

const durationsSeconds = { day: 86_400, hour: 3_600, minute: 60, second: 1 }

/** A duration in its largest whole unit, such as `1.4 hr`. */
export function formatSeconds(seconds: number): string {
  const [unit, size] = Object.entries(durationsSeconds).find(([, length]) => seconds >= length) ?? ['second', 1]
  return numberFormat({ style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: 1 }).format(seconds / size)
}

/** Two dates, both included, such as `Oct 25 – Nov 23, 2026`. */
export const formatDates = ({ from, to }: Dates): string =>
  dateFormat({ dateStyle: 'medium', timeZone: 'UTC' }).formatRange(new Date(from), new Date(to))

/** An instant with its time in a time zone. */
export const formatMoment = (instant: string, zone: string): string =>
  dateFormat({ dateStyle: 'short', timeStyle: 'short', timeZone: zone }).format(new Date(instant))

/**
 * The label of a unit of time: `2026-11-20`, an hour `2026-11-20T14:00+05:30`, or the first day of a month.
 * @param before the unit before this one on an axis: the label leaves out the parts that both units have in common. Empty: this
 *   unit is the first one on the axis
 */
export function formatUnit(id: string, isMonth: boolean, before?: string): string {
  const isCommon = (length: number) => before === undefined || before.slice(0, length) === id.slice(0, length)
  const time = id.slice(11, 16)
  const hasDate = time === '' || before === undefined || !isCommon(10)
  const options: Intl.DateTimeFormatOptions = {
    timeZone: 'UTC',
    ...(hasDate && { month: 'short' }),
    ...(hasDate && !isMonth && { day: 'numeric' }),
    ...((isMonth || !isCommon(4)) && { year: 'numeric' }),
    ...(time && (isCommon(10) || time !== '00:00') && { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
  }
  const text = dateFormat(options).format(new Date(time ? `${id.slice(0, 16)}Z` : id))
  // A date in Hebrew or Arabic letters keeps its order inside an English sentence.
  return /[\u0590-\u08ff]/.test(text) ? `\u2068${text}\u2069` : text
}

/** @param id from 1, Monday, to 7 */
export function formatWeekday(id: string): string {
  // 1 January 2024 was a Monday.
  return dateFormat({ weekday: 'short', timeZone: 'UTC' }).format(Date.UTC(2024, 0, Number(id)))
}

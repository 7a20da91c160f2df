import type { ResponseOf } from '../packages/client/types.ts'
import { endOf } from './comparedText.ts'
import { addDays, begunAt, datesIn, endsWithinDay } from './dates.ts'
import { hasNumbers, isOfCost, isSum, type Metric } from './metrics.ts'

export type Overview = ResponseOf<'/stats/overview'>
export type Daily = ResponseOf<'/stats/daily'>

type Values = (number | null)[]

/** The values of a metric by unit of time; null after the moment of the response. */
export function knownValues({ data, tz, asOf }: Daily, metric: Metric): Values {
  const hasBegun = begunAt(tz, Date.parse(asOf))
  return data.map((row) => (hasBegun(row.id) ? (row[metric] ?? null) : null))
}

/** A line in two parts: `whole` has the units that are over, `open` the others with values and both of their neighbors. */
type Drawn = Record<'whole' | 'open', Values>

function drawn(known: Values, metric: Metric, isOpen: readonly boolean[]): Drawn {
  // A unit that has just begun is no fall to zero.
  const values = known.map((value, at) => (isOpen[at] && isSum(metric) && value === 0 ? null : value))
  const isDrawnOpen = (at: number) => isOpen[at] && typeof values[at] === 'number'
  return {
    whole: values.map((value, at) => (isOpen[at] ? null : value)),
    open: values.map((value, at) => ([at - 1, at, at + 1].some(isDrawnOpen) ? value : null)),
  }
}

/** Whether a unit of time without numbers is before the first row of the account. */
const isBefore = (firstDate: string, unit: Daily['data'][number]['previous']): boolean =>
  (unit?.id ?? '').slice(0, 10) < firstDate && !hasNumbers(unit)

/** The line of a metric: null before the first row of the account and after the last one; open after the last cost if it has costs. */
export function drawnValues(body: Daily, metric: Metric, firstDate = ''): Drawn {
  const { data, tz, asOf, dataThrough } = body
  const ends = Object.values(dataThrough ?? {}).flatMap((time) => (time ? Date.parse(time) : []))
  const hasData = begunAt(tz, ends.length > 0 ? Math.max(...ends) : Date.parse(asOf))
  const values = knownValues(body, metric).map((value, at) => {
    const { [at]: row } = data
    return !row || isBefore(firstDate, row) || !hasData(row.id) ? null : value
  })
  const costsEnd = isOfCost(metric) ? endOf('costs', body) : ''
  const lastDate = (next: string) =>
    next ? addDays(next.slice(0, 10), next.includes('T') ? 0 : -1) : datesIn(tz, body).to
  const isOpen = data.map(({ complete }, at) => {
    const next = data[at + 1]?.id ?? ''
    return !complete || !hasData(next) || (costsEnd !== '' && lastDate(next) > costsEnd)
  })
  return drawn(values, metric, isOpen)
}

/** Whether the earlier range has any numbers. */
export const isCompared = ({ data }: Daily): boolean => data.some(({ previous }) => hasNumbers(previous))

/** The values of the earlier range, which may end within a unit of time; all are null if it has no numbers. */
export function earlierValues(body: Daily, metric: Metric, firstDate = ''): Values {
  const { data, tz, previous } = body
  if (!isCompared(body)) return data.map(() => null)
  const hasBegun = begunAt(tz, Date.parse(previous?.to ?? '1970-01-01') - 1)
  return data.map(({ previous: unit }) => {
    return unit?.id && hasBegun(unit.id) && !isBefore(firstDate, unit) ? (unit[metric] ?? null) : null
  })
}

/** The line of the earlier range. Its last unit is open if the range ends at the present time of day. */
export function drawnEarlier(body: Daily, metric: Metric, firstDate = ''): Drawn {
  const last = earlierValues(body, 'clicks').findLastIndex((value) => value !== null)
  const isCut = endsWithinDay(body.tz, body.previous)
  const isOpen = body.data.map((_, at) => isCut && at === last)
  return drawn(earlierValues(body, metric, firstDate), metric, isOpen)
}

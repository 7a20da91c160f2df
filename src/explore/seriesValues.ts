import type { ResponseOf } from '../packages/client/types.ts'
import { begunAt } from './dates.ts'
import { hasNumbers, isSum, type Metric } from './metrics.ts'

export type Daily = ResponseOf<'/stats/daily'>

type Values = (number | null)[]

/** The values of a metric by unit of time; null after the moment of the response. */
export function knownValues({ data, tz, asOf }: Daily, metric: Metric): Values {
  const hasBegun = begunAt(tz, Date.parse(asOf))
  return data.map((row) => (hasBegun(row.id) ? row[metric] : null))
}

/**
 * The values of a line: null before the first row of the account and after the last one.
 * @returns `whole` has the units that are over, `open` the others with values and both of their neighbors
 */
export function drawnValues(body: Daily, metric: Metric, firstDate = ''): Record<'whole' | 'open', Values> {
  const { data, tz, asOf, dataThrough } = body
  const [end = asOf] = Object.values(dataThrough)
    .flatMap((time) => time ?? [])
    .sort()
    .reverse()
  const hasData = begunAt(tz, Date.parse(end))
  const isOpen = data.map(({ complete }, at) => !complete || !hasData(data[at + 1]?.id ?? ''))
  const values = knownValues(body, metric).map((value, at) => {
    const { [at]: row } = data
    const isBefore = row && row.id.slice(0, 10) < firstDate && !hasNumbers(row)
    // A unit that has just begun is no fall to zero.
    const isFall = isOpen[at] && isSum(metric) && value === 0
    return !row || isBefore || isFall || !hasData(row.id) ? null : value
  })
  const isDrawnOpen = values.map((value, at) => isOpen[at] && value !== null)
  return {
    whole: values.map((value, at) => (isOpen[at] ? null : value)),
    open: values.map((value, at) => (isDrawnOpen.slice(Math.max(0, at - 1), at + 2).includes(true) ? value : null)),
  }
}

/** Whether the earlier range has any numbers. */
export const isCompared = ({ data }: Daily): boolean => data.some(({ previous }) => hasNumbers(previous))

/** The values of the earlier range, which may end within a unit of time; all are null if it has no numbers. */
export function earlierValues(body: Daily, metric: Metric, firstDate = ''): Values {
  const { data, tz, previous } = body
  if (!isCompared(body)) return data.map(() => null)
  const hasBegun = begunAt(tz, Date.parse(previous?.to ?? '1970-01-01') - 1)
  return data.map(({ previous: unit }) => {
    const isBefore = unit && (unit.id ?? '').slice(0, 10) < firstDate && !hasNumbers(unit)
    return unit?.id && hasBegun(unit.id) && !isBefore ? unit[metric] : null
  })
}

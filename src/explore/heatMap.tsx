import type { ResponseOf } from '../packages/client/types.ts'
import { labelsOf, RowTable, Select } from './controls.tsx'
import { addDays, datesIn, daysBetween } from './dates.ts'
import type { Dimension } from './dimensions.ts'
import { formatValue, formatWeekday, type Value } from './format.ts'
import { dateFormat } from './formatters.ts'
import { isSum, metrics } from './metrics.ts'
import { type PanelProps, sortedColumn } from './view.ts'

const weekdays = ['1', '2', '3', '4', '5', '6', '7']
const hours = Array.from({ length: 24 }, (_, hour) => `${hour}`.padStart(2, '0'))

export const isHeatMap = (groups: readonly Dimension[]): boolean =>
  groups.length === 2 && groups.includes('weekday') && groups.includes('hour_of_day')

type HeatMapProps = PanelProps & { body: ResponseOf<'/reports'>; firstDate: string }

/**
 * A report by weekday and hour of the day: a row for each weekday, and a deeper color for a larger value. Sums are averages of the
 * days of each weekday. Screen readers read exact values.
 */
export function HeatMap({ body, view, onChange, firstDate }: HeatMapProps) {
  const metric = sortedColumn(view)
  const { kind, label } = metrics[metric]
  // A visitor of several days is one visitor.
  const isAverage = isSum(metric) && metric !== 'visitors'
  const { from, to } = datesIn(view.tz, body)
  const dates = Array.from({ length: daysBetween(from, to) }, (_, day) => addDays(from, day))
  const datesWithData = dates.filter((date) => date >= firstDate)
  const times = { locale: 'sv', dateStyle: 'short', timeStyle: 'short', timeZone: view.tz } as const
  const now = dateFormat(times).format(Date.parse(body.asOf))
  function valueAt(weekday: string, hour: string): Value {
    const row = body.data.find(({ dimensions: of }) => of.weekday?.id === weekday && of.hour_of_day?.id === hour)
    const value = row?.[metric]
    if (!value || !isAverage) return value
    const isBegun = (date: string) => `${new Date(date).getUTCDay() || 7}` === weekday && `${date} ${hour}` <= now
    return value / (datesWithData.filter(isBegun).length || 1)
  }
  const values = hours.map((hour) => weekdays.map((weekday) => valueAt(weekday, hour)))
  const max = Math.max(0, ...values.flat().map((value) => value ?? 0))
  const cellOf = (hour: number) => (_weekday: string, day: number) => {
    const value = values[hour]?.[day]
    const depth = Math.round((Math.max(0, value ?? 0) / (max || 1)) * 45)
    const exact = formatValue(value, kind, body.currency)
    return (
      <span class="heat" style={{ '--depth': `${depth}%` }} title={exact}>
        <span aria-hidden="true">{formatValue(value, kind, body.currency, 1)}</span>
        <span class="visually-hidden">{exact}</span>
      </span>
    )
  }
  return (
    <>
      <Select
        label={isAverage ? 'Metric (average of the days)' : 'Metric'}
        options={labelsOf(view.columns, metrics)}
        value={metric}
        onChoose={(name) => onChange({ sort: `-${name}` })}
      />
      <RowTable
        label={`${label} by weekday and hour${isAverage ? ', averages' : ''}`}
        rows={weekdays}
        columns={[
          { label: 'Weekday', cell: formatWeekday },
          ...hours.map((label, hour) => ({ label, isNumber: true, cell: cellOf(hour) })),
        ]}
      />
    </>
  )
}

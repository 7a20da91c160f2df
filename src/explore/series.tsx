import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { type ChartLine, drawChart } from './chart.ts'
import { comparedText, endOf } from './comparedText.ts'
import { labelsOf, Name, RowTable, Select } from './controls.tsx'
import { begunAt } from './dates.ts'
import { dimensions, filteredDimensions } from './dimensions.ts'
import { type Emptiness, Empty } from './empty.tsx'
import type { FileRow } from './files.ts'
import { formatUnit, formatValue, type Value } from './format.ts'
import { axesOf, hasNumbers, type Metric, metrics } from './metrics.ts'
import { Panel } from './panel.tsx'
import type { Loaded } from './request.ts'
import { orderOf, type SeriesLine, useParts } from './seriesParts.ts'
import { type Daily, drawnEarlier, drawnValues, earlierValues, isCompared, knownValues } from './seriesValues.ts'
import { daysOf, hourDaysMax, intervalOf, intervals, type PanelProps } from './view.ts'

type SeriesProps = PanelProps & { daily: Loaded<Daily>; empty: Emptiness }

/** One or two metrics over time, or one by the values of a dimension. The earlier range is dotted, a unit that is not over is dashed. */
export function Series({ daily, empty, ...props }: SeriesProps) {
  const { view } = props
  const order = view.seriesBy && `The five largest by ${metrics[orderOf(view.metrics)].label}, and all others.`
  const chart = { isMonthly: intervalOf(view) === 'month', empty, order }
  const parts = useParts(view)
  const frame = { title: 'Time series', area: 'series', controls: <Controls {...props} /> }
  const panel = { ...frame, empty: <Empty {...props} text={empty.text} /> }
  if (view.seriesBy)
    return (
      <Panel {...panel} loaded={parts} csv={linesCsv}>
        {(lines) => lines.length > 0 && <Chart lines={lines} {...chart} />}
      </Panel>
    )
  const linesOf = (body: Daily) => view.metrics.map((metric) => ({ label: metrics[metric].label, metric, body }))
  const hasValues = ({ data }: Daily) => data.some((row) => hasNumbers(row) || hasNumbers(row.previous))
  return (
    <Panel {...panel} loaded={daily}>
      {(body) => hasValues(body) && <Chart lines={linesOf(body)} {...chart} />}
    </Panel>
  )
}

function Controls({ view, onChange }: PanelProps) {
  const { hour: _hour, ...longer } = intervals
  return (
    <div class="controls">
      <Select
        label="Split by"
        options={{ '': 'None', ...labelsOf(filteredDimensions, dimensions) }}
        value={view.seriesBy ?? ''}
        onChoose={(name) => onChange({ seriesBy: name === '' ? undefined : name })}
      />
      <Select
        label="Interval"
        options={daysOf(view) > hourDaysMax ? longer : intervals}
        value={intervalOf(view)}
        onChoose={(interval) => onChange({ interval })}
      />
    </div>
  )
}

const inkOf = (index: number) => `metric-${index + 1}`

function chartLines({ body, metric }: SeriesLine, axis: number, ink: string, firstDate: string): ChartLine[] {
  const line = { axis, ink }
  const [now, earlier] = [drawnValues(body, metric, firstDate), drawnEarlier(body, metric, firstDate)]
  return [
    { ...line, values: earlier.open, dash: 'dashed', isEarlier: true },
    { ...line, values: earlier.whole, dash: 'dotted', isEarlier: true },
    { ...line, values: now.open, dash: 'dashed' },
    { ...line, values: now.whole },
  ]
}

type ChartProps = { lines: readonly SeriesLine[]; isMonthly: boolean; empty: Emptiness; order: string | undefined }

/** @param lines at least one @param order which values of a dimension the lines have */
function Chart({ lines, isMonthly, empty, order }: ChartProps) {
  const element = useRef<HTMLDivElement>(null)
  const [hovered, setHovered] = useState<number | null>(null)
  const { body: first } = lines[0] as SeriesLine
  const { data, currency, tz, asOf } = first
  const drawn = [empty.firstDate, ...lines.flatMap(({ body, metric }) => [body, metric])]
  useEffect(() => {
    if (!element.current) return
    const axes = axesOf(lines.map(({ metric }) => metric))
    const axisOf = (metric: Metric) => axes.findIndex(({ names }) => names.includes(metric))
    return drawChart(element.current, {
      units: data.length,
      tick: (index, before = -1) => formatUnit(data[index]?.id ?? '', isMonthly, data[before]?.id ?? ''),
      lines: lines.flatMap((line, index) => chartLines(line, axisOf(line.metric), inkOf(index), empty.firstDate)),
      axes: axes.map(({ kind, names }, index) => ({
        label: names.map((name) => metrics[name].label).join(', '),
        ink: axes.length > 1 ? inkOf(index) : 'axis',
        stepMin: kind === 'count' ? 1 : 0,
        format: (value) => formatValue(value, kind, currency, 1),
      })),
      onHover: setHovered,
    })
  }, drawn)
  // The same element while the pointer moves, so that its rows are not compared.
  const values = useMemo(() => <Values lines={lines} />, drawn)
  const row = data[hovered ?? -1]
  const isKnown = row && begunAt(tz, Date.parse(asOf))(row.id)
  function readValues({ metric, body }: SeriesLine, at: number): string {
    const format = (value: Value) => formatValue(value, metrics[metric].kind, currency)
    const { [at]: unit } = body.data
    const earlier = earlierValues(body, metric, empty.firstDate)[at] ?? null
    const now = format(isKnown ? unit?.[metric] : null)
    return earlier === null ? now : `${now} (${formatUnit(unit?.previous?.id ?? '', isMonthly)}: ${format(earlier)})`
  }
  const dates = [data[0], data.at(-1)].map((unit) => formatUnit(unit?.id ?? '', isMonthly)).join(' – ')
  const names = lines.map(({ label }) => label).join(', ')
  return (
    <>
      <div class="chart" role="img" aria-label={`${names}, ${dates}. The values are below.`} ref={element} />
      <p class="readout controls" aria-hidden="true">
        <span class="hint">
          {row
            ? `${formatUnit(row.id, isMonthly)}${isKnown && !row.complete ? ' (incomplete)' : ''}`
            : [
                order,
                isCompared(first) ? 'Dotted: the earlier range.' : '',
                comparedText(first, empty.firstDate),
                data.every(({ complete }) => complete) && !endOf('costs', first) ? '' : 'Dashed: not complete.',
              ].join(' ')}
        </span>
        {lines.map((line, index) => (
          <span key={index} class={inkOf(index)}>
            ▬ <Name text={line.label} /> {row && readValues(line, hovered ?? 0)}
          </span>
        ))}
      </p>
      {values}
    </>
  )
}

function Values({ lines }: { lines: readonly SeriesLine[] }) {
  return (
    <details>
      <summary>Values</summary>
      <RowTable
        label="Values of the time series"
        rows={lines[0]?.body.data ?? []}
        columns={[
          { label: 'Time', cell: ({ id, complete }) => (complete ? id : `${id} (incomplete)`) },
          ...columnsOf(lines).map(({ label, metric, values, currency }) => ({
            label,
            isNumber: true,
            cell: (_unit: unknown, at: number) => formatValue(values[at], metrics[metric].kind, currency),
          })),
        ]}
      />
    </details>
  )
}

/** The columns of a table of values: a line, and its earlier range if there is one. */
function columnsOf(lines: readonly SeriesLine[]) {
  return lines.flatMap(({ label, metric, body }) => {
    const { currency } = body
    return [
      { label, metric, currency, values: knownValues(body, metric) },
      ...(body.previous ? [{ label: `${label}, before`, metric, currency, values: earlierValues(body, metric) }] : []),
    ]
  })
}

function linesCsv(lines: readonly SeriesLine[]): FileRow[] {
  const columns = columnsOf(lines)
  const rows = lines[0]?.body.data ?? []
  return rows.map(({ id }, at) => ({
    id,
    ...Object.fromEntries(columns.map(({ label, values }) => [label, values[at]])),
  }))
}

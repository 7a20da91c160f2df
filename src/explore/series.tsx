import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { type ChartLine, drawChart } from './chart.ts'
import { labelsOf, Name, RowTable, Select } from './controls.tsx'
import { daysBetween, hasBegun } from './dates.ts'
import { dimensions, filteredDimensions } from './dimensions.ts'
import { Empty } from './empty.tsx'
import { csvOf } from './files.ts'
import { formatUnit, formatValue, type Value } from './format.ts'
import { hasNumbers, type Metric, metricNames, metrics } from './metrics.ts'
import { Panel } from './panel.tsx'
import type { Loaded } from './request.ts'
import { type Daily, type SeriesLine, useParts } from './seriesParts.ts'
import { hourDaysMax, intervalOf, intervals, type PanelProps, viewDates } from './view.ts'

/** Two metrics over time, or one by the values of a dimension. The earlier range is dotted, a unit that is not over is dashed. */
export function Series({ daily, empty: text, ...props }: PanelProps & { daily: Loaded<Daily>; empty: string }) {
  const { view } = props
  const nowMs = Date.now()
  const isMonthly = intervalOf(view, nowMs) === 'month'
  const parts = useParts(view, nowMs, daily)
  const empty = <Empty {...props} text={text} />
  const panel = { title: 'Time series', area: 'series', controls: <Controls {...props} />, empty }
  if (view.seriesBy)
    return (
      <Panel {...panel} loaded={parts} csv={linesCsv}>
        {(lines) => lines.length > 0 && <Chart lines={lines} isMonthly={isMonthly} />}
      </Panel>
    )
  const linesOf = (body: Daily) =>
    view.metrics.map((metric, index): SeriesLine => {
      return { label: metrics[metric].label, metric, axis: index === 0 ? 0 : 1, body }
    })
  return (
    <Panel {...panel} loaded={daily} csv={{ format: 'csv' }}>
      {(body) =>
        body.data.some((row) => hasNumbers(row) || hasNumbers(row.previous)) && (
          <Chart lines={linesOf(body)} isMonthly={isMonthly} />
        )
      }
    </Panel>
  )
}

function Controls({ view, onChange }: PanelProps) {
  const nowMs = Date.now()
  const { from, to } = viewDates(view, nowMs)
  const { hour, ...longer } = intervals
  const [first, second] = view.metrics
  return (
    <div class="controls">
      {(['First metric', 'Second metric'] as const).slice(0, view.seriesBy ? 1 : 2).map((label, index) => (
        <Select
          key={label}
          label={label}
          options={labelsOf(metricNames, metrics)}
          value={index === 0 ? first : second}
          onChoose={(name) => onChange({ metrics: index === 0 ? [name, second] : [first, name] })}
        />
      ))}
      <Select
        label="by"
        options={{ '': '(nothing)', ...labelsOf(filteredDimensions, dimensions) }}
        value={view.seriesBy ?? ''}
        onChoose={(name) => onChange({ seriesBy: name === '' ? undefined : name })}
      />
      <Select
        label="Interval"
        options={daysBetween(from, to) > hourDaysMax ? longer : intervals}
        value={intervalOf(view, nowMs)}
        onChoose={(interval) => onChange({ interval })}
      />
    </div>
  )
}

/** The values of a metric by unit of time; null after the moment of the response. */
function knownValues({ data, tz, asOf }: Daily, metric: Metric): (number | null)[] {
  const asOfMs = Date.parse(asOf)
  return data.map((row) => (hasBegun(row.id, tz, asOfMs) ? row[metric] : null))
}

/** Whether the earlier range has any numbers. */
const isCompared = ({ data }: Daily): boolean => data.some(({ previous }) => hasNumbers(previous))

const earlierValues = ({ data }: Daily, metric: Metric) => data.map(({ previous }) => previous?.[metric] ?? null)

const inkOf = (index: number) => `metric-${index + 1}`

function chartLines({ body, metric, axis }: SeriesLine, index: number): ChartLine[] {
  const isOpen = body.data.map(({ complete }) => !complete)
  const known = knownValues(body, metric)
  const line = { axis, ink: inkOf(index) }
  const isTouched = (at: number) => isOpen[at - 1] || isOpen[at] || isOpen[at + 1]
  return [
    ...(isCompared(body) ? [{ ...line, values: earlierValues(body, metric), dash: 'dotted' } as const] : []),
    { ...line, values: known.map((value, at) => (isTouched(at) ? value : null)), dash: 'dashed' },
    { ...line, values: known.map((value, at) => (isOpen[at] ? null : value)) },
  ]
}

/** @param lines at least one */
function Chart({ lines, isMonthly }: { lines: readonly SeriesLine[]; isMonthly: boolean }) {
  const element = useRef<HTMLDivElement>(null)
  const [hovered, setHovered] = useState<number | null>(null)
  const { data, currency, tz, asOf } = (lines[0] as SeriesLine).body
  const drawn = lines.flatMap(({ body, metric }) => [body, metric])
  useEffect(() => {
    if (!element.current) return
    const axes = lines.filter(({ axis }, index) => axis === index)
    return drawChart(element.current, {
      units: data.length,
      tick: (index, before = -1) => formatUnit(data[index]?.id ?? '', isMonthly, data[before]?.id ?? ''),
      lines: lines.flatMap(chartLines),
      axes: axes.map(({ metric }, index) => ({
        ink: axes.length > 1 ? inkOf(index) : 'axis',
        stepMin: metrics[metric].kind === 'count' ? 1 : 0,
        format: (value) => formatValue(value, metrics[metric].kind, currency, true),
      })),
      onHover: setHovered,
    })
  }, drawn)
  // The same element while the pointer moves, so that its rows are not compared.
  const values = useMemo(() => <Values lines={lines} />, drawn)
  const row = data[hovered ?? -1]
  const isKnown = row && hasBegun(row.id, tz, Date.parse(asOf))
  function readValues({ metric, body }: SeriesLine, at: number): string {
    const text = (value: Value) => formatValue(value, metrics[metric].kind, currency)
    const { [at]: unit } = body.data
    const earlier = unit?.previous
    const now = text(isKnown ? unit?.[metric] : null)
    return earlier?.id ? `${now} (${formatUnit(earlier.id, isMonthly)}: ${text(earlier[metric])})` : now
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
            : `${lines.some(({ body }) => isCompared(body)) ? 'Dotted: the range that is compared with. ' : ''}${
                data.every(({ complete }) => complete) ? '' : 'Dashed: not complete. '
              }Point at the chart to read values.`}
        </span>
        {lines.map((line, index) => (
          <span key={index} class={inkOf(index)}>
            <i class="swatch" /> <Name text={line.label} /> {row && readValues(line, hovered ?? 0)}
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

function linesCsv(lines: readonly SeriesLine[]): Blob {
  const columns = columnsOf(lines)
  const rows = lines[0]?.body.data ?? []
  return csvOf([
    ['id', ...columns.map(({ label }) => label)],
    ...rows.map(({ id }, at) => [id, ...columns.map(({ values }) => values[at] ?? null)]),
  ])
}

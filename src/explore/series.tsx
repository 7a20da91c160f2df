import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { ResponseOf } from '../packages/client/client.ts'
import { type ChartLine, drawChart } from './chart.ts'
import { optionsOf, RowTable, Select } from './controls.tsx'
import { daysBetween, hasBegun } from './dates.ts'
import { formatTick, formatUnit, formatValue, type Value } from './format.ts'
import { hasNumbers, type Metric, metricNames, metrics } from './metrics.ts'
import { Panel } from './panel.tsx'
import type { Loaded } from './request.ts'
import { hourDaysMax, intervalOf, intervals, type PanelProps, viewDates } from './view.ts'

type Daily = ResponseOf<'/stats/daily'>

/** Two metrics over time; the earlier range is dotted, a unit that is not over is dashed. */
export function Series({ view, onChange, daily, empty }: PanelProps & { daily: Loaded<Daily>; empty: string }) {
  const nowMs = Date.now()
  const { from, to } = viewDates(view, nowMs)
  const hasManyDays = daysBetween(from, to) > hourDaysMax
  const controls = (
    <div class="controls">
      {([0, 1] as const).map((index) => (
        <label key={index} class="legend">
          <i class={`swatch metric-${index + 1}`} />
          <span class="visually-hidden">{index === 0 ? 'First metric' : 'Second metric'}</span>
          <Select
            options={metricNames.map((name) => [name, metrics[name].label])}
            value={view.metrics[index]}
            onChoose={(chosen) =>
              onChange({ metrics: index === 0 ? [chosen, view.metrics[1]] : [view.metrics[0], chosen] })
            }
          />
        </label>
      ))}
      <Select
        aria-label="Interval"
        options={optionsOf(intervals).map(([name, label]) => [name, label, name === 'hour' && hasManyDays])}
        value={intervalOf(view, nowMs)}
        onChoose={(interval) => onChange({ interval })}
      />
    </div>
  )
  return (
    <Panel title="Time series" area="series" loaded={daily} csv={{ format: 'csv' }} controls={controls} empty={empty}>
      {(body) =>
        body.data.some((row) => hasNumbers(row) || hasNumbers(row.previous)) && (
          <Chart body={body} chosen={view.metrics} />
        )
      }
    </Panel>
  )
}

/** The values of a metric by unit of time; null after the moment of the response. */
export function knownValues({ data, tz, asOf }: Daily, metric: Metric): (number | null)[] {
  const asOfMs = Date.parse(asOf)
  return data.map((row) => (hasBegun(row.id, tz, asOfMs) ? row[metric] : null))
}

/** Whether the earlier range has any numbers. */
function isCompared({ data }: Daily): boolean {
  return data.some(({ previous }) => hasNumbers(previous))
}

function earlierValues({ data }: Daily, metric: Metric): (number | null)[] {
  return data.map(({ previous }) => previous?.[metric] ?? null)
}

function linesOf(body: Daily, chosen: readonly Metric[]): ChartLine[] {
  const { data } = body
  const isOpen = data.map(({ complete }) => !complete)
  return chosen.flatMap((metric, index) => {
    const known = knownValues(body, metric)
    const line = { axis: index === 0 ? 0 : 1, ink: `metric-${index + 1}` } as const
    const isTouched = (at: number) => isOpen[at - 1] || isOpen[at] || isOpen[at + 1]
    return [
      ...(isCompared(body) ? [{ ...line, values: earlierValues(body, metric), dash: 'dotted' } as const] : []),
      { ...line, values: known.map((value, at) => (isTouched(at) ? value : null)), dash: 'dashed' } as const,
      { ...line, values: known.map((value, at) => (isOpen[at] ? null : value)) },
    ]
  })
}

function Chart({ body, chosen }: { body: Daily; chosen: readonly [Metric, Metric] }) {
  const element = useRef<HTMLDivElement>(null)
  const [hovered, setHovered] = useState<number | null>(null)
  const { data, currency } = body
  const [first, second] = chosen
  const labels = useMemo(() => data.map(({ id }) => formatUnit(id)), [data])
  useEffect(() => {
    if (!element.current) return
    return drawChart(element.current, {
      units: data.length,
      tick: (index, before) => formatTick(data[index]?.id, data[before ?? -1]?.id),
      lines: linesOf(body, chosen),
      axes: chosen.map((metric, index) => ({
        ink: `metric-${index + 1}`,
        stepMin: metrics[metric].kind === 'count' ? 1 : 0,
        format: (value) => formatValue(value, metrics[metric].kind, currency, true),
      })),
      onHover: setHovered,
    })
  }, [body, first, second])
  const row = hovered === null ? undefined : data[hovered]
  const isKnown = row && hasBegun(row.id, body.tz, Date.parse(body.asOf))
  const value = (metric: Metric, of: Partial<Record<Metric, Value>>) =>
    formatValue(of[metric], metrics[metric].kind, currency)
  // The same element while the pointer moves, so that its rows are not compared.
  const values = useMemo(() => <Values body={body} chosen={chosen} />, [body, first, second])
  const summary = `${metrics[first].label} and ${metrics[second].label}, ${labels[0]} to ${labels.at(-1)}`
  return (
    <>
      <p class="readout" aria-hidden="true">
        {row ? (
          <>
            <strong>
              {labels[hovered ?? 0]}
              {isKnown && !row.complete && ' (incomplete)'}
            </strong>
            {[first, second].map((metric, index) => (
              <span key={`${index} ${metric}`} class={`metric-${index + 1}`}>
                {metrics[metric].label} {value(metric, isKnown ? row : {})}
                {row.previous?.id && ` (${formatUnit(row.previous.id)}: ${value(metric, row.previous)})`}
              </span>
            ))}
          </>
        ) : (
          <span class="hint">
            {isCompared(body) ? 'Dotted: the range that is compared with. ' : ''}
            {data.every(({ complete }) => complete) ? '' : 'Dashed: not complete. '}Point at the chart to read values.
          </span>
        )}
      </p>
      <div class="chart" role="img" aria-label={`${summary}. The values are below.`} ref={element} />
      {values}
    </>
  )
}

function Values({ body, chosen }: { body: Daily; chosen: readonly [Metric, Metric] }) {
  const { data, currency, previous } = body
  const columns = chosen.flatMap((metric) => [
    { metric, label: metrics[metric].label, values: knownValues(body, metric) },
    ...(previous ? [{ metric, label: `${metrics[metric].label}, before`, values: earlierValues(body, metric) }] : []),
  ])
  return (
    <details>
      <summary>Values</summary>
      <RowTable
        label="Values of the time series"
        rows={data}
        columns={[
          { label: 'Time', cell: ({ id, complete }) => (complete ? id : `${id} (incomplete)`) },
          ...columns.map(({ label, metric, values }) => ({
            label,
            isNumber: true,
            cell: (_unit: unknown, at: number) => formatValue(values[at], metrics[metric].kind, currency),
          })),
        ]}
      />
    </details>
  )
}

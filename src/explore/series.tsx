import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { ResponseOf } from '../packages/client/client.ts'
import { drawChart } from './chart.ts'
import { Column, optionsOf, Select, Table } from './controls.tsx'
import { daysBetween } from './dates.ts'
import { formatUnit, formatValue, type Value } from './format.ts'
import { type Metric, metricNames, metrics } from './metrics.ts'
import { Panel } from './panel.tsx'
import type { Loaded } from './request.ts'
import { hourDaysMax, intervalOf, intervals, type PanelProps, viewDates } from './view.ts'

type Daily = ResponseOf<'/stats/daily'>

/** Two metrics over time; the previous period is dotted. */
export function Series({ view, onChange, daily }: PanelProps & { daily: Loaded<Daily> }) {
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
    <Panel
      title="Time series"
      area="series"
      loaded={daily}
      csv={{ format: 'csv' }}
      controls={controls}
      empty="The range has no time."
    >
      {(body) => body.data.length > 0 && <Chart body={body} chosen={view.metrics} />}
    </Panel>
  )
}

function Chart({ body, chosen }: { body: Daily; chosen: readonly [Metric, Metric] }) {
  const element = useRef<HTMLDivElement>(null)
  const [hovered, setHovered] = useState<number | null>(null)
  const { data, currency } = body
  const [first, second] = chosen
  const labels = useMemo(() => data.map(({ id }) => formatUnit(id)), [data])
  useEffect(() => {
    if (!element.current) return
    const lines = ([1, 2] as const).flatMap((position) => {
      const metric = position === 1 ? first : second
      const now = { values: data.map((row) => row[metric]), position, isPrevious: false }
      const before = { values: data.map((row) => row.previous?.[metric] ?? null), position, isPrevious: true }
      return body.previous ? [before, now] : [now]
    })
    const format = (metric: Metric) => (value: number) => formatValue(value, metrics[metric].kind, currency, true)
    return drawChart(element.current, {
      labels,
      lines,
      formats: { 1: format(first), 2: format(second) },
      onHover: setHovered,
    })
  }, [body, first, second])
  const row = hovered === null ? undefined : data[hovered]
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
            <strong>{labels[hovered ?? 0]}</strong>
            {[first, second].map((metric, index) => (
              <span key={`${index} ${metric}`} class={`metric-${index + 1}`}>
                {metrics[metric].label} {value(metric, row)}
                {row.previous && ` (before: ${value(metric, row.previous)})`}
              </span>
            ))}
          </>
        ) : (
          <span class="hint">
            {body.previous ? 'Dotted: the period that is compared with. ' : ''}Point at the chart to read values.
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
  const columns = chosen.flatMap((metric, index) => [
    { id: `${index} now`, metric, label: metrics[metric].label, isBefore: false },
    ...(previous ? [{ id: `${index} before`, metric, label: `${metrics[metric].label}, before`, isBefore: true }] : []),
  ])
  return (
    <details>
      <summary>Values</summary>
      <Table
        label="Values of the time series"
        head={[{ id: 'time', label: 'Time' }, ...columns].map(({ id, label }) => (
          <Column key={id} label={label} isNumber={id !== 'time'} />
        ))}
      >
        <tbody>
          {data.map((unit) => (
            <tr key={unit.id}>
              <th scope="row">
                {unit.id}
                {unit.complete ? '' : ' (incomplete)'}
              </th>
              {columns.map(({ id, metric, isBefore }) => (
                <td class="number" key={id}>
                  {formatValue((isBefore ? unit.previous : unit)?.[metric], metrics[metric].kind, currency)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </Table>
    </details>
  )
}

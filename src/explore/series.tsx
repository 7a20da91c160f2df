import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { ResponseOf } from '../packages/client/client.ts'
import { drawChart } from './chart.ts'
import { Select, Table } from './controls.tsx'
import { daysBetween } from './dates.ts'
import { formatShort, formatUnit, formatValue } from './format.ts'
import { type Metric, metricNames, metrics } from './metrics.ts'
import { Panel } from './panel.tsx'
import type { ApiRequest, Loaded } from './request.ts'
import { datesOf, hourDaysMax, type Interval, intervalOf, intervals, type PanelProps } from './view.ts'

type Daily = ResponseOf<'/stats/daily'>

interface SeriesProps extends PanelProps {
  request: ApiRequest
  daily: Loaded<Daily>
}

const intervalLabels: Record<Interval, string> = { hour: 'Hour', day: 'Day', week: 'Week' }

/** Two metrics over time; the previous period is dotted. */
export function Series({ view, onChange, request, daily }: SeriesProps) {
  const nowMs = Date.now()
  const { from, to } = datesOf(view, nowMs)
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
      <label>
        <span class="visually-hidden">Interval</span>
        <select
          value={intervalOf(view, nowMs)}
          onChange={({ currentTarget }) => onChange({ interval: currentTarget.value as Interval })}
        >
          {intervals.map((name) => (
            <option key={name} value={name} disabled={name === 'hour' && daysBetween(from, to) > hourDaysMax}>
              {intervalLabels[name]}
            </option>
          ))}
        </select>
      </label>
    </div>
  )
  return (
    <Panel
      title="Time series"
      area="series"
      scopes={['read:stats']}
      request={request}
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
  const theme = useTheme()
  const [hovered, setHovered] = useState<number | null>(null)
  const { data, currency } = body
  const [first, second] = chosen
  const labels = useMemo(() => data.map(({ id }) => formatUnit(id)), [data])
  // Again when the theme changes: the colors are those of the theme.
  useEffect(() => {
    if (!element.current) return
    const lines = ([1, 2] as const).flatMap((position) => {
      const metric = position === 1 ? first : second
      const now = { values: data.map((row) => row[metric]), position, isPrevious: false }
      const before = { values: data.map((row) => row.previous?.[metric] ?? null), position, isPrevious: true }
      return body.previous ? [before, now] : [now]
    })
    const format = (metric: Metric) => (value: number) => formatShort(value, metrics[metric].kind, currency)
    return drawChart(element.current, {
      labels,
      lines,
      formats: { 1: format(first), 2: format(second) },
      onHover: setHovered,
    })
  }, [body, first, second, theme])
  const row = hovered === null ? undefined : data[hovered]
  const value = (metric: Metric, of: Partial<Record<Metric, number | null>> | undefined) =>
    formatValue(of?.[metric], metrics[metric].kind, currency)
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

/** The values of the chart as a table. */
function Values({ body, chosen }: { body: Daily; chosen: readonly [Metric, Metric] }) {
  const { data, currency, previous } = body
  const columns = chosen.flatMap((metric, index) => [
    { id: `${index} now`, metric, isBefore: false },
    ...(previous ? [{ id: `${index} before`, metric, isBefore: true }] : []),
  ])
  return (
    <details>
      <summary>Values</summary>
      <Table label="Values of the time series">
        <thead>
          <tr>
            <th scope="col">Time</th>
            {columns.map(({ id, metric, isBefore }) => (
              <th scope="col" class="number" key={id}>
                {metrics[metric].label}
                {isBefore && ', before'}
              </th>
            ))}
          </tr>
        </thead>
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

/** Changes with the theme of the system. */
function useTheme(): boolean {
  const [isDark, setDark] = useState(false)
  useEffect(() => {
    const query = matchMedia('(prefers-color-scheme: dark)')
    const update = () => setDark(query.matches)
    update()
    query.addEventListener('change', update)
    return () => query.removeEventListener('change', update)
  }, [])
  return isDark
}

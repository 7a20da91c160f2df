import { useState } from 'preact/hooks'
import type { ResponseOf } from '../packages/client/client.ts'
import { Button } from './controls.tsx'
import { cutOffText, type Emptiness } from './empty.tsx'
import { csvOf } from './files.ts'
import { formatChange, formatValue, lossClass, type Value } from './format.ts'
import { cardMetrics, hasNumbers, isCost, type Metric, metricNames, metrics, type SelectedMetric } from './metrics.ts'
import { Panel } from './panel.tsx'
import type { Loaded } from './request.ts'
import { type Daily, drawnValues } from './seriesValues.ts'
import type { PanelProps, View } from './view.ts'

type Overview = ResponseOf<'/stats/overview'>

/** The classes of the lines of the chart. */
const inks = ['metric-1', 'metric-2']

type CardsProps = PanelProps & { overview: Loaded<Overview>; daily: Loaded<Daily>; empty: Emptiness }

/** The totals of the range, each with its change against the comparison, and its spark line. A total draws its series. */
export function Cards({ overview, daily, empty, view, onChange }: CardsProps) {
  const [hasAll, setAll] = useState(false)
  const first = [...cardMetrics, ...view.metrics] as readonly Metric[]
  const drawn = view.seriesBy ? view.metrics.slice(0, 1) : view.metrics
  const controls = <Button onClick={() => setAll(!hasAll)}>{hasAll ? 'Fewer totals' : 'All totals'}</Button>
  return (
    <Panel title="Totals" area="totals" loaded={overview} csv={totalsCsv} controls={controls}>
      {(body) => (
        <>
          <div class="cards">
            {(hasAll ? metricNames : metricNames.filter((name) => first.includes(name))).map((metric) => (
              <Button
                key={metric}
                class={`card ${view.seriesBy ? '' : (inks[drawn.indexOf(metric)] ?? '')}`}
                aria-pressed={drawn.includes(metric)}
                onClick={() => onChange({ metrics: drawnWith(metric, view) })}
              >
                <Card metric={metric} body={body} />
                <Spark values={daily.data ? drawnValues(daily.data, metric, empty.firstDate).whole : []} />
              </Button>
            ))}
          </div>
          <p class="hint">{cutOffText(body, empty)}</p>
        </>
      )}
    </Panel>
  )
}

/** The metrics of the series after a click on one: it is added to the last one, or removed. A series by a dimension has one. */
function drawnWith(metric: Metric, { metrics: drawn, seriesBy }: View): readonly Metric[] {
  if (seriesBy) return [metric]
  const others = drawn.filter((name) => name !== metric)
  return others.length < drawn.length ? (others.length > 0 ? others : drawn) : [...others.slice(-1), metric]
}

function Card({ metric, body: { totals, previous, currency } }: { metric: Metric; body: Overview }) {
  const { label, kind } = metrics[metric]
  const before = hasNumbers(previous?.totals) ? previous?.totals[metric] : undefined
  return (
    <>
      <span class="hint">{label}</span>
      <span
        class={`card-value ${lossClass(totals[metric], kind, currency)}`}
        data-metric={metric}
        title={`${totals[metric] ?? ''}`}
      >
        {formatValue(totals[metric], kind, currency)}
      </span>
      {typeof before === 'number' && (
        <span class="card-change hint">
          <Difference metric={metric} now={totals} before={previous?.totals} />{' '}
          <span>vs. {formatValue(before, kind, currency)}</span>
        </span>
      )}
    </>
  )
}

type Values = Partial<Record<SelectedMetric, Value>>

/** Smaller changes, in percent of the earlier value, and rows with fewer clicks are as often chance. */
const judged = { percent: 20, clicks: 50 }

/** The change of a value: relative, in percent; of a percentage, in percentage points. Nothing if it is not known. */
export function Difference(props: { metric: SelectedMetric; now: Values; before: Values | undefined }) {
  const { metric } = props
  const [now, before] = [props.now[metric], props.before?.[metric]]
  const isPercentage = metrics[metric].kind === 'percent'
  if (typeof now !== 'number' || typeof before !== 'number' || (before === 0 && !isPercentage)) return null
  const relative = ((now - before) / Math.abs(before)) * 100
  // As precise as it is shown: a change that is shown as zero is neither better nor worse.
  const change = Math.round((isPercentage ? now - before : relative) * 10) / 10
  const clicks = Math.max(props.now.clicks ?? 0, props.before?.clicks ?? 0)
  const isJudged = change !== 0 && Math.abs(relative) > judged.percent && clicks >= judged.clicks
  const isBetter = change > 0 !== isCost(metric)
  return (
    <span class={`change ${isJudged ? (isBetter ? 'better' : 'worse') : 'hint'}`}>
      {formatChange(change, isPercentage)}
    </span>
  )
}

const sparkWidth = 120
const sparkHeight = 32

/** A line without axes; a value that does not exist, or is not complete, is left out. */
function Spark({ values }: { values: readonly (number | null)[] }) {
  const points = values.flatMap((value, index) => (value === null ? [] : [{ index, value }]))
  const shown = points.map(({ value }) => value)
  const min = Math.min(0, ...shown)
  const span = Math.max(0, ...shown) - min || 1
  const line = points.map(({ index, value }) => {
    const x = (index / Math.max(1, values.length - 1)) * sparkWidth
    const y = sparkHeight - 2 - ((value - min) / span) * (sparkHeight - 4)
    return `${x.toFixed(1)},${y.toFixed(1)}`
  })
  return (
    <svg class="spark" viewBox={`0 0 ${sparkWidth} ${sparkHeight}`} preserveAspectRatio="none" aria-hidden="true">
      <polyline points={line.join(' ')} vector-effect="non-scaling-stroke" />
    </svg>
  )
}

function totalsCsv({ totals, previous }: Overview): Blob {
  const before = previous?.totals
  return csvOf([
    ['metric', 'value', ...(before ? ['previous'] : [])],
    ...metricNames.map((name) => [name, totals[name], ...(before ? [before[name]] : [])]),
  ])
}

import type { ResponseOf } from '../packages/client/client.ts'
import { csvOf } from './files.ts'
import { formatValue, noValue, type Value } from './format.ts'
import { cardMetrics, hasNumbers, type Metric, type MetricKind, metricNames, metrics } from './metrics.ts'
import { Panel } from './panel.tsx'
import type { Loaded } from './request.ts'
import { knownValues } from './series.tsx'

type Overview = ResponseOf<'/stats/overview'>
type Daily = ResponseOf<'/stats/daily'>

/** The totals of the range, each with its change against the comparison, and its spark line of the series. */
export function Cards({ overview, daily }: { overview: Loaded<Overview>; daily: Loaded<Daily> }) {
  return (
    <Panel title="Totals" area="totals" loaded={overview} csv={totalsCsv}>
      {(body) => (
        <ul class="cards">
          {cardMetrics.map((metric) => (
            <Card key={metric} metric={metric} body={body} series={daily.data} />
          ))}
        </ul>
      )}
    </Panel>
  )
}

function Card({ metric, body, series }: { metric: Metric; body: Overview; series: Daily | undefined }) {
  const { label, kind } = metrics[metric]
  const { totals, previous, currency } = body
  const before = previous?.totals[metric]
  return (
    <li class="card">
      <span class="card-label">{label}</span>
      <span
        class={`card-value ${(totals[metric] ?? 0) < 0 ? 'loss' : ''}`}
        data-metric={metric}
        title={`${totals[metric] ?? ''}`}
      >
        {formatValue(totals[metric], kind, currency)}
      </span>
      {previous && hasNumbers(previous.totals) && (
        <span class="card-change">
          <Difference now={totals[metric]} before={before} kind={kind} />{' '}
          <span>vs. {formatValue(before, kind, currency)}</span>
        </span>
      )}
      <Spark values={series ? knownValues(series, metric) : []} />
    </li>
  )
}

/** The change of a value: relative, in percent; of a percentage, in percentage points. Screen readers read its sign. */
export function Difference({ now, before, kind }: { now: Value; before: Value; kind: MetricKind }) {
  const isPercentage = kind === 'percent'
  const isKnown = typeof now === 'number' && typeof before === 'number' && (isPercentage || before !== 0)
  if (!isKnown) return <span class="change same">{noValue}</span>
  const change = isPercentage ? now - before : ((now - before) / Math.abs(before)) * 100
  const [direction, arrow] = change > 0 ? ['up', '▲'] : change < 0 ? ['down', '▼'] : ['same', '■']
  const shown = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1, signDisplay: 'exceptZero' }).format(change)
  return (
    <span class={`change ${direction}`}>
      <span aria-hidden="true">{arrow}</span> {shown}
      {isPercentage ? ' pp' : '%'}
    </span>
  )
}

const sparkWidth = 120
const sparkHeight = 32

/** A line without axes; a value that does not exist is left out. */
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

import type { ResponseOf } from '../packages/client/client.ts'
import { csvOf } from './files.ts'
import { formatChange, formatValue, noValue, type Value } from './format.ts'
import { cardMetrics, hasNumbers, isCost, type Metric, metricNames, metrics, type SelectedMetric } from './metrics.ts'
import { Panel } from './panel.tsx'
import type { Loaded } from './request.ts'
import type { Daily } from './seriesParts.ts'

type Overview = ResponseOf<'/stats/overview'>

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
      <span class="hint">{label}</span>
      <span
        class={`card-value ${(totals[metric] ?? 0) < 0 ? 'loss' : ''}`}
        data-metric={metric}
        title={`${totals[metric] ?? ''}`}
      >
        {formatValue(totals[metric], kind, currency)}
      </span>
      {previous && hasNumbers(previous.totals) && (
        <span class="card-change hint">
          <Difference metric={metric} now={totals[metric]} before={before} />{' '}
          <span>vs. {formatValue(before, kind, currency)}</span>
        </span>
      )}
      <Spark values={series?.data.map((row) => (row.complete ? row[metric] : null)) ?? []} />
    </li>
  )
}

/** The change of a value: relative, in percent; of a percentage, in percentage points. Screen readers read its sign. */
export function Difference({ metric, now, before }: { metric: SelectedMetric; now: Value; before: Value }) {
  const isPercentage = metrics[metric].kind === 'percent'
  const isKnown = typeof now === 'number' && typeof before === 'number' && (isPercentage || before !== 0)
  if (!isKnown) return <span class="change hint">{noValue}</span>
  const exact = isPercentage ? now - before : ((now - before) / Math.abs(before)) * 100
  // As precise as it is shown: a change that is shown as zero is neither better nor worse.
  const change = Math.round(exact * 10) / 10
  const isBetter = change > 0 !== isCost(metric)
  return (
    <span class={`change ${change === 0 ? 'hint' : isBetter ? 'better' : 'worse'}`}>
      <span aria-hidden="true">{change > 0 ? '▲' : change < 0 ? '▼' : '■'}</span> {formatChange(change, isPercentage)}
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

import type { ResponseOf } from '../packages/client/client.ts'
import { csvOf } from './files.ts'
import { changeOf, formatValue, noValue } from './format.ts'
import { cardMetrics, type Metric, metricNames, metrics } from './metrics.ts'
import { Panel } from './panel.tsx'
import type { ApiRequest, Loaded } from './request.ts'

type Overview = ResponseOf<'/stats/overview'>
type Daily = ResponseOf<'/stats/daily'>

interface CardsProps {
  request: ApiRequest
  overview: Loaded<Overview>
  /** The series, for the spark lines. */
  daily: Loaded<Daily>
}

/** The totals of the range, each with its change against the comparison. */
export function Cards({ request, overview, daily }: CardsProps) {
  return (
    <Panel
      title="Totals"
      area="totals"
      scopes={['read:stats']}
      request={request}
      loaded={overview}
      csv={totalsCsv}
      empty="No totals."
    >
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
  const change = changeOf(totals[metric], before, kind)
  return (
    <li class="card">
      <span class="card-label">{label}</span>
      <span class="card-value" data-metric={metric} title={`${totals[metric] ?? ''}`}>
        {formatValue(totals[metric], kind, currency)}
      </span>
      {previous && (
        <span class="card-change">
          <Difference change={change} /> <span>vs. {formatValue(before, kind, currency)}</span>
        </span>
      )}
      <Spark values={series?.data.map((row) => row[metric]) ?? []} />
    </li>
  )
}

/** A change: an arrow and a number; screen readers read the sign of the number. */
export function Difference({ change }: { change: ReturnType<typeof changeOf> }) {
  if (!change) return <span class="change same">{noValue}</span>
  const arrow = { up: '▲', down: '▼', same: '■' }[change.direction]
  return (
    <span class={`change ${change.direction}`}>
      <span aria-hidden="true">{arrow}</span> {change.text}
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
      <polyline points={line.join(' ')} />
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

import { useRef, useState } from 'preact/hooks'
import { comparedText } from './comparedText.ts'
import { Button } from './controls.tsx'
import type { Emptiness } from './empty.tsx'
import type { FileRow } from './files.ts'
import { formatChange, formatTotal, formatValue, lossClass, type Value } from './format.ts'
import { cardMetrics, hasNumbers, isCost, type Metric, metricNames, metrics, type SelectedMetric } from './metrics.ts'
import { Panel } from './panel.tsx'
import { type Loaded, useGet } from './request.ts'
import { type Daily, drawnValues, type Overview } from './seriesValues.ts'
import type { OpenRows } from './sidePanel.tsx'
import { type PanelProps, selectionOf, type View } from './view.ts'

type CardsProps = PanelProps & { overview: Loaded<Overview>; daily: Loaded<Daily>; empty: Emptiness; onRows: OpenRows }

/** The totals of the range, each with its change against the comparison, and its spark line. A total draws its series. */
export function Cards({ overview, daily, empty, view, onChange, onRows }: CardsProps) {
  const [hasAll, setAll] = useState(false)
  const first = [...cardMetrics, ...view.metrics] as readonly Metric[]
  const drawn = view.seriesBy ? view.metrics.slice(0, 1) : view.metrics
  const [isSplit, setSplit] = useState(false)
  const other = view.countAt === 'click' ? 'conversion' : 'click'
  const isOver = overview.data && overview.data.to <= overview.data.asOf
  const atOther = isOver && isSplit ? ({ ...selectionOf(view), count_at: other } as const) : undefined
  const byOther = useGet('/stats/overview', atOther)
  const ofOwn = useLast(view, overview)
  const ofOther = useLast(view, byOther)
  // Each is read by itself, and a range such as yesterday moves.
  const otherBody = ofOwn?.to === ofOther?.to ? ofOther : undefined
  // Asked after the first view is drawn.
  const isDrawn = overview.phase === 'ready' && daily.phase === 'ready'
  const onlyBots = isDrawn ? ({ ...selectionOf(view), bots: 'only' } as const) : undefined
  const ofBots = useLast(view, useGet('/stats/overview', onlyBots))
  const botsText = ofBots && textOfBots(ofBots)
  function openBots() {
    const list = { path: '/clicks' as const, query: { ...selectionOf(view), is_bot: true } }
    onRows({ list, title: 'Clicks of bots', count: ofBots?.totals.clicks })
  }
  const controls = (
    <>
      <Button onClick={() => setAll(!hasAll)}>{hasAll ? 'Fewer totals' : 'All totals'}</Button>
      {isOver && (
        <Button aria-pressed={isSplit} onClick={() => setSplit(!isSplit)}>
          By {other} time too
        </Button>
      )}
    </>
  )
  const { request, data } = overview
  const lacksOther = atOther && !otherBody && overview.phase === 'ready'
  const loaded = lacksOther ? ({ ...byOther, request, data } as typeof overview) : overview
  return (
    <Panel title="Totals" area="totals" loaded={loaded} csv={totalsCsv} controls={controls}>
      {(body) => (
        <>
          <div class="cards">
            {metricsIn(body)
              .filter((name) => hasAll || first.includes(name))
              .map((metric) => (
                <Button
                  key={metric}
                  class={`card metric-${view.seriesBy ? 0 : drawn.indexOf(metric) + 1}`}
                  aria-pressed={drawn.includes(metric)}
                  onClick={() => onChange({ metrics: drawnWith(metric, view) })}
                >
                  <Card metric={metric} body={body} other={atOther && otherBody} />
                  <Spark values={daily.data ? drawnValues(daily.data, metric, empty.firstDate).whole : []} />
                </Button>
              ))}
          </div>
          <p class="state hint" role="status">
            {comparedText(body, empty.firstDate)} {'revenue' in body.totals && 'Revenue is of approved conversions.'}
          </p>
          {botsText && (
            <Button class="count-link hint" onClick={openBots}>
              {botsText}
            </Button>
          )}
        </>
      )}
    </Panel>
  )
}

/** The metrics of the series after a click on one: it is removed, or added to the one that was added last. A series by a dimension has one. */
function drawnWith(metric: Metric, { metrics: drawn, seriesBy }: View): readonly Metric[] {
  if (seriesBy) return [metric]
  const others = drawn.filter((name) => name !== metric)
  return others.length < drawn.length ? (others.length > 0 ? others : drawn) : [...others.slice(-1), metric]
}

/** Conversions that the totals do not count yet, and their revenue; empty: there are none. */
function pendingText({ totals, currency }: Overview): string {
  const { pendingConversions = 0, holdConversions = 0, pendingRevenue } = totals
  const count = pendingConversions + holdConversions
  if (count === 0) return ''
  const amount = pendingRevenue === undefined ? '' : `, ${formatTotal(pendingRevenue, 'amount', currency)}`
  return `and ${formatValue(count, 'count')} ${holdConversions ? 'pending or on hold' : 'pending'}${amount}`
}

/** Conversions by click time that came after the range; empty: none, or conversions count at their own time. */
function lateText({ totals, lateConversions = 0 }: Overview): string {
  if (lateConversions === 0) return ''
  return `${formatValue(lateConversions, 'count')} of ${formatValue(totals.conversions, 'count')} came after the range`
}

/** Says which clicks of bots the totals leave out, and their cost; empty: there are none. */
function textOfBots({ totals: { clicks = 0, cost }, currency }: Overview): string {
  const amount = cost === undefined ? '' : `, ${formatValue(cost, 'amount', currency)},`
  return clicks > 0 ? `${formatValue(clicks, 'count')} clicks of bots${amount} are not counted` : ''
}

/** @param other the totals with conversions at the other time, if they are shown too */
function Card({ metric, body, other }: { metric: Metric; body: Overview; other: Overview | undefined }) {
  const { totals, previous, currency } = body
  const { label, kind } = metrics[metric]
  const before = hasNumbers(previous?.totals) ? previous?.totals?.[metric] : undefined
  const format = (value: Value) => formatTotal(value, kind, currency)
  const isOther = other && (metric === 'conversions' || other.totals[metric] !== totals[metric])
  return (
    <>
      <span class="hint">{label}</span>
      <span
        class={`card-value ${lossClass(totals[metric], kind, currency)}`}
        data-metric={metric}
        title={`${totals[metric] ?? ''}`}
      >
        {format(totals[metric])}
      </span>
      <span class="hint">{metric === 'conversions' && pendingText(body)}</span>
      {typeof before === 'number' && (
        <span class="card-change hint">
          <Difference metric={metric} now={totals} before={previous?.totals} currency={currency} />{' '}
          {before * (totals[metric] ?? 0) >= 0 && <span>vs. {format(before)}</span>}
        </span>
      )}
      <span class="hint">{isOther && `${format(other.totals[metric])} by ${other.countAt ?? 'conversion'} time`}</span>
      {metric === 'conversions' && <span class="hint">{lateText(other?.countAt ? other : body)}</span>}
    </>
  )
}

/** The last response to a request about a view. It stays while the request is repeated. */
function useLast(view: View, { phase, data }: Loaded<Overview>): Overview | undefined {
  const last = useRef<{ view: View; data: Overview }>(undefined)
  if (phase === 'ready') last.current = { view, data }
  return last.current?.view === view ? last.current.data : undefined
}

type Values = Partial<Record<SelectedMetric, Value>>

/** Smaller changes, in percent of the earlier value, and rows with fewer clicks are as often chance. */
const judged = { percent: 20, clicks: 50 }

type DifferenceProps = { metric: SelectedMetric; now: Values; before: Values | null | undefined; currency: string } & {
  /** Whether the difference is shown instead of the relative change. */
  isAmount?: boolean
}

/** The change of a value; nothing if it is not known, or the earlier values are all zero. */
export function Difference({ metric, currency, isAmount, ...values }: DifferenceProps) {
  const [now, before] = [values.now[metric], values.before?.[metric]]
  const { kind } = metrics[metric]
  const isPercentage = kind === 'percent'
  if (typeof now !== 'number' || typeof before !== 'number') return null
  if (!isAmount && ((before === 0 && !isPercentage) || !hasNumbers(values.before))) return null
  const relative = ((now - before) / Math.abs(before)) * 100
  // As precise as it is shown: a change that is shown as zero is neither better nor worse.
  const change = Math.round((isPercentage ? now - before : relative) * 10) / 10
  const clicks = Math.max(values.now.clicks ?? 0, values.before?.clicks ?? 0)
  const isJudged = change !== 0 && Math.abs(relative) > judged.percent && clicks >= judged.clicks
  const isBetter = change > 0 !== isCost(metric)
  return (
    <span class={`change ${isJudged ? (isBetter ? 'better' : 'worse') : 'hint'}`}>
      {isAmount && !isPercentage
        ? `${now > before ? '+' : ''}${formatValue(now - before, kind, currency)}`
        : formatChange(now, before, kind, currency)}
    </span>
  )
}

/** A line without axes; a value that does not exist, or is not complete, is left out. Browsers draw no coordinates of many digits. */
function Spark({ values }: { values: readonly (number | null)[] }) {
  const known = values.map((value) => value ?? 0)
  const top = Math.max(0, ...known)
  const height = top - Math.min(0, ...known) || 1
  const box = [0, -top / height, Math.max(1, values.length - 1), 1]
  const points = values.flatMap((value, at) => (value === null ? [] : [`${at},${-value / height}`]))
  return (
    <svg class="spark" viewBox={box.join(' ')} preserveAspectRatio="none" aria-hidden="true">
      <polyline points={points.join(' ')} vector-effect="non-scaling-stroke" />
    </svg>
  )
}

/** The metrics that exist for the key. */
const metricsIn = ({ totals }: Overview) => metricNames.filter((name) => name in totals)

const totalsCsv = (body: Overview): FileRow[] =>
  metricsIn(body).map((metric) => {
    const previous = body.previous?.totals && { previous: body.previous.totals[metric] }
    return { metric, value: body.totals[metric], ...previous }
  })

import type { FunnelQuery } from '../../../schema/funnel.ts'
import { daysDefault } from '../../../schema/range.ts'
import { type Scope, scopesOfKinds } from '../../../schema/scopes.ts'
import { invalidParameter, lacksScope } from '../../problem.ts'
import { readFilters } from '../../query/filters.ts'
import type { PlanCaller } from '../../query/readContext.ts'
import { retainedFrom } from '../../query/retained.ts'
import { localRange, rangeDaysMax } from '../../query/timeRange.ts'
import { dayMs, hourMs } from '../../stores/timing/units.ts'

export type StepKind = 'click' | 'conversion' | 'event'

export type FunnelPlan = Readonly<ReturnType<typeof planFunnel>>

const windowMaxMs = 30 * dayMs

/**
 * Builds the query plan of a funnel; no I/O.
 * @throws Problem `insufficient_scope`, `invalid_window`, `invalid_range`, `invalid_from`, `invalid_to`, `invalid_date_range`, `invalid_tz`, or
 *   `invalid_<filter>`
 */
export function planFunnel(query: FunnelQuery, caller: PlanCaller & { scopes: ReadonlySet<Scope> }, nowMs: number) {
  const steps = query.steps.split(',')
  const rows = steps.map(labelOfStep)
  const labels = [...new Set(rows)]
  for (const label of labels) {
    const scope = scopesOfKinds[kindOf(label)]
    if (scope && !caller.scopes.has(scope)) throw lacksScope(scope)
  }
  const { clicksMs, eventsMs } = caller.retained
  const hasEvents = labels.some((label) => kindOf(label) === 'event')
  const retainedMs = Math.max(clicksMs, hasEvents ? eventsMs : 0)
  const { range } = localRange(query, daysDefault, rangeDaysMax, 'A funnel', nowMs)
  return {
    accountId: caller.accountId,
    steps,
    /** The steps without repetitions, in their order: `click`, `conversion`, or `event:` and a name. */
    labels,
    /** The label of each step, an index of `labels`. */
    labelOf: rows.map((label) => labels.indexOf(label)),
    by: query.by ?? 'visitor',
    windowMs: parseWindow(query.window ?? '7d'),
    /** The range of the first step. */
    range,
    /** The filters of the first step. */
    filters: readFilters(query, caller.entityValues),
    groupBy: query.group_by,
    /** All steps read clicks: for visitors, and to exclude bots. */
    retained: retainedFrom(range.fromMs, retainedMs),
    /** Clicks from before this time are being removed, and not read. */
    clicksFromMs: clicksMs,
    /** From when rows are steps, epoch milliseconds: the latest time of `retained`, also of conversions beside clicks or events. */
    stepsFromMs: labels.every((label) => kindOf(label) === 'conversion') ? 0 : retainedMs,
    nowMs,
  }
}

/** Whether two steps have the same rows. */
export function isRepeated({ labels, labelOf }: FunnelPlan): boolean {
  return labels.length < labelOf.length
}

export function kindOf(label: string): StepKind {
  return label === 'click' || label === 'conversion' ? label : 'event'
}

const labelOfStep = (step: string) => (kindOf(step) === 'event' && !step.startsWith('event:') ? `event:${step}` : step)

function parseWindow(text: string): number {
  const windowMs = Number(text.slice(0, -1)) * (text.endsWith('h') ? hourMs : dayMs)
  if (windowMs <= windowMaxMs) return windowMs
  throw invalidParameter('window', 'must be 1h to 30d.')
}

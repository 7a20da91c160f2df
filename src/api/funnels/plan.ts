import { type FunnelDimension, type FunnelQuery, funnelDaysDefault } from '../../../schema/funnel.ts'
import type { Scope } from '../../../schema/scopes.ts'
import { Problem } from '../../problem.ts'
import { type Filter, readFilters } from '../../query/filters.ts'
import { type RetainedFrom, retainedFrom } from '../../query/retained.ts'
import { assertDaysAtMost, type Range, rangeDaysMax, reportRange } from '../../query/timeRange.ts'
import { readTimeZone } from '../../query/timeZone.ts'
import type { RetainedRanges } from '../../stores/postgres/retainedRanges.ts'

/** The rows that a step counts. */
export type StepRows = { kind: 'click' } | { kind: 'conversion' } | { kind: 'event'; eventName: string }

/** Query plan of a funnel. */
export interface FunnelPlan {
  accountId: string
  /** Steps as in the request. */
  steps: readonly string[]
  /** The rows of the steps without repetitions, in the order of the steps. */
  labels: readonly StepRows[]
  /** The label of each step, an index of `labels`. */
  labelOf: readonly number[]
  by: 'visitor' | 'click'
  windowMs: number
  /** Of the first step. */
  range: Range
  /** Of the first step. */
  filters: readonly Filter[]
  groupBy: FunnelDimension | undefined
  /** All steps read clicks: their visitors, and which are those of bots. */
  retained: RetainedFrom
  /** Rows from before these times are being removed, and not read. */
  retainedRanges: RetainedRanges
  nowMs: number
}

const hourMs = 3_600_000
const windowMaxMs = 30 * 24 * hourMs

/** Scopes that steps require besides that of the route. */
const scopesOfSteps: Partial<Record<StepRows['kind'], Scope>> = {
  click: 'read:clicks',
  conversion: 'read:conversions',
}

/**
 * Builds the query plan of a funnel; no I/O.
 * @throws Problem `insufficient_scope`, `invalid_window`, `invalid_from`, `invalid_to`, `invalid_date_range`, `invalid_tz`, or
 *   `invalid_<filter>`
 */
export function planFunnel(
  query: FunnelQuery,
  caller: { accountId: string; scopes: ReadonlySet<Scope>; retained: RetainedRanges },
  nowMs: number,
): FunnelPlan {
  const steps = query.steps.split(',')
  const rows = steps.map(rowsOf)
  for (const { kind } of rows) {
    const scope = scopesOfSteps[kind]
    if (scope && !caller.scopes.has(scope)) {
      throw new Problem('insufficient_scope', `This API key lacks the scope ${scope}.`, { required: scope })
    }
  }
  const keys = rows.map((one) => JSON.stringify(one))
  const distinct = [...new Set(keys)]
  const zone = readTimeZone(query.tz ?? 'UTC')
  const range = reportRange(query, funnelDaysDefault, zone, nowMs)
  assertDaysAtMost(rangeDaysMax, range, zone, 'A funnel')
  return {
    accountId: caller.accountId,
    steps,
    labels: distinct.map((key) => JSON.parse(key) as StepRows),
    labelOf: keys.map((key) => distinct.indexOf(key)),
    by: query.by ?? 'visitor',
    windowMs: readWindow(query.window ?? '7d'),
    range,
    filters: readFilters(query),
    groupBy: query.group_by,
    retained: retainedFrom(
      range.fromMs,
      Math.max(caller.retained.clicksMs, rows.some(({ kind }) => kind === 'event') ? caller.retained.eventsMs : 0),
    ),
    retainedRanges: caller.retained,
    nowMs,
  }
}

/** Whether two steps have the same rows. */
export function isRepeated({ labels, labelOf }: FunnelPlan): boolean {
  return labels.length < labelOf.length
}

function rowsOf(step: string): StepRows {
  if (step === 'click' || step === 'conversion') return { kind: step }
  return { kind: 'event', eventName: step.replace(/^event:/, '') }
}

function readWindow(text: string): number {
  const windowMs = Number(text.slice(0, -1)) * (text.endsWith('h') ? hourMs : 24 * hourMs)
  if (windowMs <= windowMaxMs) return windowMs
  throw new Problem('invalid_window', 'window must be 1h to 30d.', { param: 'window' })
}

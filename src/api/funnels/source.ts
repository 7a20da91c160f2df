import type { AttributeName } from '../../../schema/dimensions.ts'
import { attributeKey } from '../../query/facts/attributes.ts'
import { valueCondition } from '../../query/filters.ts'
import { onlyRetained } from '../../query/retained.ts'
import { ch, type Fragment, instant, join, nothing } from '../../stores/clickhouse/sql.ts'
import { rowNumber } from './chains.ts'
import type { FunnelPlan, StepRows } from './plan.ts'

/** The expressions of one kind of rows. */
export interface Source {
  at: Fragment
  label: Fragment
  /** Columns that identify a row. */
  key: Fragment
  /** `hashOf` the id of the visitor; of the empty text without one. */
  visitor: Fragment
  /** Whether every row has a visitor. */
  hasVisitor?: boolean
  /** `hashOf` the id of the click; of the empty text without one. */
  click: Fragment
  attribute(name: AttributeName): Fragment
}

/** The select list of a source. */
export function columnsOf(plan: FunnelPlan, source: Source, canStart: Fragment): Fragment {
  const columns = [
    ch`${unitOf(plan, source)} AS unit`,
    ch`${rowNumber(source.at, source.label, ch`if(${canStart}, 0, 1)`)} AS moment`,
  ]
  if (isRepeated(plan)) columns.push(ch`sipHash64(${source.key}) AS row`)
  if (plan.groupBy) columns.push(ch`toString(${attributeKey(plan.groupBy, source.attribute(plan.groupBy))}) AS bucket`)
  return join(columns, ', ')
}

/**
 * A hash of an id, faster to group and to join by than its text: `visitor_hash` and `click_hash` of events. 64 bits: with two
 * million ids the probability that two of them have the same one is 1 in 10 million.
 */
export function hashOf(id: Fragment): Fragment {
  return ch`sipHash64(${id})`
}

/** The hash of a row without a visitor or click. */
export const hashOfNone = hashOf(ch`''`)

function unitOf({ by }: FunnelPlan, { visitor, hasVisitor, click }: Source): Fragment {
  if (by === 'click') return click
  if (hasVisitor) return visitor
  return ch`if(${visitor} != ${hashOfNone}, ${visitor}, sipHash64('click', ${click}))`
}

/** Whether a row can be the first of a chain. */
export function canStart({ labels, filters, range }: FunnelPlan, kind: StepRows['kind'], source: Source): Fragment {
  if (labels[0]?.kind !== kind) return ch`0`
  const conditions = [
    ...(kind === 'event' ? [ch`${source.label} = 0`] : []),
    ch`${source.at} < ${instant(range.untilMs)}`,
    ...filters.map(({ attribute, ...values }) => valueCondition(source.attribute(attribute), values)),
  ]
  return ch`(${join(conditions, '\n  AND ')})`
}

/** A row of the first step that cannot start a chain is left out, unless another step has the same rows. */
export function canServe(plan: FunnelPlan, kind: StepRows['kind'], source: Source): Fragment[] {
  const isFirstOnly = plan.labelOf.indexOf(0, 1) === -1
  if (!isFirstOnly || plan.labels[0]?.kind !== kind) return []
  const isOther = kind === 'event' ? ch`${source.label} != 0 OR ` : nothing
  return [ch`(${isOther}${canStart(plan, kind, source)})`]
}

/** Whether two steps have the same rows. */
export function isRepeated({ labels, labelOf }: FunnelPlan): boolean {
  return labels.length < labelOf.length
}

/**
 * The range of rows that may continue a chain.
 * @param retainedMs from when rows are retained, epoch milliseconds
 */
export function rowRange({ range, windowMs }: FunnelPlan, retainedMs: number) {
  return onlyRetained({ fromMs: range.fromMs, untilMs: range.untilMs + windowMs }, retainedMs)
}

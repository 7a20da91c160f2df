import { notSet } from '../../../schema/dimensions.ts'
import type { FilterAttribute } from '../../../schema/filters.ts'
import { funnelGroupsMax } from '../../../schema/funnel.ts'
import { attributeKey, attributeOf } from '../../query/attributes.ts'
import { inRange } from '../../query/conditions.ts'
import { eventRows, hasClick, hashSql, hasVisitor, unitOf } from '../../query/eventRows.ts'
import { attributesOf, filterCondition } from '../../query/filters.ts'
import { onlyRetained } from '../../query/retained.ts'
import {
  ch,
  count,
  type Fragment,
  identifier,
  instant,
  join,
  nothing,
  text,
  texts,
} from '../../stores/clickhouse/sql.ts'
import { timeColumns } from '../../stores/clickhouse/tableColumns.ts'
import { chainsSql, rowNumber } from './chains.ts'
import { type FunnelPlan, isRepeated, kindOf, type StepKind } from './plan.ts'

/**
 * The steps of a funnel.
 * @param anyWithoutVisitor whether events without a visitor are read too
 * @returns one row: for each step from 1 `entered1`, …, from 2 `median2`, … (milliseconds, null if none). If the funnel is
 *   grouped: a row per group with `id`, by `entered1`, descending, then by id, and the totals of all groups
 */
export function funnelSql(plan: FunnelPlan, anyWithoutVisitor: boolean): Fragment {
  const sums = plan.steps.flatMap((_, index) => {
    const step = index + 1
    const hasReached = ch`depth >= ${count(step)}`
    const entered = ch`countIf(${hasReached}) AS ${identifier(`entered${step}`)}`
    if (step === 1) return [entered]
    const gap = identifier(`gap${step}`)
    const median = ch`quantileExactInclusiveIf(0.5)(${gap}, ${hasReached}) AS ${identifier(`median${step}`)}`
    return [entered, median]
  })
  const kinds = [...new Set(plan.labels.map(kindOf))]
  const rows = kinds.map((kind) =>
    kind === 'event' ? eventStepsSql(plan, anyWithoutVisitor) : factStepsSql(plan, kind),
  )
  const chains = chainsSql(plan, join(rows, '\nUNION ALL\n'))
  if (!plan.groupBy) {
    return ch`
SELECT ${join(sums)}
FROM (${chains})`
  }
  return ch`
SELECT if(bucket = '', ${text(notSet)}, bucket) AS id, ${join(sums)}
FROM (${chains})
GROUP BY id
WITH TOTALS
ORDER BY entered1 DESC, id
LIMIT ${count(funnelGroupsMax)}`
}

interface StepRows {
  kind: StepKind
  from: Fragment
  conditions: readonly Fragment[]
  at: Fragment
  label: Fragment
  /** A hash of the visitor or click. */
  unit: Fragment
  key: Fragment
  attribute(name: FilterAttribute): Fragment
}

/** Where the steps of facts are read, and which rows count. The visitor of a conversion is copied from its click where it has none. */
const factRows = {
  click: { table: 'clicks', from: ch`clicks`, clickId: ch`id`, isCounted: [ch`NOT is_bot`, ch`NOT is_test`] },
  conversion: {
    table: 'conversions',
    from: ch`conversions FINAL`,
    clickId: ch`click_id`,
    isCounted: [ch`status = 'approved'`, ch`NOT is_test`],
  },
} as const

function factStepsSql(plan: FunnelPlan, kind: keyof typeof factRows): Fragment {
  const { table, from, clickId, isCounted } = factRows[kind]
  const at = timeColumns[table]
  const hasUnit = plan.by === 'click' ? ch`click_id != ''` : ch`(visitor_id != '' OR click_id != '')`
  const isOfAccount = ch`account_id = ${text(plan.accountId)}`
  const isStep = kind === 'click' ? isCounted : [...isCounted, hasUnit]
  return rowsSql(plan, {
    kind,
    from,
    conditions: [isOfAccount, ...inRange(at, rowRange(plan)), ...isStep],
    at,
    label: ch`${count(plan.labels.indexOf(kind))}`,
    unit: unitOf(plan.by, hashSql(ch`visitor_id`), hashSql(clickId)),
    key: ch`id`,
    attribute: (name) => attributeOf(name, table),
  })
}

/**
 * Clicks are read only if something needs them: an event without a visitor takes the visitor of its click, and the first step takes the
 * attributes of its click for filters and groups.
 */
function eventStepsSql(plan: FunnelPlan, anyWithoutVisitor: boolean): Fragment {
  const { accountId, by, labels, filters, groupBy, clicksFromMs } = plan
  const names = labels.map((label) => (kindOf(label) === 'event' ? label.slice('event:'.length) : ''))
  const ofFirst = [...attributesOf(filters), ...(groupBy ? [groupBy] : [])]
  const attributes = kindOf(labels[0] as string) === 'event' ? [...new Set(ofFirst)] : []
  const needsVisitors = by === 'visitor' && anyWithoutVisitor
  const withUnit = by === 'click' ? hasClick : hasVisitor
  const conditions = [
    ch`account_id = ${text(accountId)}`,
    ...inRange(ch`occurred_at`, rowRange(plan)),
    ch`event_name IN ${texts(names.filter(Boolean))}`,
    needsVisitors ? ch`(${hasVisitor} OR ${hasClick})` : withUnit,
  ]
  const isNeeded = [
    ...(needsVisitors ? [ch`NOT (${hasVisitor})`] : []),
    ...(attributes.length === 0 ? [] : [ch`event_name = ${text(names[0] ?? '')}`]),
  ]
  const select = (columns: Fragment, all: readonly Fragment[]) => ch`
  SELECT ${columns}
  FROM pixel_events
  WHERE ${join(all, '\n  AND ')}`
  const key = isRepeated(plan) ? ch`, origin, id, generation` : nothing
  const { from, isCounted, unit, attribute } = eventRows({
    accountId,
    events: select(ch`occurred_at, event_name, click_hash, visitor_hash, campaign_id${key}`, conditions),
    clicksNeeded:
      isNeeded.length > 0 ? select(ch`click_hash`, [...conditions, ch`(${join(isNeeded, ' OR ')})`]) : undefined,
    by,
    attributes,
    clicksFromMs,
  })
  return rowsSql(plan, {
    kind: 'event',
    from,
    conditions: [isCounted],
    at: ch`e.occurred_at`,
    // Faster than indexOf, which reads every text: a name is looked up once per block.
    label: ch`transform(e.event_name, ${texts(names)}, range(${count(names.length)}), ${count(names.length)})`,
    unit,
    key: ch`e.origin, e.id, e.generation`,
    attribute,
  })
}

/** Whether the account has events without a visitor, `found`, from the projection `by_month`. */
export function anyWithoutVisitorSql(accountId: string): Fragment {
  return ch`SELECT countIf(empty(visitor_id)) > 0 AS found FROM pixel_events WHERE account_id = ${text(accountId)}`
}

/**
 * The rows of steps with the columns that `chainsSql` reads. Rows that are excluded, belong to no visitor or click, or can neither
 * start nor continue a chain are left out.
 */
function rowsSql(plan: FunnelPlan, steps: StepRows): Fragment {
  const { labels, labelOf, range, filters, groupBy } = plan
  const { kind, from, conditions, at, label, unit, key, attribute } = steps
  const hasFirst = kindOf(labels[0] as string) === kind
  const isFirst = kind === 'event' ? [ch`${label} = 0`] : []
  const startConditions = [
    ...isFirst,
    ch`${at} < ${instant(range.untilMs)}`,
    ...filters.map((filter) => filterCondition(filter, attribute)),
  ]
  const canStart = hasFirst ? ch`(${join(startConditions, '\n  AND ')})` : ch`0`
  // A row of the first step that cannot start a chain is left out, unless another step has the same rows.
  const isFirstOnly = hasFirst && labelOf.indexOf(0, 1) === -1
  const serves = isFirstOnly ? [kind === 'event' ? ch`(${label} != 0 OR ${canStart})` : canStart] : []
  const columns = [
    ch`${unit} AS unit`,
    ch`${rowNumber(at, label, ch`if(${canStart}, 0, 1)`)} AS moment`,
    ...(isRepeated(plan) ? [ch`sipHash64(${key}) AS row`] : []),
    ...(groupBy ? [ch`toString(${attributeKey(groupBy, attribute(groupBy))}) AS bucket`] : []),
  ]
  return ch`
SELECT ${join(columns)}
FROM ${from}
WHERE ${join([...conditions, ...serves], '\n  AND ')}`
}

/** The range of rows that may be steps. */
function rowRange({ range, windowMs, stepsFromMs }: FunnelPlan) {
  return onlyRetained({ fromMs: range.fromMs, untilMs: range.untilMs + windowMs }, stepsFromMs)
}

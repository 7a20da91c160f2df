import { inRange } from '../../query/conditions.ts'
import { attributeOf } from '../../query/facts/attributes.ts'
import { ch, count, type Fragment, join, text } from '../../stores/clickhouse/sql.ts'
import type { StoredEvents } from './copies.ts'
import { eventArms } from './eventRows.ts'
import type { FunnelPlan, StepRows } from './plan.ts'
import { canServe, canStart, columnsOf, hashOf, rowRange, type Source } from './source.ts'

/**
 * The rows of all steps, as `chainsSql` reads them. Rows that are excluded, belong to no visitor or click, or can neither
 * start nor continue a chain are left out.
 */
export function stepRowsSql(plan: FunnelPlan, events: StoredEvents): Fragment {
  const kinds = [...new Set(plan.labels.map(({ kind }) => kind))]
  return join(
    kinds.flatMap((kind) =>
      kind === 'event' ? eventArms(plan, events) : [kind === 'click' ? clicksSql(plan) : conversionsSql(plan)],
    ),
    '\nUNION ALL\n',
  )
}

function clicksSql(plan: FunnelPlan): Fragment {
  const source: Source = {
    at: ch`clicked_at`,
    label: labelOfKind(plan, 'click'),
    key: ch`id`,
    visitor: hashOf(ch`visitor_id`),
    click: hashOf(ch`id`),
    attribute: (name) => attributeOf(name, 'clicks'),
  }
  return ch`
SELECT ${columnsOf(plan, source, canStart(plan, 'click', source))}
FROM clicks
PREWHERE NOT is_bot AND NOT is_test
WHERE ${join(
    [
      ch`account_id = ${text(plan.accountId)}`,
      ...inRange(ch`clicked_at`, rowRange(plan, plan.retainedRanges.clicksMs)),
      ...canServe(plan, 'click', source),
    ],
    '\n  AND ',
  )}`
}

/** The visitor of a conversion is copied from its click where the conversion has none. */
function conversionsSql(plan: FunnelPlan): Fragment {
  const source: Source = {
    at: ch`converted_at`,
    label: labelOfKind(plan, 'conversion'),
    key: ch`id`,
    visitor: hashOf(ch`visitor_id`),
    click: hashOf(ch`click_id`),
    attribute: (name) => attributeOf(name, 'conversions'),
  }
  return ch`
SELECT ${columnsOf(plan, source, canStart(plan, 'conversion', source))}
FROM conversions FINAL
WHERE ${join(
    [
      ch`account_id = ${text(plan.accountId)}`,
      ...inRange(ch`converted_at`, rowRange(plan, 0)),
      ch`status = 'approved'`,
      ch`NOT is_test`,
      plan.by === 'click' ? ch`click_id != ''` : ch`(visitor_id != '' OR click_id != '')`,
      ...canServe(plan, 'conversion', source),
    ],
    '\n  AND ',
  )}`
}

function labelOfKind({ labels }: FunnelPlan, wanted: StepRows['kind']): Fragment {
  return ch`${count(labels.findIndex(({ kind }) => kind === wanted))}`
}

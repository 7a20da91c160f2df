import type { AttributeName } from '../../../schema/dimensions.ts'
import { inRange } from '../../query/conditions.ts'
import { attributeKey, attributeOf } from '../../query/facts/attributes.ts'
import { valueCondition } from '../../query/filters.ts'
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
import { rowNumber } from './chains.ts'
import { type CopiedKeys, eventsOnceSql } from './copies.ts'
import type { FunnelPlan, StepRows } from './plan.ts'

/**
 * The rows of all steps, as `chainsSql` reads them. Rows that are excluded, belong to no visitor or click, or can neither
 * start nor continue a chain are left out.
 * @param copies of `copiedKeysSql`
 */
export function stepRowsSql(plan: FunnelPlan, copies: CopiedKeys): Fragment {
  const kinds = [...new Set(plan.labels.map(({ kind }) => kind))]
  return join(
    kinds.flatMap((kind) =>
      kind === 'event' ? eventArms(plan, copies) : [kind === 'click' ? clicksSql(plan) : conversionsSql(plan)],
    ),
    '\nUNION ALL\n',
  )
}

/** The expressions of one kind of rows. */
interface Source {
  at: Fragment
  label: Fragment
  /** Columns that identify a row. */
  key: Fragment
  visitorId: Fragment
  clickId: Fragment
  attribute(name: AttributeName): Fragment
}

/** The select list of a source. */
function columnsOf(plan: FunnelPlan, source: Source, canStart: Fragment): Fragment {
  const columns = [
    ch`${unitOf(plan, source)} AS unit`,
    ch`${rowNumber(source.at, source.label, ch`if(${canStart}, 0, 1)`)} AS moment`,
  ]
  if (isRepeated(plan)) columns.push(ch`sipHash64(${source.key}) AS row`)
  if (plan.groupBy) columns.push(ch`toString(${attributeKey(plan.groupBy, source.attribute(plan.groupBy))}) AS bucket`)
  return join(columns, ', ')
}

/** A hash of 64 bits: with two million units the probability that two of them have the same one is 1 in 10 million. */
function unitOf({ by }: FunnelPlan, { visitorId, clickId }: Source): Fragment {
  if (by === 'click') return ch`sipHash64(${clickId})`
  return ch`if(${visitorId} != '', sipHash64(${visitorId}), sipHash64('click', ${clickId}))`
}

/** Whether a row belongs to a unit. */
function hasUnit({ by }: FunnelPlan, { visitorId, clickId }: Source): Fragment {
  return by === 'click' ? ch`${clickId} != ''` : ch`(${visitorId} != '' OR ${clickId} != '')`
}

/** Whether a row can be the first of a chain. */
function canStart({ labels, filters, range }: FunnelPlan, kind: StepRows['kind'], source: Source): Fragment {
  if (labels[0]?.kind !== kind) return ch`0`
  const conditions = [
    ...(kind === 'event' ? [ch`${source.label} = 0`] : []),
    ch`${source.at} < ${instant(range.untilMs)}`,
    ...filters.map(({ attribute, ...values }) => valueCondition(source.attribute(attribute), values)),
  ]
  return ch`(${join(conditions, '\n  AND ')})`
}

/** A row of the first step that cannot start a chain is left out, unless another step has the same rows. */
function canServe(plan: FunnelPlan, kind: StepRows['kind'], source: Source): Fragment[] {
  const isFirstOnly = plan.labelOf.indexOf(0, 1) === -1
  if (!isFirstOnly || plan.labels[0]?.kind !== kind) return []
  const isOther = kind === 'event' ? ch`${source.label} != 0 OR ` : nothing
  return [ch`(${isOther}${canStart(plan, kind, source)})`]
}

function isRepeated({ labels, labelOf }: FunnelPlan): boolean {
  return labels.length < labelOf.length
}

/** The range of rows that may continue a chain. */
function rowRange({ range, windowMs }: FunnelPlan) {
  return { fromMs: range.fromMs, untilMs: range.untilMs + windowMs }
}

function labelOfKind({ labels }: FunnelPlan, wanted: StepRows['kind']): Fragment {
  return ch`${count(labels.findIndex(({ kind }) => kind === wanted))}`
}

function clicksSql(plan: FunnelPlan): Fragment {
  const source: Source = {
    at: ch`clicked_at`,
    label: labelOfKind(plan, 'click'),
    key: ch`id`,
    visitorId: ch`visitor_id`,
    clickId: ch`id`,
    attribute: (name) => attributeOf(name, 'clicks'),
  }
  return ch`
SELECT ${columnsOf(plan, source, canStart(plan, 'click', source))}
FROM clicks
PREWHERE NOT is_bot AND NOT is_test
WHERE ${join(
    [
      ch`account_id = ${text(plan.accountId)}`,
      ...inRange(ch`clicked_at`, rowRange(plan)),
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
    visitorId: ch`visitor_id`,
    clickId: ch`click_id`,
    attribute: (name) => attributeOf(name, 'conversions'),
  }
  return ch`
SELECT ${columnsOf(plan, source, canStart(plan, 'conversion', source))}
FROM conversions FINAL
WHERE ${join(
    [
      ch`account_id = ${text(plan.accountId)}`,
      ...inRange(ch`converted_at`, rowRange(plan)),
      ch`status = 'approved'`,
      ch`NOT is_test`,
      hasUnit(plan, source),
      ...canServe(plan, 'conversion', source),
    ],
    '\n  AND ',
  )}`
}

/**
 * Events of the first step need attributes of their clicks, so they are joined with each click; the others are joined only
 * with the clicks that exclude them or have their visitor.
 */
function eventArms(plan: FunnelPlan, copies: CopiedKeys): Fragment[] {
  const names = plan.labels.map((label) => (label.kind === 'event' ? label.eventName : ''))
  const attributes = [
    ...new Set([...plan.filters.map(({ attribute }) => attribute), ...(plan.groupBy ? [plan.groupBy] : [])]),
  ]
  const [first = '', ...others] = names
  if (attributes.length === 0 || first === '') {
    return [eventsSql(plan, names, names.filter(Boolean), [], copies)]
  }
  const rest = others.filter(Boolean)
  return [
    eventsSql(plan, names, [first], attributes, copies),
    ...(rest.length === 0 ? [] : [eventsSql(plan, names, rest, [], copies)]),
  ]
}

/**
 * @param labels the event name of each label, empty for other rows
 * @param names event names to read
 * @param attributes of the click
 */
function eventsSql(
  plan: FunnelPlan,
  labels: readonly string[],
  names: readonly string[],
  attributes: readonly AttributeName[],
  copies: CopiedKeys,
): Fragment {
  const source: Source = {
    at: ch`e.occurred_at`,
    label: ch`(indexOf(${texts(labels)}, e.event_name) - 1)`,
    key: ch`e.origin, e.id, e.generation`,
    visitorId: ch`if(e.visitor_id != '', e.visitor_id, k.visitor_id)`,
    clickId: ch`e.click_id`,
    attribute(name) {
      const ofClick = identifier(attributeColumn(name))
      return name === 'campaign' ? ch`if(e.campaign_id != '', e.campaign_id, k.${ofClick})` : ch`k.${ofClick}`
    },
  }
  const conditions = [
    ch`account_id = ${text(plan.accountId)}`,
    ...inRange(ch`occurred_at`, rowRange(plan)),
    ch`event_name IN ${texts(names)}`,
    ...(plan.by === 'click' ? [ch`click_id != ''`] : []),
  ]
  const starts = attributes.length > 0 || names.length === labels.filter(Boolean).length
  const start = starts ? canStart(plan, 'event', source) : ch`0`
  const key = isRepeated(plan) ? ch`, origin, id, generation` : nothing
  const columns = ch`occurred_at, event_name, click_id, visitor_id, campaign_id${key}`
  return ch`
SELECT ${columnsOf(plan, attributes.length > 0 ? source : { ...source, attribute: () => ch`''` }, start)}
FROM (${eventsOnceSql(plan, columns, conditions, copies)}
) AS e
LEFT ANY JOIN (${clicksOfEventsSql(plan, attributes, conditions)}
) AS k ON e.click_id = k.id
WHERE ${join([ch`NOT k.is_excluded`, ...(starts ? canServe(plan, 'event', source) : [])], '\n  AND ')}`
}

function attributeColumn(name: AttributeName): string {
  return `attribute_${name}`
}

/**
 * The clicks that events are joined with: those of bots and tests, which exclude their events, and those with the visitor of
 * an event without one; with attributes the click of each event. An event may have copies that merges remove, so more clicks
 * than necessary are possible.
 * @param events conditions of the events
 */
function clicksOfEventsSql(
  plan: FunnelPlan,
  attributes: readonly AttributeName[],
  events: readonly Fragment[],
): Fragment {
  const account = ch`account_id = ${text(plan.accountId)}`
  const columns = [
    ch`id`,
    ch`visitor_id`,
    ch`is_bot OR is_test AS is_excluded`,
    ...attributes.map((name) => ch`toString(${attributeOf(name, 'clicks')}) AS ${identifier(attributeColumn(name))}`),
  ]
  const select = ch`
  SELECT ${join(columns, ', ')}
  FROM clicks
  WHERE ${account}`
  if (attributes.length > 0) {
    return ch`${select}
    AND ${isClickOf(account, events)}`
  }
  const excluded = ch`${select}
    AND (is_bot OR is_test)`
  if (plan.by === 'click') return excluded
  // The size of a text is a column of its own: without events of this kind the texts are not read.
  return join(
    [
      excluded,
      ch`${select}
    AND NOT is_bot AND NOT is_test
    AND ${isClickOf(account, [...events, ch`visitor_id.size = 0`])}`,
    ],
    '\nUNION ALL\n',
  )
}

/** @param events conditions of the events */
function isClickOf(account: Fragment, events: readonly Fragment[]): Fragment {
  return ch`(clicked_at, id) IN (
      SELECT clicked_at, id
      FROM click_index
      WHERE ${account}
        AND id IN (
          SELECT click_id
          FROM pixel_events
          WHERE ${join(events, '\n  AND ')}
        )
    )`
}

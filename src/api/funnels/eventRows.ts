import type { AttributeName } from '../../../schema/dimensions.ts'
import { inRange } from '../../query/conditions.ts'
import { attributeOf } from '../../query/facts/attributes.ts'
import { onlyRetained } from '../../query/retained.ts'
import { ch, count, type Fragment, identifier, join, nothing, text, texts } from '../../stores/clickhouse/sql.ts'
import { type CopiedKeys, eventsOnceSql, type StoredEvents } from './copies.ts'
import { eventNameOf, type FunnelPlan, joinsFirstEvents } from './plan.ts'
import { canServe, canStart, columnsOf, hashOf, hashOfNone, isRepeated, rowRange, type Source } from './source.ts'

/**
 * Events of the first step need attributes of their clicks, so they are joined with each click. The others are joined only
 * where their visitor is that of the click.
 */
export function eventArms(plan: FunnelPlan, events: StoredEvents): Fragment[] {
  const names = plan.labels.map(eventNameOf)
  const attributes = [
    ...new Set([...plan.filters.map(({ attribute }) => attribute), ...(plan.groupBy ? [plan.groupBy] : [])]),
  ]
  const [first = '', ...others] = names
  if (!joinsFirstEvents(plan)) {
    return plainEventArms(plan, names, names.filter(Boolean), events)
  }
  const rest = others.filter(Boolean)
  return [
    joinedEventsSql(plan, { labels: names, names: [first], attributes, conditions: ofUnit(plan, events) }, events),
    ...(rest.length === 0 ? [] : plainEventArms(plan, names, rest, events)),
  ]
}

/** Which events an arm reads. */
interface EventArm {
  /** The event name of each label, empty for other rows. */
  labels: readonly string[]
  /** Event names to read. */
  names: readonly string[]
  /** Attributes of the click. */
  attributes: readonly AttributeName[]
  /** Further conditions. */
  conditions: readonly Fragment[]
}

const hasVisitor = ch`visitor_hash != ${hashOfNone}`
const hasNoVisitor = ch`visitor_hash = ${hashOfNone}`
const hasClick = ch`click_hash != ${hashOfNone}`

/**
 * The events that belong to a visitor or click. An event without a visitor can be stored after the query that has found none:
 * it is left out, since its click was not read for its visitor.
 */
function ofUnit({ by }: FunnelPlan, { areJoined }: StoredEvents): Fragment[] {
  if (by === 'click') return []
  return [areJoined ? ch`(${hasVisitor} OR ${hasClick})` : hasVisitor]
}

/** Events that need no attribute of their click: those with a visitor, or counted by click, without a join. */
function plainEventArms(
  plan: FunnelPlan,
  labels: readonly string[],
  names: readonly string[],
  events: StoredEvents,
): Fragment[] {
  const arm = { labels, names, attributes: [] }
  const unjoined = unjoinedEventsSql(
    plan,
    { ...arm, conditions: plan.by === 'click' ? [] : [hasVisitor] },
    events.copies,
  )
  if (!events.areJoined) return [unjoined]
  return [unjoined, joinedEventsSql(plan, { ...arm, conditions: [hasNoVisitor, hasClick] }, events)]
}

function sourceOfEvents(labels: readonly string[]): Omit<Source, 'visitor' | 'attribute'> {
  return {
    at: ch`e.occurred_at`,
    // Faster than indexOf, which reads every text: a name is looked up once per block.
    label: ch`transform(e.event_name, ${texts(labels)}, range(${count(labels.length)}), ${count(labels.length)})`,
    key: ch`e.origin, e.id, e.generation`,
    click: ch`e.click_hash`,
  }
}

/** The conditions of the events of an arm. */
function eventConditions(plan: FunnelPlan, { names, conditions }: EventArm): Fragment[] {
  return [
    ch`account_id = ${text(plan.accountId)}`,
    ...inRange(ch`occurred_at`, rowRange(plan, plan.retainedRanges.eventsMs)),
    ch`event_name IN ${texts(names)}`,
    ...(plan.by === 'click' ? [hasClick] : []),
    ...conditions,
  ]
}

/** Whether the events of an arm may be those of the first step. */
function hasFirstStep({ labels, names, attributes }: EventArm): boolean {
  return attributes.length > 0 || names.length === labels.filter(Boolean).length
}

function unjoinedEventsSql(plan: FunnelPlan, arm: EventArm, copies: CopiedKeys): Fragment {
  const source: Source = {
    ...sourceOfEvents(arm.labels),
    visitor: ch`e.visitor_hash`,
    hasVisitor: true,
    attribute: () => ch`''`,
  }
  const starts = hasFirstStep(arm)
  const conditions = [
    ...eventConditions(plan, arm),
    ch`click_hash NOT IN (
    SELECT ${hashOf(ch`id`)}
    FROM clicks
    WHERE ${join([...retainedClicks(plan), ch`(is_bot OR is_test)`], '\n  AND ')}
  )`,
  ]
  const served = starts ? canServe(plan, 'event', source) : []
  return ch`
SELECT ${columnsOf(plan, source, starts ? canStart(plan, 'event', source) : ch`0`)}
FROM (${eventsOnceSql(plan, eventColumns(plan), conditions, copies)}
) AS e${served.length === 0 ? nothing : ch`\nWHERE ${join(served, '\n  AND ')}`}`
}

function joinedEventsSql(plan: FunnelPlan, arm: EventArm, events: StoredEvents): Fragment {
  const { attributes } = arm
  const source: Source = {
    ...sourceOfEvents(arm.labels),
    visitor: events.areJoined
      ? ch`if(e.visitor_hash != ${hashOfNone}, e.visitor_hash, ${hashOf(ch`k.visitor_id`)})`
      : ch`e.visitor_hash`,
    hasVisitor: !events.areJoined,
    attribute(name) {
      if (attributes.length === 0) return ch`''`
      const ofClick = identifier(attributeColumn(name))
      return name === 'campaign' ? ch`if(e.campaign_id != '', e.campaign_id, k.${ofClick})` : ch`k.${ofClick}`
    },
  }
  const conditions = eventConditions(plan, arm)
  const starts = hasFirstStep(arm)
  return ch`
SELECT ${columnsOf(plan, source, starts ? canStart(plan, 'event', source) : ch`0`)}
FROM (${eventsOnceSql(plan, eventColumns(plan), conditions, events.copies)}
) AS e
LEFT ANY JOIN (${clicksOfEventsSql(plan, attributes, conditions, events)}
) AS k USING (click_hash)
WHERE ${join([ch`NOT k.is_excluded`, ...(starts ? canServe(plan, 'event', source) : [])], '\n  AND ')}`
}

/** The columns of events that arms read. */
function eventColumns(plan: FunnelPlan): Fragment {
  const key = isRepeated(plan) ? ch`, origin, id, generation` : nothing
  return ch`occurred_at, event_name, click_hash, visitor_hash, campaign_id${key}`
}

/** The conditions of the clicks of an account that are not being removed. */
function retainedClicks({ accountId, retainedRanges }: FunnelPlan): Fragment[] {
  return [ch`account_id = ${text(accountId)}`, ...inRange(ch`clicked_at`, onlyRetained({}, retainedRanges.clicksMs))]
}

/** Events that a funnel reads, copies included. */
export interface EventCounts {
  /** Those of the first step. */
  first: number
  /** Those of any step. */
  withoutVisitor: number
}

/** @returns one row of `EventCounts` */
export function eventCountsSql(plan: FunnelPlan): Fragment {
  const labels = plan.labels.map(eventNameOf)
  const arm = { labels, names: labels.filter(Boolean), attributes: [], conditions: [] }
  return ch`
SELECT
  countIf(event_name = ${text(labels[0] ?? '')}) AS first,
  countIf(${hasNoVisitor}) AS withoutVisitor
FROM pixel_events
WHERE ${join(eventConditions(plan, arm), '\n  AND ')}`
}

/** The number of clicks that joins of this account may read, copies included. @returns one row `clicks` */
export function clickCountSql({ accountId }: FunnelPlan): Fragment {
  return ch`SELECT count() AS clicks FROM clicks WHERE account_id = ${text(accountId)}`
}

function attributeColumn(name: AttributeName): string {
  return `attribute_${name}`
}

/**
 * The clicks that events are joined with. An event may have copies that merges remove, so more clicks than necessary are
 * possible.
 * @param conditions those of the events
 */
function clicksOfEventsSql(
  plan: FunnelPlan,
  attributes: readonly AttributeName[],
  conditions: readonly Fragment[],
  { areJoined, readsAllClicks }: StoredEvents,
): Fragment {
  const account = ch`account_id = ${text(plan.accountId)}`
  const readsAll = attributes.length > 0 ? readsAllClicks.first : readsAllClicks.later
  const columns = [
    ch`${hashOf(ch`id`)} AS click_hash`,
    ch`is_bot OR is_test AS is_excluded`,
    ...(areJoined ? [ch`visitor_id`] : []),
    ...attributes.map((name) => ch`${attributeOf(name, 'clicks')} AS ${identifier(attributeColumn(name))}`),
  ]
  const ofEvents = ch`(clicked_at, id) IN (
      SELECT clicked_at, id
      FROM click_index
      WHERE ${account}
        AND id IN (
          SELECT click_id
          FROM pixel_events
          WHERE ${join(conditions, '\n  AND ')}
        )
    )`
  return ch`
  SELECT ${join(columns, ', ')}
  FROM clicks
  WHERE ${join([...retainedClicks(plan), ...(readsAll ? [] : [ofEvents])], '\n  AND ')}`
}

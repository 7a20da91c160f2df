import type { Bots } from '../../schema/countAt.ts'
import { isProperty } from '../../schema/dimensions.ts'
import type { FilterAttribute } from '../../schema/filters.ts'
import { ch, type Fragment, identifier, join, nothing, text } from '../stores/clickhouse/sql.ts'
import { attributeOf, hasAttribute } from './attributes.ts'
import { inRange } from './conditions.ts'
import { onlyRetained } from './retained.ts'

interface EventRowsQuery {
  accountId: string
  /** A SELECT of `occurred_at`, `click_hash`, `visitor_hash` and the columns that attributes need. */
  events: Fragment
  /** A SELECT of the `click_hash` of events whose click is read. Without it clicks only decide which events count. */
  clicksNeeded: Fragment | undefined
  /** What an event counts for: its visitor, else the visitor of its click, else its click; or its click. */
  by: 'visitor' | 'click'
  /** Attributes of clicks that are read. */
  attributes: readonly FilterAttribute[]
  /** Clicks from before this time are being removed, and not read. */
  clicksFromMs: number
  bots?: Bots | undefined
}

/** Settings of reads of a range of events. */
export const eventsByTime = { preferred_optimize_projection_name: 'by_occurred_at' } as const

/** Flags of clicks whose events do not count; with `only`, of those whose events count. */
const flags = { exclude: ch`(is_bot OR is_test)`, include: ch`is_test`, only: ch`(is_bot AND NOT is_test)` }

/**
 * Events with their clicks. The clicks are joined only if something needs them, since a click takes about 100 bytes of memory in a join.
 * @returns the events, as `e`; whether an event counts by its click; a hash of what it counts for; and its attributes, else those of its
 *   click, empty when absent
 */
export function eventRows({ events, clicksNeeded, by, attributes, ...query }: EventRowsQuery) {
  const { accountId, clicksFromMs, bots = 'exclude' } = query
  const ofAccount = [ch`account_id = ${text(accountId)}`, ...inRange(ch`clicked_at`, onlyRetained({}, clicksFromMs))]
  const clicksWhere = (condition: Fragment) => ch`
  FROM clicks
  WHERE ${join([...ofAccount, condition], '\n  AND ')}`
  const not = bots === 'only' ? nothing : ch`NOT `
  const attribute = (name: FilterAttribute) => attributeOfEvent(name, attributes)
  if (!clicksNeeded) {
    const flagged = ch`SELECT ${hashSql(ch`id`)}${clicksWhere(flags[bots])}`
    const unit = by === 'click' ? ch`e.click_hash` : ch`e.visitor_hash`
    return { from: ch`(${events}) AS e`, isCounted: ch`e.click_hash ${not}IN (${flagged})`, unit, attribute }
  }
  const columns = [
    ch`${hashSql(ch`id`)} AS click_hash, ${flags[bots]} AS is_flagged`,
    ch`${unitOf(by, hashSql(ch`visitor_id`), hashSql(ch`id`))} AS unit`,
    ...attributes.map((name) => ch`${attributeOf(name, 'clicks')} AS ${columnOf(name)}`),
  ]
  const isRead = ch`(${flags[bots]} OR ${hashSql(ch`id`)} IN (${clicksNeeded}))`
  // Without a stored click, the columns of the click are 0 or empty.
  const ofClick = ch`if(k.unit != 0, k.unit, ${unitOf(by, hashOfNone, ch`e.click_hash`)})`
  return {
    from: ch`(${events}) AS e
LEFT ANY JOIN (SELECT ${join(columns)}${clicksWhere(isRead)}
) AS k USING (click_hash)`,
    isCounted: ch`${not}k.is_flagged`,
    unit: by === 'click' ? ch`e.click_hash` : ch`if(e.visitor_hash != ${hashOfNone}, e.visitor_hash, ${ofClick})`,
    attribute,
  }
}

/** @param ofClicks attributes of clicks that are read */
function attributeOfEvent(name: FilterAttribute, ofClicks: readonly FilterAttribute[]): Fragment {
  if (isProperty(name)) return propertyOf(name.slice('property:'.length))
  if (isOwn(name)) return ch`e.${identifier(ownColumns[name])}`
  if (!ofClicks.includes(name)) return ch`''`
  const ofClick = ch`k.${columnOf(name)}`
  return name === 'campaign' ? ch`if(e.campaign_id != '', e.campaign_id, ${ofClick})` : ofClick
}

/** Attributes that are columns of events. A campaign is one too, else it is of the click. */
const ownColumns = { event_name: 'event_name', event_origin: 'origin' } as const
const isOwn = (name: FilterAttribute): name is keyof typeof ownColumns => name in ownColumns

/** Whether events take an attribute from their click. */
export const isOfClick = (name: FilterAttribute): boolean => hasAttribute(name, 'clicks')

/** Whether events have a value, of their own or of their click. */
export const eventsHave = (name: FilterAttribute): boolean => isOwn(name) || isOfClick(name)

/**
 * The text of a property; the JSON of a number or boolean; empty when absent. In stored JSON, which has no spaces, only a key follows
 * `{"` or `,"` and precedes `":`. TRAP: functions for JSON read none of a text with a number beyond 64 bits.
 */
function propertyOf(key: string): Fragment {
  const pattern = `[{,]"${key.replaceAll('.', '[.]')}":("(?:[^"\\\\]|\\\\.)*"|[^,}]*)`
  const json = ch`extract(e.properties, ${text(pattern)})`
  return ch`if(startsWith(${json}, '"'), JSONExtractString(${json}), ${json})`
}

const columnOf = (name: FilterAttribute): Fragment => identifier(`attribute_${name}`)

/**
 * A hash of an id, faster to group and to join by than its text: `visitor_hash` and `click_hash` of events. 64 bits: with two
 * million ids the probability that two of them have the same one is 1 in 10 million.
 */
export const hashSql = (id: Fragment): Fragment => ch`sipHash64(${id})`

/** The hash of a row without a visitor or click. */
const hashOfNone = hashSql(ch`''`)
export const hasVisitor = ch`visitor_hash != ${hashOfNone}`
export const hasClick = ch`click_hash != ${hashOfNone}`

/** The unit of a row from the hashes of its visitor and click. A visitor can have the id of a click. */
export function unitOf(by: EventRowsQuery['by'], visitor: Fragment, click: Fragment): Fragment {
  return by === 'click' ? click : ch`if(${visitor} != ${hashOfNone}, ${visitor}, sipHash64('click', ${click}))`
}

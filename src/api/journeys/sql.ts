import type { ClickHouseSettings } from '@clickhouse/client'
import { inRange } from '../../query/conditions.ts'
import { type EventKey, isAfterEvent } from '../../query/eventKey.ts'
import { eventsByTime } from '../../query/eventRows.ts'
import { idsIndexHints } from '../../query/idsIndex.ts'
import { isAfter, type PageKey } from '../../query/pagination.ts'
import { onlyRetained } from '../../query/retained.ts'
import { hasTrigrams } from '../../query/searchText.ts'
import { ch, count, type Fragment, join, nothing, text, texts } from '../../stores/clickhouse/sql.ts'
import type { JourneyPlan } from './plan.ts'

/** Clicks of a visitor that are listed in a query; the clicks of a visitor with more are a subquery. 1,000 ids take 67 KB. */
export const listedClicksMax = 1_000

/** The ids of the clicks of a visitor, or `many` if there are more than `listedClicksMax`; none in the journey of a click. */
export type VisitorClicks = readonly string[] | 'many'

/**
 * The clicks of a journey after a key, oldest first.
 * TRAP: without PREWHERE ClickHouse 26.7 reads the id of every row (`newestSql` of /clicks).
 * @returns rows `atMs`, `id`
 */
export function clickKeysSql(plan: JourneyPlan, lastKey: PageKey | undefined, limit: number): Fragment {
  const { of } = plan
  const ofClick = ch`(clicked_at, id) IN (
    SELECT clicked_at, id
    FROM click_index
    WHERE account_id = ${text(plan.accountId)}
      AND id = ${text(of.id)}
  )`
  const isOfVisitor = of.column === 'visitor_id'
  const conditions = [...retainedClicks(plan), isAfter(lastKey, ch`clicked_at`, ch`id`, true)]
  return ch`
SELECT toUnixTimestamp64Milli(clicked_at) AS atMs, id
FROM clicks${isOfVisitor ? ch`\nPREWHERE ${isVisitorsClick(of.id)}` : nothing}
WHERE ${join([...conditions, ...(isOfVisitor ? [] : [ofClick])], '\n  AND ')}
ORDER BY clicked_at, id
LIMIT 1 BY clicked_at, id
LIMIT ${count(limit)}`
}

function isVisitorsClick(visitorId: string): Fragment {
  const filter = { attribute: 'visitor_id', values: [visitorId], isExcluded: false } as const
  return join([ch`visitor_id = ${text(visitorId)}`, ...idsIndexHints([filter])], '\n  AND ')
}

function retainedClicks({ accountId, retainedRanges }: JourneyPlan): Fragment[] {
  return [ch`account_id = ${text(accountId)}`, ...inRange(ch`clicked_at`, onlyRetained({}, retainedRanges.clicksMs))]
}

/**
 * The keys of the next events of a journey, oldest first. A row that a merge will remove may be among them.
 * @returns rows `atMs`, `origin`, `id`, `generation`
 */
export function eventKeysSql(plan: JourneyPlan, clicks: VisitorClicks, lastKey: EventKey | undefined, limit: number) {
  const at = ch`occurred_at`
  const conditions = [
    ch`account_id = ${text(plan.accountId)}`,
    ...inRange(at, onlyRetained({}, plan.retainedRanges.eventsMs)),
    isAfterEvent(lastKey, at, true),
  ]
  const parts = membership(plan, clicks).map(
    (isMember) => ch`pixel_events
  WHERE ${join([...conditions, isMember], '\n  AND ')}`,
  )
  return mergedKeysSql(at, ch`origin, id, generation`, parts, limit)
}

/**
 * The settings of `eventKeysSql`. Events of a visitor with many clicks are read in the order of time.
 * TRAP: ClickHouse 26.7 chooses between an index of a list of clicks and the projection before it reads the index, and then reads
 * the projection in full.
 */
export function eventKeysSettings(clicks: VisitorClicks): ClickHouseSettings {
  return clicks === 'many' ? eventsByTime : { optimize_use_projections: 0, use_skip_indexes_on_data_read: 0 }
}

/**
 * The keys of the next conversions of a journey, oldest first. A version that is not the latest may be among them; a key may
 * be repeated.
 * @returns rows `atMs`, `id`
 */
export function conversionKeysSql(plan: JourneyPlan, clicks: VisitorClicks, after: PageKey | undefined, limit: number) {
  const at = ch`converted_at`
  const conditions = [ch`account_id = ${text(plan.accountId)}`, isAfter(after, at, ch`id`, true)]
  const { id } = plan.of
  const hint = id.length < 3 ? [] : [hasTrigrams(id.toLowerCase())]
  // Only the first condition is on a single value, which the index of trigrams can find.
  const parts = membership(plan, clicks).map(
    (isMember, index) => ch`conversions
  PREWHERE ${join([...(index === 0 ? hint : []), isMember], '\n  AND ')}
  WHERE ${join(conditions, '\n  AND ')}`,
  )
  return mergedKeysSql(at, ch`id`, parts, limit)
}

/** The next keys of several reads, oldest first. @param columns the columns of the key after the time */
function mergedKeysSql(at: Fragment, columns: Fragment, parts: readonly Fragment[], limit: number): Fragment {
  const order = ch`
ORDER BY ${at}, ${columns}
LIMIT ${count(limit)}`
  const each = parts.map(
    (part) => ch`SELECT * FROM (
  SELECT ${at}, ${columns}
  FROM ${part}${order}
)`,
  )
  return ch`
SELECT toUnixTimestamp64Milli(${at}) AS atMs, ${columns}
FROM (
${join(each, '\nUNION ALL\n')}
)${order}`
}

/** Each event or conversion of a journey matches exactly one of these conditions; each condition can use an index of its own. */
export function membership(plan: JourneyPlan, clicks: VisitorClicks): Fragment[] {
  const { column, id } = plan.of
  if (column === 'click_id') return [ch`click_id = ${text(id)}`]
  const isVisitors = ch`visitor_id = ${text(id)}`
  if (clicks !== 'many' && clicks.length === 0) return [isVisitors]
  const ids =
    clicks === 'many'
      ? ch`(
    SELECT id
    FROM clicks
    PREWHERE ${isVisitorsClick(id)}
    WHERE ${join(retainedClicks(plan), '\n  AND ')}
  )`
      : texts(clicks)
  return [
    isVisitors,
    ch`visitor_id != ${text(id)}
  AND click_id IN ${ids}`,
  ]
}

import type { ClickHouseSettings } from '@clickhouse/client'
import { clickIndexHints } from '../../query/clickIdsIndex.ts'
import { inRange } from '../../query/conditions.ts'
import type { EventKey } from '../../query/eventKey.ts'
import { afterOldest, type PageKey } from '../../query/pagination.ts'
import { onlyRetained } from '../../query/retained.ts'
import { hasTrigrams } from '../../query/trigrams.ts'
import { ch, count, type Fragment, instant, join, nothing, text, texts } from '../../stores/clickhouse/sql.ts'
import type { KindStart } from './key.ts'
import type { JourneyPlan } from './plan.ts'

/** Clicks of a visitor that are listed in a query; the clicks of a visitor with more are a subquery. 1,000 ids take 67 KB. */
export const listedClicksMax = 1_000

/** The ids of the clicks of a visitor, or `many` if there are more than `listedClicksMax`; none in the journey of a click. */
export type VisitorClicks = readonly string[] | 'many'

/**
 * The clicks of a journey, oldest first.
 * TRAP: without PREWHERE ClickHouse 26.7 reads the id of every row (`clickKeysSql` of /clicks).
 * @returns rows `atMs`, `id`
 */
export function clickKeysSql(plan: JourneyPlan, start: KindStart<PageKey>, limit: number): Fragment {
  const account = ch`account_id = ${text(plan.accountId)}`
  const isRetained = inRange(ch`clicked_at`, onlyRetained({}, plan.retainedRanges.clicksMs))
  const [prewhere, ofClick] =
    'visitorId' in plan.of
      ? [ch`\nPREWHERE ${join(isVisitorsClick(plan.of.visitorId), '\n  AND ')}`, []]
      : [
          nothing,
          [
            ch`(clicked_at, id) IN (
    SELECT clicked_at, id
    FROM click_index
    WHERE ${account}
      AND id = ${text(plan.of.clickId)}
  )`,
          ],
        ]
  return ch`
SELECT toUnixTimestamp64Milli(clicked_at) AS atMs, id
FROM clicks${prewhere}
WHERE ${join([account, ...isRetained, ...fromStart(start, ch`clicked_at`), ...ofClick], '\n  AND ')}
ORDER BY clicked_at, id
LIMIT 1 BY clicked_at, id
LIMIT ${count(limit)}`
}

function isVisitorsClick(visitorId: string): Fragment[] {
  return [
    ch`visitor_id = ${text(visitorId)}`,
    ...clickIndexHints([{ column: 'visitor_id', values: [visitorId], isExcluded: false }]),
  ]
}

/**
 * The keys of the next events of a journey, oldest first. A row that a merge will remove may be among them.
 * @returns rows `atMs`, `origin`, `id`, `generation`
 */
export function eventKeysSql(
  plan: JourneyPlan,
  clicks: VisitorClicks,
  start: KindStart<EventKey>,
  limit: number,
): Fragment {
  const { key } = start
  const fromMs = key ? key.atMs : start.fromMs
  const conditions = [
    ch`account_id = ${text(plan.accountId)}`,
    ...inRange(ch`occurred_at`, onlyRetained({ fromMs }, plan.retainedRanges.eventsMs)),
    ...(key
      ? [
          ch`(occurred_at, origin, id, generation) > (${instant(key.atMs)}, ${text(key.origin)}, ${text(key.id)}, ${count(key.generation)})`,
        ]
      : []),
  ]
  const order = ch`
ORDER BY occurred_at, origin, id, generation
LIMIT ${count(limit)}`
  const parts = membership(plan, clicks).map(
    (isMember) => ch`SELECT * FROM (
  SELECT occurred_at, origin, id, generation
  FROM pixel_events
  WHERE ${join([...conditions, isMember], '\n  AND ')}${order}
)`,
  )
  return ch`
SELECT toUnixTimestamp64Milli(occurred_at) AS atMs, origin, id, generation
FROM (
${join(parts, '\nUNION ALL\n')}
)${order}`
}

/**
 * The settings of `eventKeysSql`. Of a visitor with many clicks, events are read in the order of time.
 * TRAP: ClickHouse 26.7 chooses between an index of a list of clicks and the projection before it reads the index, and then reads
 * the projection in full.
 */
export function eventKeysSettings(clicks: VisitorClicks): ClickHouseSettings {
  return clicks === 'many'
    ? { preferred_optimize_projection_name: 'by_time' }
    : { optimize_use_projections: 0, use_skip_indexes_on_data_read: 0 }
}

/**
 * The keys of the next conversions of a journey, oldest first. A version that is not the latest may be among them; a key may
 * be repeated.
 * @returns rows `atMs`, `id`
 */
export function conversionKeysSql(
  plan: JourneyPlan,
  clicks: VisitorClicks,
  start: KindStart<PageKey>,
  limit: number,
): Fragment {
  const conditions = [ch`account_id = ${text(plan.accountId)}`, ...fromStart(start, ch`converted_at`)]
  const order = ch`
ORDER BY converted_at, id
LIMIT ${count(limit)}`
  const id = 'visitorId' in plan.of ? plan.of.visitorId : plan.of.clickId
  const hint = id.length < 3 ? [] : [hasTrigrams(id.toLowerCase())]
  // Only the first condition is on a single value, which the index of trigrams can find.
  const parts = membership(plan, clicks).map(
    (isMember, index) => ch`SELECT * FROM (
  SELECT converted_at, id
  FROM conversions
  PREWHERE ${join([...(index === 0 ? hint : []), isMember], '\n  AND ')}
  WHERE ${join(conditions, '\n  AND ')}${order}
)`,
  )
  return ch`
SELECT toUnixTimestamp64Milli(converted_at) AS atMs, id
FROM (
${join(parts, '\nUNION ALL\n')}
)${order}`
}

/**
 * Conditions of which the events and conversions of a journey fulfil exactly one, so that reads of each return no row twice; each
 * can use an index of its own.
 */
export function membership({ accountId, of, retainedRanges }: JourneyPlan, clicks: VisitorClicks): Fragment[] {
  if ('clickId' in of) return [ch`click_id = ${text(of.clickId)}`]
  const isVisitors = ch`visitor_id = ${text(of.visitorId)}`
  const isNot = ch`visitor_id != ${text(of.visitorId)}`
  if (clicks !== 'many' && clicks.length === 0) return [isVisitors]
  const isRetained = inRange(ch`clicked_at`, onlyRetained({}, retainedRanges.clicksMs))
  const ids =
    clicks === 'many'
      ? ch`(
    SELECT id
    FROM clicks
    PREWHERE ${join(isVisitorsClick(of.visitorId), '\n  AND ')}
    WHERE ${join([ch`account_id = ${text(accountId)}`, ...isRetained], '\n  AND ')}
  )`
      : texts(clicks)
  return [
    isVisitors,
    ch`${isNot}
  AND click_id IN ${ids}`,
  ]
}

function fromStart({ fromMs, key }: KindStart<PageKey>, at: Fragment): Fragment[] {
  if (key) return [afterOldest(key, at, ch`id`)]
  return fromMs === undefined ? [] : [ch`${at} >= ${instant(fromMs)}`]
}

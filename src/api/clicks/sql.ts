import type { RowFormat } from '../../../schema/rowFormat.ts'
import type { LatestQuery } from '../../query/latestVersions.ts'
import { after, afterOldest, cursorOf, type PageKey } from '../../query/pagination.ts'
import type { CsvEscape } from '../../rows/csvEscape.ts'
import { entityColumns } from '../../rows/entityNames.ts'
import { clickFields, type RowField } from '../../rows/exportFields.ts'
import { formatClause, selectList } from '../../rows/exportFormat.ts'
import { subIdColumns } from '../../rows/values.ts'
import {
  ch,
  count,
  type Fragment,
  identifier,
  instant,
  instantKeys,
  join,
  nothing,
  text,
} from '../../stores/clickhouse/sql.ts'
import type { ClickPlan } from './plan.ts'

/**
 * The sort keys of the next clicks, newest first: two narrow columns in the order of the primary key, so that reading
 * stops after a page however deep it lies. Repeated rows stand side by side; the reader drops them.
 * TRAP: without PREWHERE the id of every row is read, also of those that the filters rule out (ClickHouse 26.7 puts a
 * filter of its own there for ORDER BY … LIMIT).
 * @param from where to go on
 * @param sinceMs where to stop; each month between the two costs a few milliseconds, since it is a partition
 * @returns rows `atMs`, `id`
 */
export function clickKeysSql(
  plan: ClickPlan,
  from: PageKey | undefined,
  sinceMs: number | undefined,
  limit: number,
): Fragment {
  const place = [
    ch`account_id = ${text(plan.accountId)}`,
    ...between(sinceMs, plan.range.untilMs),
    after(from, ch`clicked_at`, ch`id`),
    ...(plan.converted === false ? [ch`(clicked_at, id) NOT IN (${convertedSql(plan, from, sinceMs)})`] : []),
  ]
  const filters = ofCampaignAndOffer(plan)
  return ch`
SELECT toUnixTimestamp64Milli(clicked_at) AS atMs, id
FROM clicks${
    filters.length === 0
      ? nothing
      : ch`
PREWHERE ${join(filters, '\n  AND ')}`
  }
WHERE ${join(place, '\n  AND ')}
ORDER BY clicked_at DESC, id DESC
LIMIT ${count(limit)}`
}

/** The clicks of that stretch that have a conversion now which is no test. */
function convertedSql(plan: ClickPlan, from: PageKey | undefined, sinceMs: number | undefined): Fragment {
  const conditions = [
    ch`account_id = ${text(plan.accountId)}`,
    ...between(sinceMs, from ? from.atMs + 1 : plan.range.untilMs),
    ch`NOT is_test`,
    ...ofCampaignAndOffer(plan),
  ]
  return ch`SELECT clicked_at, click_id FROM converted_clicks FINAL WHERE ${join(conditions, '\n  AND ')}`
}

/**
 * The next clicks of a walk that begins with the oldest, or goes by the moment that they were stored.
 * @param asOfMs where the latter ends
 * @returns rows `atMs`, `id`: where a click stands in the walk; and `clickedMs`: where it stands in the table
 */
export function clickListSql(plan: ClickPlan, asOfMs: number | undefined, limit: number): Fragment {
  const at = orderColumns(plan)
  return ch`
SELECT toUnixTimestamp64Milli(${at}) AS atMs, id, toUnixTimestamp64Milli(clicked_at) AS clickedMs
FROM clicks
WHERE ${join(orderConditions(plan, asOfMs), '\n  AND ')}
ORDER BY ${at}, id
LIMIT 1 BY ${at}, id
LIMIT ${count(limit)}`
}

function orderColumns({ order: walk }: ClickPlan): Fragment {
  return walk.updatedSinceMs === undefined ? ch`clicked_at` : ch`stored_at`
}

/** What a click of a list fulfils, in the order of its walk, after its cursor. */
function orderConditions(plan: ClickPlan, asOfMs: number | undefined): Fragment[] {
  const { order: walk, range, converted } = plan
  const isConverted = ch`(clicked_at, id) IN (${convertedSql(plan, undefined, range.fromMs)})`
  const at = orderColumns(plan)
  return [
    ch`account_id = ${text(plan.accountId)}`,
    ...between(range.fromMs, range.untilMs),
    ...(walk.updatedSinceMs === undefined || asOfMs === undefined
      ? []
      : [ch`stored_at >= ${instant(walk.updatedSinceMs)}`, ch`stored_at < ${instant(asOfMs)}`]),
    walk.isOldestFirst ? afterOldest(plan.after, at, ch`id`) : after(plan.after, at, ch`id`),
    ...ofCampaignAndOffer(plan),
    ...(converted === undefined ? [] : [converted ? isConverted : ch`NOT ${isConverted}`]),
  ]
}

/** Clicks with a conversion that is no test. One conversion is a row, so a click may have several. */
export function convertedQuery(plan: ClickPlan): LatestQuery {
  return {
    table: ch`converted_clicks`,
    at: ch`clicked_at`,
    id: ch`click_id`,
    keyConditions: [ch`account_id = ${text(plan.accountId)}`, ...between(plan.range.fromMs, plan.range.untilMs)],
    versionConditions: [ch`NOT is_test`, ...ofCampaignAndOffer(plan)],
  }
}

function between(sinceMs: number | undefined, untilMs: number | undefined): Fragment[] {
  return [
    ...(sinceMs === undefined ? [] : [ch`clicked_at >= ${instant(sinceMs)}`]),
    ...(untilMs === undefined ? [] : [ch`clicked_at < ${instant(untilMs)}`]),
  ]
}

function ofCampaignAndOffer({ campaignId, offerId }: ClickPlan): Fragment[] {
  return [
    ...(campaignId === undefined ? [] : [ch`campaign_id = ${text(campaignId)}`]),
    ...(offerId === undefined ? [] : [ch`offer_id = ${text(offerId)}`]),
  ]
}

/**
 * The clicks of a page by their sort keys, in no order; columns as they are stored.
 * @param table `converted_click_rows` holds those that have conversions once more, but need not hold all of them
 */
export function clickRowsSql(
  table: 'clicks' | 'converted_click_rows',
  accountId: string,
  keys: readonly PageKey[],
): Fragment {
  return ch`
SELECT
  id, toUnixTimestamp64Milli(clicked_at) AS clickedAtMs,
  ${entityColumns},
  visitor_id AS visitorId, country, region, city, device, os, os_version AS osVersion, browser,
  browser_version AS browserVersion, language, referrer, user_agent AS userAgent, ip,
  ${subIdColumns}, external_click_id AS externalClickId,
  utm_source AS utmSource, utm_medium AS utmMedium, utm_campaign AS utmCampaign, utm_term AS utmTerm,
  utm_content AS utmContent, cost, currency, cost_base AS costBase, is_bot AS isBot, is_test AS isTest,
  toUnixTimestamp64Milli(stored_at) AS storedAtMs
FROM ${identifier(table)}
WHERE account_id = ${text(accountId)}
  AND (clicked_at, id) IN ${instantKeys(keys)}`
}

/** @returns rows `id`, `conversionCount` for those clicks of a page that have conversions which are no tests */
export function conversionCountsSql(accountId: string, keys: readonly PageKey[]): Fragment {
  return ch`
SELECT click_id AS id, count() AS conversionCount
FROM converted_clicks FINAL
WHERE account_id = ${text(accountId)}
  AND (clicked_at, click_id) IN ${instantKeys(keys)}
  AND NOT is_test
GROUP BY click_id`
}

/**
 * All clicks of a list, as ClickHouse writes them: read in the order in which they are written, so that memory stays
 * constant. How often each one converted comes from one list of those that did, since a join would have to sort.
 * @param places ids and names of campaigns and the like
 * @param asOfMs where a walk by the moment of storing ends
 */
export function clickExportSql(
  plan: ClickPlan,
  places: readonly RowField[],
  { format, csvEscape, asOfMs }: { format: RowFormat; csvEscape: CsvEscape; asOfMs: number },
): Fragment {
  const { accountId, range, order: walk } = plan
  const counted = [ch`account_id = ${text(accountId)}`, ...between(range.fromMs, range.untilMs), ch`NOT is_test`]
  const conversions = ch`transform(id, counts.1, counts.2, toUInt64(0))`
  const at = orderColumns(plan)
  const fields = [
    ...clickFields(plan.baseCurrency, places),
    { name: 'converted', value: ch`toBool(${conversions} > 0)` },
    { name: 'conversionCount', value: ch`toInt64(${conversions})` },
    { name: 'storedAt', value: ch`stored_at` },
    { name: 'cursor', value: cursorOf(at, ch`id`, plan.fingerprint) },
  ]
  return ch`
WITH (
  SELECT (groupArray(click_id), groupArray(conversions))
  FROM (
    SELECT click_id, count() AS conversions
    FROM converted_clicks FINAL
    WHERE ${join(counted, '\n  AND ')}
    GROUP BY click_id
  )
) AS counts
SELECT
  ${selectList(fields, format, csvEscape)}
FROM clicks
WHERE ${join(orderConditions(plan, asOfMs), '\n  AND ')}
ORDER BY ${walk.isOldestFirst ? ch`${at}, id` : ch`${at} DESC, id DESC`}
LIMIT 1 BY ${at}, id
${formatClause(format)}`
}

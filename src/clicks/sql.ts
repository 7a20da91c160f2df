import { ch, count, type Fragment, instant, instantKeys, join, text } from '../sql/fragment.ts'
import { after, type PageKey } from '../sql/page.ts'
import type { ClickPlan } from './plan.ts'

/**
 * The sort keys of the next clicks, newest first: two narrow columns in the order of the primary key, so that reading
 * stops after a page however deep it lies. Repeated rows stand side by side; the reader drops them.
 * @param from where to go on; the plan's own cursor at first
 * @returns rows `clickedAtMs`, `id`
 */
export function clickKeysSql(plan: ClickPlan, from: PageKey | undefined, limit: number): Fragment {
  const conditions = [
    ch`account_id = ${text(plan.accountId)}`,
    ...(plan.range.fromMs === undefined ? [] : [ch`clicked_at >= ${instant(plan.range.fromMs)}`]),
    ...(plan.range.untilMs === undefined ? [] : [ch`clicked_at < ${instant(plan.range.untilMs)}`]),
    ...(from ? [after(from, ch`clicked_at`, ch`id`)] : []),
    ...(plan.campaignId === undefined ? [] : [ch`campaign_id = ${text(plan.campaignId)}`]),
    ...(plan.offerId === undefined ? [] : [ch`offer_id = ${text(plan.offerId)}`]),
    ...(plan.converted === undefined ? [] : [convertedCondition(plan, from)]),
  ]
  return ch`
SELECT toUnixTimestamp64Milli(clicked_at) AS clickedAtMs, id
FROM clicks
WHERE ${join(conditions, '\n  AND ')}
ORDER BY clicked_at DESC, id DESC
LIMIT ${count(limit)}`
}

/** By whether a conversion that is no test exists now; FINAL, since one may have become a test or moved away. */
function convertedCondition(plan: ClickPlan, from: PageKey | undefined): Fragment {
  const untilMs = from ? from.atMs + 1 : plan.range.untilMs
  const conditions = [
    ch`account_id = ${text(plan.accountId)}`,
    ...(plan.range.fromMs === undefined ? [] : [ch`clicked_at >= ${instant(plan.range.fromMs)}`]),
    ...(untilMs === undefined ? [] : [ch`clicked_at < ${instant(untilMs)}`]),
    ch`NOT is_test`,
  ]
  return ch`(clicked_at, id) ${plan.converted ? ch`IN` : ch`NOT IN`} (
    SELECT clicked_at, click_id FROM converted_clicks FINAL WHERE ${join(conditions, '\n  AND ')}
  )`
}

/** The clicks of a page by their sort keys, in no order; columns as they are stored. */
export function clickRowsSql(accountId: string, keys: readonly PageKey[]): Fragment {
  return ch`
SELECT
  id, toUnixTimestamp64Milli(clicked_at) AS clickedAtMs,
  campaign_id AS campaignId, offer_id AS offerId, landing_page_id AS landingPageId, traffic_source_id AS trafficSourceId,
  visitor_id AS visitorId, country, region, city, device, os, os_version AS osVersion, browser,
  browser_version AS browserVersion, language, referrer, user_agent AS userAgent, ip,
  sub1, sub2, sub3, sub4, sub5, sub6, sub7, sub8, sub9, sub10, external_click_id AS externalClickId,
  utm_source AS utmSource, utm_medium AS utmMedium, utm_campaign AS utmCampaign, utm_term AS utmTerm,
  utm_content AS utmContent, cost, currency, cost_base AS costBase, is_bot AS isBot, is_test AS isTest
FROM clicks
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

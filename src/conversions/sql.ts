import { ch, instant, text, texts } from '../sql/fragment.ts'
import type { LatestQuestion } from '../sql/latest.ts'
import type { ConversionPlan } from './plan.ts'

/** What a page asks of conversions: account and range of every version, the filters of the latest one. */
export function conversionQuestion(plan: ConversionPlan): LatestQuestion {
  const { range, campaignId, statuses, source, withTests } = plan
  return {
    table: ch`conversions`,
    at: ch`converted_at`,
    id: ch`id`,
    place: [
      ch`account_id = ${text(plan.accountId)}`,
      ...(range.fromMs === undefined ? [] : [ch`converted_at >= ${instant(range.fromMs)}`]),
      ...(range.untilMs === undefined ? [] : [ch`converted_at < ${instant(range.untilMs)}`]),
    ],
    state: [
      ...(withTests ? [] : [ch`NOT is_test`]),
      ...(statuses === undefined ? [] : [ch`status IN ${texts(statuses)}`]),
      ...(source === undefined ? [] : [ch`source = ${text(source)}`]),
      ...(campaignId === undefined ? [] : [ch`campaign_id = ${text(campaignId)}`]),
    ],
  }
}

import type { RowFormat } from '../../schema/rowFormat.ts'
import { conversionFields, type RowField } from '../rowFields.ts'
import { formatClause, selectList } from '../rowFormats.ts'
import { ch, type Fragment, instant, join, text, texts } from '../sql/fragment.ts'
import type { LatestQuestion } from '../sql/latest.ts'
import { after, cursorOf } from '../sql/page.ts'
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

/**
 * All conversions of a range, newest first, as ClickHouse writes them. Versions stand side by side in the order of the
 * table, so the latest is picked while reading, and only then judged: FINAL would have to sort for newest first.
 * @param places ids and names of campaigns and the like
 */
export function conversionExportSql(plan: ConversionPlan, places: readonly RowField[], format: RowFormat): Fragment {
  const { place, state } = conversionQuestion(plan)
  const fields = [
    ...conversionFields(plan.currency, places),
    { name: 'cursor', value: cursorOf(ch`converted_at`, ch`id`, plan.boundTo) },
  ]
  return ch`
SELECT
  ${selectList(fields, format)}
FROM (
  SELECT *
  FROM conversions
  WHERE ${join([...place, after(plan.after, ch`converted_at`, ch`id`)], '\n  AND ')}
  ORDER BY converted_at DESC, id DESC, version DESC
  LIMIT 1 BY converted_at, id
)
WHERE ${join([ch`NOT is_deleted`, ...state], '\n  AND ')}
ORDER BY converted_at DESC, id DESC
${formatClause(format)}`
}

import type { NamedTable } from '../../../schema/metadata.ts'
import { type Dimension, type ReportQuery, reportDaysDefault } from '../../../schema/report.ts'
import { type DayAlignedRange, type Range, reportRange, splitAtMidnights } from '../../query/timeRange.ts'

/** Where a dimension lives: in clicks and conversions alike, in the tables of sums, and where its labels come from. */
export interface DimensionPlan {
  /** Column of `clicks` and `conversions`; `day` is their own moment instead. */
  column: string | undefined
  /** Value of `dimension` in the tables of sums. Those of any dimension add up to the same, so a day is any of them. */
  summedDimension: string
  names: NamedTable | 'country' | 'itself'
}

const dimensionPlans: Record<Dimension, DimensionPlan> = {
  campaign: { column: 'campaign_id', summedDimension: 'campaign', names: 'campaigns' },
  country: { column: 'country', summedDimension: 'country', names: 'country' },
  device: { column: 'device', summedDimension: 'device', names: 'itself' },
  os: { column: 'os', summedDimension: 'os', names: 'itself' },
  browser: { column: 'browser', summedDimension: 'browser', names: 'itself' },
  offer: { column: 'offer_id', summedDimension: 'offer', names: 'offers' },
  landing: { column: 'landing_page_id', summedDimension: 'landing', names: 'landing_pages' },
  traffic_source: { column: 'traffic_source_id', summedDimension: 'traffic_source', names: 'traffic_sources' },
  day: { column: undefined, summedDimension: 'device', names: 'itself' },
}

/** A report, decided: no text of the caller's but ids is left in it. */
export interface ReportPlan {
  accountId: string
  currency: string
  groupBy: Dimension
  dimension: DimensionPlan
  range: Range
  /** Whole days come from sums, ragged edges from the rows themselves. */
  cut: DayAlignedRange
  campaignId: string | undefined
  nowMs: number
}

/**
 * Decides how a report is answered; no I/O.
 * @throws Problem `invalid_from`, `invalid_to`, `invalid_date_range`
 */
export function planReport(
  query: ReportQuery,
  caller: { accountId: string; currency: string },
  nowMs: number,
): ReportPlan {
  const range = reportRange(query, reportDaysDefault, nowMs)
  return {
    accountId: caller.accountId,
    currency: caller.currency,
    groupBy: query.group_by,
    dimension: dimensionPlans[query.group_by],
    range,
    cut: splitAtMidnights(range),
    campaignId: query.campaign_id,
    nowMs,
  }
}

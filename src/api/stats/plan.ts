import { type StatsQuery, statsDaysDefault } from '../../../schema/stats.ts'
import { type LocalDay, lastLocalDays } from '../../query/localDays.ts'
import type { Range } from '../../query/timeRange.ts'

/** An overview or a daily series, decided. */
export interface StatsPlan {
  accountId: string
  currency: string
  /** The zone's name as IANA writes it. */
  tz: string
  /** At least one, oldest first, without gaps. */
  days: LocalDay[]
  range: Range
  campaignId: string | undefined
  nowMs: number
}

/**
 * Decides which moments the days of an answer begin and end at; no I/O.
 * @throws Problem `invalid_tz`
 */
export function planStats(
  query: StatsQuery,
  caller: { accountId: string; currency: string },
  nowMs: number,
): StatsPlan {
  const { tz, days } = lastLocalDays(query.tz ?? 'UTC', query.days ?? statsDaysDefault, nowMs)
  return {
    accountId: caller.accountId,
    currency: caller.currency,
    tz,
    days,
    range: { fromMs: days.at(0)?.fromMs ?? nowMs, untilMs: days.at(-1)?.untilMs ?? nowMs },
    campaignId: query.campaign_id,
    nowMs,
  }
}

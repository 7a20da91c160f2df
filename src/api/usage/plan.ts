import type { Usage } from '../../../schema/usage.ts'
import { startOfUtcMonth } from '../../query/countMonthlyEvents.ts'
import type { Range } from '../../query/timeRange.ts'

/** The subscription plan of an account, as far as usage shows it. */
type PlanLimits = Usage['limits'] & { name: string; clickAllowance: number }

/** Query plan of the usage of an account. */
export interface UsagePlan {
  accountId: string
  subscription: PlanLimits
  /** The current UTC month. */
  month: Range
  nowMs: number
}

/** Builds the query plan for the current month; no I/O. */
export function planUsage({ accountId, plan }: { accountId: string; plan: PlanLimits }, nowMs: number): UsagePlan {
  const month = new Date(nowMs)
  const untilMs = Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + 1)
  return { accountId, subscription: plan, month: { fromMs: startOfUtcMonth(nowMs), untilMs }, nowMs }
}

import type { Usage } from '../../../schema/usage.ts'
import { startOfUtcMonth } from '../../query/monthlyEvents.ts'
import type { Range } from '../../query/timeRange.ts'

/** What an account has paid for, as far as its usage says so. */
type Paid = Usage['limits'] & { name: string; clickAllowance: number }

/** What an account used of its plan, decided. */
export interface UsagePlan {
  accountId: string
  paid: Paid
  /** The UTC month that it is. */
  month: Range
  nowMs: number
}

/** Decides which month is meant; no I/O. */
export function planUsage({ accountId, plan }: { accountId: string; plan: Paid }, nowMs: number): UsagePlan {
  const month = new Date(nowMs)
  const untilMs = Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + 1)
  return { accountId, paid: plan, month: { fromMs: startOfUtcMonth(nowMs), untilMs }, nowMs }
}

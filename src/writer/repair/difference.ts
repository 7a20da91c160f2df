import type { Metric } from '../../../schema/metrics.ts'
import type { MissingRows } from '../storedRows.ts'

/** Something in a table of an account that is not as it should be. */
export type Difference = { accountId: string } & (
  | DerivedDifference
  | DuplicateIds
  | UnattributedConversions
  | LostRows
  | RowsAheadOfWatermark
)

/** Rows that follow from clicks and conversions, and are not what these say. */
export interface DerivedDifference {
  kind: 'derived'
  table: string
  /** The UTC day, `2026-11-20`; null for what is made of conversions, which is compared as a whole. */
  day: string | null
  /** Keys whose row is missing, wrong or superfluous. */
  keys: number
  /** What those keys hold and what they should, in a rollup. */
  sums: { stored: Sums; actual: Sums } | undefined
}

export type Sums = Partial<Record<Metric, number>>

/** Ids that are stored more than once; the copies that do not stay are in this month. */
export interface DuplicateIds {
  kind: 'duplicate_ids'
  table: 'clicks' | 'conversions'
  /** First day of a UTC month, `2026-11-01`. */
  month: string
  ids: number
}

/** Conversions without the place of their click, although the click is stored, or with another place. */
export interface UnattributedConversions {
  kind: 'unattributed'
  table: 'conversions'
  conversions: number
}

/** Rows that were confirmed as stored and are no longer there. */
export interface LostRows {
  kind: 'missing_rows'
  table: MissingRows['resource']
  /** First day of a UTC month, `2026-11-01`. */
  month: string
  confirmed: number
  stored: number
}

/** Rows that reads by `updated_since` do not return: their moment of storing was given to no batch. */
export interface RowsAheadOfWatermark {
  kind: 'ahead_of_watermark'
  table: 'clicks' | 'conversions'
  /** First day of a UTC month, `2026-11-01`. */
  month: string
  rows: number
  /** The latest of their moments of storing, epoch milliseconds. */
  latestMs: number
}

/** Whether `--repair` makes it right: rows that are lost can't be made out of anything that is left. */
export function isRepairable({ kind }: Difference): boolean {
  return kind !== 'missing_rows'
}

/** @returns a line for a person: account, table, day or month, and what differs */
export function lineOf(difference: Difference): string {
  const { accountId, table } = difference
  switch (difference.kind) {
    case 'derived':
      return `${[accountId, table, difference.day].filter(Boolean).join(' ')}: ${textOf(difference)}`
    case 'duplicate_ids': {
      const stays = table === 'clicks' ? 'stored first' : 'updated last; of equals, the one stored first'
      return `${accountId} ${table} ${difference.month.slice(0, 7)}: ${counted(difference.ids, 'id', 'ids')} stored more than once; --repair keeps the copy ${stays}`
    }
    case 'unattributed':
      return `${accountId} ${table}: ${counted(difference.conversions, 'conversion is', 'conversions are')} not attributed to the stored click`
    case 'ahead_of_watermark':
      return `${accountId} ${table} ${difference.month.slice(0, 7)}: ${counted(difference.rows, 'row is', 'rows are')} stored after the moment of the last batch; reads by updated_since do not return them`
    case 'missing_rows': {
      const { month, confirmed, stored } = difference
      return `${accountId} ${table} ${month.slice(0, 7)}: ${counted(confirmed - stored, 'row', 'rows')} missing; ${confirmed} confirmed, ${stored} stored`
    }
  }
}

function textOf({ keys, sums }: DerivedDifference): string {
  if (!sums) return `${counted(keys, 'row', 'rows')} missing, wrong or superfluous`
  const { stored, actual } = sums
  const unequal = (Object.keys(stored) as (keyof Sums)[]).filter((name) => stored[name] !== actual[name])
  const each = unequal.map((name) => `; ${name} ${stored[name]} stored, ${actual[name]} in the rows`)
  const differ = counted(keys, 'sum differs', 'sums differ')
  return `${differ}${each.length > 0 ? each.join('') : '; those of the whole day do not'}`
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`
}

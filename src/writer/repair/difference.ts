import type { Metric } from '../../../schema/metrics.ts'
import type { MissingRows } from '../journal/confirmedRows.ts'

/** A difference between what a table of an account has and what it should have. */
export type Difference = { accountId: string } & (
  | DerivedDifference
  | DuplicateIds
  | UnattributedConversions
  | LostRows
  | RowsAheadOfWatermark
  | WatermarkInFuture
  | WrongCopies
  | WrongTexts
  | ErasedRows
  | RemovedMonth
  | RemovedRows
)

/** Derived rows that do not match the clicks and conversions. */
export interface DerivedDifference {
  kind: 'derived'
  table: string
  /** The UTC day, `2026-11-20`; null for tables derived from conversions, which are compared as a whole. */
  day: string | null
  /** Keys of missing, wrong and superfluous rows. */
  keys: number
  /** Stored and correct sums of those keys; undefined for a table without sums. */
  sums: { stored: Sums; actual: Sums } | undefined
}

export type Sums = Partial<Record<Metric, number>>

/** Ids that are stored more than once. */
export interface DuplicateIds {
  kind: 'duplicate_ids'
  table: 'clicks' | 'conversions'
  /** UTC month of the copies that a repair deletes, as its first day, `2026-11-01`. */
  month: string
  ids: number
}

/** Conversions that do not have the time of their stored click (`clickAt`, not the imported `clickedAt`), or copied other values. */
export interface UnattributedConversions {
  kind: 'unattributed'
  table: 'conversions'
  conversions: number
}

/** Rows that were confirmed as stored and are missing now. */
export interface LostRows {
  kind: 'missing_rows'
  table: MissingRows['resource']
  /** First day of a UTC month, `2026-11-01`. */
  month: string
  confirmed: number
  stored: number
}

/** Rows that reads by `updated_since` do not return, because their `stored_at` is later than that of every batch. */
export interface RowsAheadOfWatermark {
  kind: 'ahead_of_watermark'
  table: 'clicks' | 'conversions'
  /** First day of a UTC month, `2026-11-01`. */
  month: string
  rows: number
  /** The latest `stored_at` of these rows, epoch milliseconds. */
  latestMs: number
}

/** A watermark far after the clock of Postgres: later batches get times even later, until the clock has caught up. */
export interface WatermarkInFuture {
  kind: 'watermark_in_future'
  table: 'clicks' | 'conversions'
  /** RFC 3339. */
  watermark: string
}

/** Copies of clicks that do not equal a stored click. */
export interface WrongCopies {
  kind: 'wrong_copies'
  table: 'converted_click_rows'
  rows: number
}

/** Clicks whose column `row_text`, which pages read, has other values than the other columns. */
export interface WrongTexts {
  kind: 'wrong_texts'
  table: 'clicks' | 'converted_click_rows'
  rows: number
}

/** Rows of erased visitors or clicks that have personal fields, as after a restore of an earlier backup. */
export interface ErasedRows {
  kind: 'not_erased'
  table: string
  rows: number
}

/** What was derived from clicks that have been removed since is not what was recorded at the removal. */
export interface RemovedMonth {
  kind: 'removed_month'
  table: string
  /** First day of a UTC month, `2026-11-01`. */
  month: string
}

/** Rows of removed months, as after a restore of an earlier backup. */
export interface RemovedRows {
  kind: 'not_removed'
  table: string
  rows: number
}

/**
 * Whether `--repair` can correct the difference: lost rows and sums of removed rows cannot be restored from other tables, and a
 * lower watermark would hide later rows from copies that have read up to it.
 */
export function isRepairable({ kind }: Difference): boolean {
  return kind !== 'missing_rows' && kind !== 'removed_month' && kind !== 'watermark_in_future'
}

/** @returns a readable line: account, table, day or month, and what differs */
export function lineOf(difference: Difference): string {
  const { accountId, table } = difference
  switch (difference.kind) {
    case 'derived':
      return `${[accountId, table, difference.day].filter(Boolean).join(' ')}: ${textOf(difference)}`
    case 'duplicate_ids': {
      const remaining = table === 'clicks' ? 'stored first' : 'updated last; of equals, the one stored first'
      return `${accountId} ${table} ${difference.month.slice(0, 7)}: ${counted(difference.ids, 'id', 'ids')} stored more than once; --repair keeps the copy ${remaining}`
    }
    case 'unattributed':
      return `${accountId} ${table}: ${counted(difference.conversions, 'conversion is', 'conversions are')} not attributed to the stored click, or copied other values`
    case 'ahead_of_watermark':
      return `${accountId} ${table} ${difference.month.slice(0, 7)}: ${counted(difference.rows, 'row is', 'rows are')} stored later than the last batch; reads by updated_since do not return them`
    case 'watermark_in_future':
      return `${accountId} ${table}: the watermark of storedAt is ${difference.watermark}, in the future`
    case 'wrong_copies':
      return `${accountId} ${table}: ${counted(difference.rows, 'copy does', 'copies do')} not equal a stored click`
    case 'wrong_texts':
      return `${accountId} ${table}: ${counted(difference.rows, 'text does', 'texts do')} not equal the columns of the click`
    case 'not_erased':
      return `${accountId} ${table}: ${counted(difference.rows, 'row', 'rows')} of erased visitors or clicks with personal data`
    case 'removed_month':
      return `${accountId} ${table} ${difference.month.slice(0, 7)}: does not equal what was recorded when the clicks were removed`
    case 'not_removed':
      return `${accountId} ${table}: ${counted(difference.rows, 'row', 'rows')} of removed months`
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
  return `${differ}${each.length > 0 ? each.join('') : '; the sums of the whole day are correct'}`
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`
}

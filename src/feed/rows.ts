import { type ImportName, importTables } from '../import/resourceNames.ts'
import type { RowSource } from '../import/rows.ts'
import { detailOf, type RowOutcome } from '../writer/upserts/rowOutcome.ts'

/** Defaults of the rows of one sender; costs must have an `updatedAt`. */
export interface RowOrigin extends RowSource {
  /** Called for each conversion and cost, in order. @returns its line */
  nextLine(): number
}

/** A row of an account that exists. It is decoded when it is stored: decoded, it takes four times the memory. */
export interface FeedRow {
  readonly accountId: string
  readonly resource: ImportName
  /** A JSON object as its sender wrote it, UTF-8. */
  bytes: Buffer
  readonly origin: RowOrigin
  /** `importLine` of a conversion or cost, else 0. */
  readonly line: number
}

/** A row that is never stored; `resource` is empty if the row names none. */
export interface RejectedRow {
  readonly resource: ImportName | ''
  bytes: Buffer
  readonly reason: string
}

export const rowResults = ['inserted', 'updated', 'duplicate', 'older', 'conflict', 'rejected', 'retry'] as const

/** What became of a row: all results but `retry` are final. */
export interface RowResult {
  readonly result: (typeof rowResults)[number]
  /** Of `conflict`, `rejected` and `retry`. */
  readonly reason?: string
  /** Of a stored row: what its sender may have done wrong. */
  readonly notes?: readonly string[]
}

export function rejected(reason: string): RowResult {
  return { result: 'rejected', reason }
}

/** Whether a row is rejected or conflicts, so that its sender must know of it. */
export function isRejectedOrConflict({ result }: RowResult): boolean {
  return result === 'rejected' || result === 'conflict'
}

/** The result of a row whose source waits no longer for the other writer of its account. */
export const otherWriter: RowResult = { result: 'retry', reason: 'another writer has the account' }
/** The result of a row whose source waits no longer. */
export const notStoredYet: RowResult = { result: 'retry', reason: 'is not stored yet' }

export function resultOf(resource: ImportName, outcome: RowOutcome): RowResult {
  const [field, reason] = [detailOf('conflict', outcome), detailOf('rejected', outcome)]
  if (reason !== undefined) return rejected(reason)
  return field === undefined ? { result: outcome as RowResult['result'] } : conflictOf(resource, field)
}

/** @param field that differs; empty: the id is of a cost that was removed by its age */
function conflictOf(resource: ImportName, field: string): RowResult {
  if (field === '') return { result: 'conflict', reason: 'the id is of a cost that was removed by its age' }
  const isReplaced = ['conversions', 'costs'].includes(importTables[resource])
  const differs = `${field}: differs from the stored row`
  return { result: 'conflict', reason: isReplaced ? `${differs}, whose updatedAt is equal` : differs }
}

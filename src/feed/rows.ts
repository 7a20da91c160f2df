import type { NamedTable } from '../../schema/metadata.ts'
import type { ResourceName, resourceTables } from '../import/resourceNames.ts'
import type { Given } from '../writer/store/givenFields.ts'
import type { MetadataRow } from '../writer/store/metadata.ts'
import type { Click } from '../writer/tables/click.ts'
import type { Conversion } from '../writer/tables/conversion.ts'
import type { PixelEvent } from '../writer/tables/pixelEvent.ts'

/** The decoded row of a resource, by its table. */
interface RowsByTable extends Record<NamedTable, MetadataRow> {
  clicks: Click & Given
  conversions: Conversion & Given
  pixel_events: PixelEvent & Given
}

/** A valid row of an account that exists. */
export type FeedRow = {
  [Name in ResourceName]: {
    readonly accountId: string
    readonly resource: Name
    readonly value: RowsByTable[(typeof resourceTables)[Name]]
    /** The row as its sender wrote it. */
    readonly text: string
  }
}[ResourceName]

/** A row that is never stored; `resource` is empty if the row names none. */
export interface RejectedRow {
  readonly resource: ResourceName | ''
  readonly text: string
  readonly reason: string
}

/** What became of a row: all results but `retry` are final. */
export type RowResult =
  | { readonly result: 'inserted' | 'updated' | 'duplicate' | 'older' }
  | { readonly result: 'conflict' | 'rejected' | 'retry'; readonly reason: string }

export const rowResults = ['inserted', 'updated', 'duplicate', 'older', 'conflict', 'rejected', 'retry'] as const

export function rejected(reason: string): RowResult {
  return { result: 'rejected', reason }
}

/** Whether a row has other values than the store will have, so that its sender must know of it. */
export function isNeverStored(result: RowResult): result is Extract<RowResult, { reason: string }> {
  return result.result === 'rejected' || result.result === 'conflict'
}

/** The result of a row whose source waits no longer for the other writer of its account. */
export const otherWriter: RowResult = { result: 'retry', reason: 'another writer has the account' }

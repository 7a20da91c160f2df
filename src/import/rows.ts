import type { RetainedRanges } from '../stores/postgres/retainedRanges.ts'
import type { ErasedIdentifiers } from '../writer/erasure/erasedIdentifiers.ts'
import type { RowToStore } from '../writer/store/rowBatch.ts'
import { arrivalBit, type Given, givenBit } from '../writer/tables/givenFields.ts'
import type { Input } from './readers/mapping.ts'
import { RemovedMonthError, RowError } from './readers/rowError.ts'
import type { RawFields, RowReader } from './readers/rowReader.ts'
import { type ImportName, importTables } from './resourceNames.ts'
import { clickReader } from './resources/click.ts'
import { conversionReader, statusReader } from './resources/conversion.ts'
import { costReader } from './resources/cost.ts'
import { metadataReader } from './resources/metadata.ts'
import { pixelEventReader } from './resources/pixelEvent.ts'

/** What decides whether the rows of an account are stored, and with which personal fields. */
export interface RowRules {
  readonly accountId: string
  readonly retained: RetainedRanges
  /** Undefined: the account has none, or the rows are moved from another installation, which has blanked them. */
  readonly erased?: ErasedIdentifiers | undefined
}

/** Defaults of a row, from the import or the feed. */
export interface RowSource {
  /** `occurredAt` and `receivedAt` of events without them, epoch milliseconds. */
  readonly nowMs: number
  /** `updatedAt` of conversions and costs without one; undefined: conversions take it from their other times, and costs need `undatedAtMs`. */
  readonly updatedAtMs?: number | undefined
  /** Whether `updatedAtMs` is the time of arrival. */
  readonly isArrival?: boolean
  /** `updatedAt` of costs that have no other: equal values then change nothing. */
  readonly undatedAtMs?: number | undefined
  /** Of two rows with one id, one `updatedAt` and one `importFile`, the row with the higher line wins; undefined: the row has both. */
  readonly importFile?: string | undefined
}

/** @returns the reader of rows, without their account and the time of their arrival @param isMoved whether `account export` wrote them */
export function readerOf(name: ImportName, currency: string, isMoved = false): RowReader<RowToStore['row']> {
  if (name === 'clicks') return clickReader(currency)
  if (name === 'conversions') return conversionReader(currency, isMoved)
  if (name === 'conversion-statuses') return statusReader(currency)
  if (name === 'costs') return costReader(currency, isMoved)
  return name === 'pixel-events' ? pixelEventReader(isMoved) : metadataReader(importTables[name])
}

/**
 * Reads a row, checks it, and blanks personal fields of erased visitors and clicks: the same for imports, their dry runs and feeds.
 * @throws RowError when the row must not be stored; RemovedMonthError
 */
export function decodeRow(
  name: ImportName,
  read: RowReader<RowToStore['row']>,
  [fields, input, line]: readonly [RawFields, Input, number],
  { accountId, retained, erased }: RowRules,
  { nowMs, updatedAtMs, isArrival = false, undatedAtMs, importFile }: RowSource,
): RowToStore {
  const decoded = { table: importTables[name], row: read(fields, input) } as RowToStore
  if ('account_id' in decoded.row) decoded.row.account_id = accountId
  else decoded.row.accountId = accountId
  if (importFile !== undefined && 'importFile' in decoded.row)
    Object.assign(decoded.row, { importFile, importLine: line })
  if (decoded.table === 'clicks') {
    const { row } = decoded
    assertRetained('clickedAt', row.clickedAt, retained.clicksMs)
    erased?.blankClick(row)
  } else if (decoded.table === 'conversions') {
    const { row } = decoded
    if (!isGiven(row, 'updatedAt')) {
      if (updatedAtMs !== undefined) row.updatedAt = updatedAtMs
      else if (row.changesOf) throw new RowError('updatedAt: is required')
      if (isArrival) row.given |= arrivalBit
    }
    erased?.blankConversion(row)
  } else if (decoded.table === 'costs') {
    const { row } = decoded
    if (!isGiven(row, 'updatedAt')) {
      const atMs = updatedAtMs ?? undatedAtMs
      if (atMs === undefined) throw new RowError('updatedAt: is required')
      row.updatedAt = atMs
      if (updatedAtMs !== undefined) row.given |= givenBit('updatedAt') | (isArrival ? arrivalBit : 0)
    }
    assertRetained('spentAt', row.spentAt, retained.clicksMs)
  } else if (decoded.table === 'pixel_events') {
    const { row } = decoded
    if (!isGiven(row, 'occurredAt')) row.occurredAt = nowMs
    if (!isGiven(row, 'receivedAt')) row.receivedAt = nowMs
    assertRetained('occurredAt', row.occurredAt, retained.eventsMs)
    erased?.blankEvent(row)
  } else if (decoded.table === 'campaigns') decoded.row.user_id ||= accountId
  return decoded
}

const isGiven = ({ given }: Given, field: string): boolean => (given & givenBit(field)) !== 0

/** @throws RemovedMonthError when rows of that time have been removed: the sums still count the removed clicks */
function assertRetained(field: string, atMs: number, retainedMs: number): void {
  if (atMs >= retainedMs) return
  const month = new Date(retainedMs).toISOString().slice(0, 10)
  throw new RemovedMonthError(`${field}: is before ${month}; the account has removed earlier rows`)
}

import type { NamedTable } from '../../schema/metadata.ts'
import { readerOf } from '../import/checkRows.ts'
import { type Input, jsonInput } from '../import/readers/mapping.ts'
import { isAbsent, type RawFields, type RowReader } from '../import/readers/rowDecoder.ts'
import { RowError } from '../import/readers/rowError.ts'
import { type ResourceName, resourceTables } from '../import/resourceNames.ts'
import { assertRetained } from '../import/resources/rowBatch.ts'
import { parseJson } from '../query/exactJson.ts'
import { type Given, givenBit } from '../writer/store/givenFields.ts'
import type { MetadataRow } from '../writer/store/metadata.ts'
import type { Click } from '../writer/tables/click.ts'
import type { Conversion } from '../writer/tables/conversion.ts'
import type { Cost } from '../writer/tables/cost.ts'
import type { PixelEvent } from '../writer/tables/pixelEvent.ts'
import type { AccountState } from './accountState.ts'
import type { FeedRow } from './rows.ts'

/** The decoded rows of each table. */
export interface ValuesByTable extends Record<NamedTable, MetadataRow[]> {
  clicks: (Click & Given)[]
  conversions: (Conversion & Given)[]
  costs: (Cost & Given)[]
  pixel_events: (PixelEvent & Given)[]
}
type DecodedRow = {
  [Table in keyof ValuesByTable]: { table: Table; value: ValuesByTable[Table][number] }
}[keyof ValuesByTable]

/** The two fields that say whose row it is are not fields of a resource. */
const feedInput: Input = { ...jsonInput, map: ['accountId', 'resource'].map((name) => [name, '']) }

/** By resource and currency: a reader prepares some kilobytes, which all accounts share. */
const readers = new Map<string, RowReader<unknown>>()

function readValues(resource: ResourceName, currency: string, fields: RawFields): unknown {
  const key = `${resource} ${currency}`
  const known = readers.get(key)
  if (known) return known(fields, feedInput)
  readers.set(key, readerOf(resource, { id: '', currency }, false))
  return readValues(resource, currency, fields)
}

/**
 * Decodes a row, checks it, and blanks personal fields of erased visitors and clicks.
 * @throws RowError when the row must not be stored
 */
export function decodeRow(row: FeedRow, { refusal, currency, retained, erased }: AccountState): DecodedRow {
  if (refusal !== undefined) throw new RowError(refusal)
  const { accountId, resource, bytes, origin, line } = row
  const fields = parseJson(bytes.toString()) as RawFields
  const decoded = { table: resourceTables[resource], value: readValues(resource, currency, fields) } as DecodedRow
  const { table, value } = decoded
  if (table === 'clicks') {
    value.accountId = accountId
    assertRetained('clickedAt', value.clickedAt, retained.clicksMs)
    erased?.blankClick(value)
  } else if (table === 'conversions') {
    if (origin.updatedAtMs !== undefined && isAbsent(fields.updatedAt)) value.updatedAt = origin.updatedAtMs
    Object.assign(value, { accountId, importFile: origin.importFile, importLine: line })
    erased?.blankConversion(value)
  } else if (table === 'costs') {
    if (isAbsent(fields.updatedAt)) {
      if (origin.updatedAtMs === undefined) throw new RowError('updatedAt: is required')
      value.updatedAt = origin.updatedAtMs
      value.given |= givenBit('updatedAt')
    }
    Object.assign(value, { accountId, importFile: origin.importFile, importLine: line })
    assertRetained('spentAt', value.spentAt, retained.clicksMs)
  } else if (table === 'pixel_events') {
    value.accountId = accountId
    if (isAbsent(fields.occurredAt)) value.occurredAt = origin.nowMs
    if (isAbsent(fields.receivedAt)) value.receivedAt = origin.nowMs
    assertRetained('occurredAt', value.occurredAt, retained.eventsMs)
    erased?.blankEvent(value)
  } else {
    value.account_id = accountId
    if (table === 'campaigns' && isAbsent(fields.userId)) value.user_id = accountId
  }
  return decoded
}

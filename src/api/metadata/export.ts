import type { TObject } from '@sinclair/typebox'
import type { RowFormat } from '../../../schema/rowFormat.ts'
import type { RouteContext } from '../../http/context.ts'
import { writeCursor } from '../../query/pagination.ts'
import type { CsvEscape } from '../../rows/csvEscape.ts'
import { toResource } from '../../rows/metadata.ts'
import type { SelectedFields } from '../../rows/selectedFields.ts'
import { queryPostgres, withNewPlan } from '../../stores/postgres/connection.ts'
import { openRowEncoder } from './openRowEncoder.ts'
import type { MetadataPlan } from './plan.ts'
import type { EncodedRow } from './rowEncoder.ts'
import { metadataKey, selectMetadata } from './run.ts'

/** Rows of one statement: few enough that a key look-up does not wait long behind it on the embedded engine. */
const rowsPerStatement = 1_000

/**
 * Reads all rows of a plan after its cursor, with constant memory.
 * @param row schema of a row
 * @throws Problem `unavailable`, also after the first part
 */
export async function* exportMetadata(
  { stores: { postgresReader } }: RouteContext,
  plan: MetadataPlan,
  { row, ...options }: { row: TObject; format: RowFormat; csvEscape: CsvEscape; selected: SelectedFields },
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const encoder = openRowEncoder(row, options)
  yield encoder.begin()
  let after = plan.after
  for (;;) {
    signal.throwIfAborted()
    const rows = await queryPostgres(withNewPlan(selectMetadata(postgresReader, { ...plan, after }, rowsPerStatement)))
    const encoded = rows.map((stored) => ({
      ...toResource(stored),
      cursor: writeCursor(metadataKey(stored), plan.fingerprint),
    }))
    yield encoder.encode(encoded as readonly EncodedRow[])
    const last = rows.at(-1)
    if (!last || rows.length < rowsPerStatement) break
    after = metadataKey(last)
  }
  yield encoder.end()
}

import type { Account } from '../accounts/accounts.ts'
import type { RetainedRanges } from '../stores/postgres/retainedRanges.ts'
import type { Click } from '../writer/tables/click.ts'
import type { PixelEvent } from '../writer/tables/pixelEvent.ts'
import type { RowReader } from './readers/rowDecoder.ts'
import { type ResourceName, resourceTables } from './resourceNames.ts'
import { clickReader } from './resources/click.ts'
import { conversionReader } from './resources/conversion.ts'
import { costReader, firstLines, type ReadCost } from './resources/cost.ts'
import { metadataReader } from './resources/metadata.ts'
import { pixelEventReader } from './resources/pixelEvent.ts'
import { assertRetained, type ResourceImport, type RowBatch } from './resources/rowBatch.ts'

/** @returns the reader of rows of a file, to check them without an import; `nowMs` and `isMoved` as of an import */
export function readerOf(
  resource: ResourceName,
  account: Pick<Account, 'id' | 'currency'>,
  isMoved: boolean,
  nowMs = 0,
): RowReader<unknown> {
  const table = resourceTables[resource]
  if (table === 'clicks') return clickReader(account)
  if (table === 'conversions') return conversionReader(account, isMoved)
  if (table === 'costs') return costReader(account, isMoved, nowMs)
  return table === 'pixel_events' ? pixelEventReader(account.id, isMoved, nowMs) : metadataReader(table, account.id)
}

/** Checks the rows of a resource as an import does, and stores none. */
export function dryRun(
  resource: ResourceName,
  account: Account,
  { clicksMs, eventsMs }: RetainedRanges,
  nowMs: number,
): ResourceImport {
  const read = readerOf(resource, account, false, nowMs) as RowReader<
    Pick<Click, 'clickedAt'> & Pick<PixelEvent, 'occurredAt'> & ReadCost
  >
  const assertFirst = firstLines()
  const add: RowBatch['add'] = (fields, input, line) => {
    const row = read(fields, input)
    if (resource === 'clicks') assertRetained('clickedAt', row.clickedAt, clicksMs)
    if (resource === 'pixel-events') assertRetained('occurredAt', row.occurredAt, eventsMs)
    if (resource === 'costs') {
      assertRetained('spentAt', row.spentAt, clicksMs)
      assertFirst(row, line)
    }
    return ''
  }
  return { newBatch: () => ({ isFull: false, add, store: async () => ({ outcomes: [], conflicts: [] }) }) }
}

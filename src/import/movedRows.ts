import type { Account } from '../accounts/accounts.ts'
import { clickReader } from './readers/click.ts'
import { conversionReader } from './readers/conversion.ts'
import { metadataReader } from './readers/metadata.ts'
import { pixelEventReader } from './readers/pixelEvent.ts'
import type { RowReader } from './readers/rowDecoder.ts'
import { type ResourceName, resourceTables } from './resourceNames.ts'

/** @returns the reader of rows of a folder of `account export`, to check them before an import */
export function movedRowReader(resource: ResourceName, account: Pick<Account, 'id' | 'currency'>): RowReader<unknown> {
  const table = resourceTables[resource]
  switch (table) {
    case 'clicks':
      return clickReader(account)
    case 'conversions':
      return conversionReader(account, true)
    case 'pixel_events':
      return pixelEventReader(account.id, 0)
    default:
      return metadataReader(table, account.id)
  }
}

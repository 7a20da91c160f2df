import type { Account } from '../accounts/accounts.ts'
import { clickReader } from './readers/click.ts'
import { conversionReader } from './readers/conversion.ts'
import { metadataReaders } from './readers/metadata.ts'
import { pixelEventReader } from './readers/pixelEvent.ts'
import type { RowReader } from './readers/rowDecoder.ts'
import type { ResourceName } from './resourceNames.ts'

/** The readers of the rows of a folder of `account export`, to check them before an import. */
export const movedRowReaders: Readonly<
  Record<ResourceName, (account: Pick<Account, 'id' | 'currency'>) => RowReader<unknown>>
> = {
  clicks: clickReader,
  conversions: (account) => conversionReader(account, true),
  'pixel-events': ({ id }) => pixelEventReader(id, 0),
  campaigns: ({ id }) => metadataReaders.campaigns(id),
  offers: ({ id }) => metadataReaders.offers(id),
  'landing-pages': ({ id }) => metadataReaders.landing_pages(id),
  'traffic-sources': ({ id }) => metadataReaders.traffic_sources(id),
}

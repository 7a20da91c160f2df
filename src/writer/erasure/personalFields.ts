import { subIdNames } from '../../../schema/subIds.ts'
import { columnName } from '../../stores/clickhouse/columnKinds.ts'
import { ch, type Fragment, identifier } from '../../stores/clickhouse/sql.ts'
import type { Click } from '../tables/click.ts'
import { type Conversion, copiedFields, copiedFromClick } from '../tables/conversion.ts'
import type { PixelEvent } from '../tables/pixelEvent.ts'

/** Fields of a click that an erasure blanks. Ids, dimensions without a person and amounts remain, so that no amount changes. */
export const personalOfClick = [
  'visitorId',
  'region',
  'city',
  'referrer',
  'userAgent',
  'ip',
  ...subIdNames,
  'externalClickId',
  'utmSource',
  'utmMedium',
  'utmCampaign',
  'utmTerm',
  'utmContent',
] as const satisfies readonly (keyof Click)[]

/** Fields of a conversion that a file gives. */
export const ownConversionFields = ['visitorId', ...subIdNames] as const satisfies readonly (keyof Conversion)[]

/** Fields of a conversion that are copied from its click. */
export const personalCopiedFields = copiedFields.filter((field) =>
  (personalOfClick as readonly string[]).includes(copiedFromClick[field]),
)

export const personalOfEvent = ['visitorId', 'properties'] as const satisfies readonly (keyof PixelEvent)[]

export interface PersonalTable {
  name: 'clicks' | 'converted_click_rows' | 'conversions' | 'pixel_events'
  resource: 'clicks' | 'conversions' | 'events'
  /** The columns that an erasure blanks; all are text. */
  personal: readonly Fragment[]
  /** Column of the click that a row is or belongs to. */
  clickId: Fragment
  /** The earliest time of a row: rows with a time after an erasure are new data. */
  datedAt: Fragment
}

const personalColumns = (fields: readonly string[]) => fields.map((field) => identifier(columnName(field)))

const clicks = {
  resource: 'clicks',
  personal: personalColumns(personalOfClick),
  clickId: ch`id`,
  datedAt: ch`least(clicked_at, stored_at)`,
} as const

/** In the order of an erasure: events are last, since some from before it may still be stored. */
export const personalTables: readonly PersonalTable[] = [
  {
    name: 'conversions',
    resource: 'conversions',
    personal: personalColumns([...ownConversionFields, ...personalCopiedFields]),
    clickId: ch`click_id`,
    datedAt: ch`least(converted_at, stored_at)`,
  },
  { name: 'converted_click_rows', ...clicks },
  { name: 'clicks', ...clicks },
  {
    name: 'pixel_events',
    resource: 'events',
    personal: personalColumns(personalOfEvent),
    clickId: ch`click_id`,
    // Callers choose `occurred_at`: an event that a server received after the erasure is new data, whatever its timestamp.
    datedAt: ch`least(if(origin = 'server', received_at, occurred_at), received_at, stored_at)`,
  },
]

export function blank<Name extends string>(row: Record<Name, string>, fields: readonly Name[]): void {
  for (const field of fields) row[field] = ''
}

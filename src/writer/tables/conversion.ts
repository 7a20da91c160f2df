import { subIdNames } from '../../../schema/subIds.ts'
import type { ColumnKind, RowOf } from '../../stores/clickhouse/columnKinds.ts'
import { type clickFields, conversionFields, texts } from '../../stores/clickhouse/tableColumns.ts'
import { importedFields, versionFields } from './changingFields.ts'

/** Fields that are copied from the stored click; absent without one. They are copied whatever value the conversion itself has. */
export const copiedFromClick = {
  ...ofClick('campaignId', 'offerId'),
  clickExternalId: 'externalClickId',
  ...ofClick('referrer', 'region', 'city', 'osVersion', 'browserVersion', 'language'),
  ...ofClick('utmSource', 'utmMedium', 'utmCampaign', 'utmTerm', 'utmContent'),
  ...ofClick('visitorId', 'landingPageId', 'trafficSourceId', 'country', 'device', 'os', 'browser', ...subIdNames),
} as const satisfies Record<string, keyof typeof clickFields>
export type CopiedField = keyof typeof copiedFromClick
export const copiedFields = Object.keys(copiedFromClick) as CopiedField[]

/** @returns the fields of a click by the name that their copies have: `clickCampaignId` has the value of `campaignId` */
function ofClick<Name extends string>(...names: readonly Name[]) {
  return Object.fromEntries(names.map((name) => [`click${name[0]?.toUpperCase()}${name.slice(1)}`, name])) as {
    [Of in Name as `click${Capitalize<Of>}`]: Of
  }
}

/** Fields that no response has, for later changes. Only `account export` writes and `account import` reads them. */
export const internalConversionFields = {
  /** `clickedAt` of the stored click, null while it is not stored; `clickedAt` of the conversion may be imported. */
  clickAt: 'instantOrNull',
  ...texts(...copiedFields),
  ...importedFields,
} as const satisfies Record<string, ColumnKind>

/** The columns of `conversions` that are written; other columns have defaults. */
export const conversionRowFields = {
  accountId: 'id',
  ...conversionFields,
  ...internalConversionFields,
  ...versionFields,
} as const satisfies Record<string, ColumnKind>

export type Conversion = RowOf<typeof conversionRowFields>

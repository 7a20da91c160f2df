import { type SubIdName, subIdNames } from '../../../schema/subIds.ts'
import type { ColumnKind, RowOf } from '../../stores/clickhouse/columnKinds.ts'
import { type clickFields, conversionFields } from '../../stores/clickhouse/tableColumns.ts'
import { importedFields, versionFields } from './changingFields.ts'

const copiedSubIds = Object.fromEntries(subIdNames.map((name) => [name.replace('s', 'clickS'), name])) as {
  [Name in SubIdName as `click${Capitalize<Name>}`]: Name
}

/** Fields that are copied from the stored click; absent without one. They are copied whatever value the conversion itself has. */
export const copiedFromClick = {
  clickCampaignId: 'campaignId',
  clickOfferId: 'offerId',
  clickExternalId: 'externalClickId',
  clickReferrer: 'referrer',
  clickRegion: 'region',
  clickCity: 'city',
  clickOsVersion: 'osVersion',
  clickBrowserVersion: 'browserVersion',
  clickLanguage: 'language',
  clickUtmSource: 'utmSource',
  clickUtmMedium: 'utmMedium',
  clickUtmCampaign: 'utmCampaign',
  clickUtmTerm: 'utmTerm',
  clickUtmContent: 'utmContent',
  clickVisitorId: 'visitorId',
  clickLandingPageId: 'landingPageId',
  clickTrafficSourceId: 'trafficSourceId',
  clickCountry: 'country',
  clickDevice: 'device',
  clickOs: 'os',
  clickBrowser: 'browser',
  ...copiedSubIds,
} as const satisfies Record<string, keyof typeof clickFields>
export type CopiedField = keyof typeof copiedFromClick

const copiedFields = Object.fromEntries(Object.keys(copiedFromClick).map((name) => [name, 'text'])) as Record<
  CopiedField,
  'text'
>

/** Fields that no response has, for later changes. Only `account export` writes and `account import` reads them. */
export const internalConversionFields = {
  /** `clickedAt` of the stored click, null while it is not stored; `clickedAt` of the conversion may be imported. */
  clickAt: 'instantOrNull',
  ...copiedFields,
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

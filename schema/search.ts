import { type Static, type TObject, type TProperties, Type } from '@sinclair/typebox'
import { Conversion } from './conversion.ts'
import { Campaign } from './metadata.ts'
import { CompletePage, pageParameters } from './page.ts'
import { rangeParameters } from './range.ts'
import { ListOf, Named, optional } from './scalars.ts'
import { subIdNames } from './subIds.ts'

/** Length of the trimmed `q`, in characters. */
export const searchLengthMin = 2
export const searchLengthMax = 100

/** Fields that a conversion search covers. */
export const conversionSearchFields = [
  'id',
  'clickId',
  'transactionId',
  'externalStatus',
  'campaignId',
  'campaignName',
  'offerId',
  'offerName',
  'country',
  'couponCode',
  'visitorId',
  'externalClickId',
  'referrer',
  ...subIdNames,
] as const
export type ConversionSearchField = (typeof conversionSearchFields)[number]

/** Fields that a campaign search covers. */
export const campaignSearchFields = ['id', 'name', 'status', 'tags'] as const
export type CampaignSearchField = (typeof campaignSearchFields)[number]

function searchParameters(fields: readonly string[]) {
  return {
    q: Type.String({
      description: `Text to find anywhere in a field, ignoring case; ${searchLengthMin} to ${searchLengthMax} characters after trimming. There are no wildcards.`,
      examples: ['luma'],
    }),
    ...optional({
      fields: ListOf(fields, { description: 'Fields to search, separated by commas; default: all.' }),
    }),
    ...pageParameters,
  }
}

export const ConversionSearchQuery = Type.Object({ ...searchParameters(conversionSearchFields), ...rangeParameters })
export type ConversionSearchQuery = Static<typeof ConversionSearchQuery>

export const CampaignSearchQuery = Type.Object(searchParameters(campaignSearchFields))
export type CampaignSearchQuery = Static<typeof CampaignSearchQuery>

export const Match = Named('Match', {
  field: Type.String({ description: 'Field that contains the text.' }),
  value: Type.String({ description: 'Value of the field.' }),
})
export type Match = Static<typeof Match>

/** Response of a search: rows with their matching fields. */
function SearchPage<Properties extends TProperties>(row: TObject<Properties>) {
  const found = Named(`${row.$id}Match`, {
    ...row.properties,
    matched: Type.Literal(true, { description: 'Always true.' }),
    matches: Type.Array(Match, {
      minItems: 1,
      description: 'Every field that contains the text; for tags, every matching tag.',
    }),
  })
  return Type.Object({
    ...CompletePage(found).properties,
    query: Type.String({ description: 'The trimmed search text.' }),
    searchedFields: Type.Array(Type.String(), { description: 'Fields that were searched.' }),
  })
}

export const ConversionSearchPage = SearchPage(Conversion)
export type ConversionSearchPage = Static<typeof ConversionSearchPage>

export const CampaignSearchPage = SearchPage(Campaign)
export type CampaignSearchPage = Static<typeof CampaignSearchPage>

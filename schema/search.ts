import { type Static, type TObject, type TProperties, Type } from '@sinclair/typebox'
import { subIdNames } from './click.ts'
import { Conversion } from './conversion.ts'
import { Campaign } from './metadata.ts'
import { Page, pageParameters } from './page.ts'
import { rangeParameters } from './range.ts'

/** Length of `q` in characters once it is trimmed. */
export const searchLengthMin = 2
export const searchLengthMax = 100

/** What a search of conversions looks into. */
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

/** What a search of campaigns looks into. */
export const campaignSearchFields = ['id', 'name', 'status', 'tags'] as const
export type CampaignSearchField = (typeof campaignSearchFields)[number]

function searchParameters(fields: readonly string[]) {
  const field = `(${fields.join('|')})`
  return {
    q: Type.String({
      description: `Text to find anywhere in a field, in upper or lower case; trimmed, then ${searchLengthMin} to ${searchLengthMax} characters. Nothing in it is a wildcard.`,
      examples: ['summer'],
    }),
    fields: Type.Optional(
      Type.String({
        pattern: `^${field}(,${field})*$`,
        description: `Fields to look into, with commas between; all of them unless given: ${fields.join(', ')}.`,
        examples: [fields.slice(0, 2).join(',')],
      }),
    ),
    ...pageParameters,
  }
}

export const ConversionSearchQuery = Type.Object(
  { ...searchParameters(conversionSearchFields), ...rangeParameters },
  { additionalProperties: false },
)
export type ConversionSearchQuery = Static<typeof ConversionSearchQuery>

export const CampaignSearchQuery = Type.Object(searchParameters(campaignSearchFields), { additionalProperties: false })
export type CampaignSearchQuery = Static<typeof CampaignSearchQuery>

export const Match = Type.Object({
  field: Type.String({ description: 'The field that the text was found in.' }),
  value: Type.String({ description: 'What stands there.' }),
})
export type Match = Static<typeof Match>

/** A row with what was found in it. */
function Found<Properties extends TProperties>(row: TObject<Properties>) {
  return Type.Object({
    ...row.properties,
    matched: Type.Literal(true, { description: 'Only rows that match come back.' }),
    matches: Type.Array(Match, { minItems: 1, description: 'Every field that matched; of tags, each tag.' }),
  })
}

/** The envelope of a search. */
function SearchPage<Properties extends TProperties>(row: TObject<Properties>) {
  return Type.Object({
    ...Page(Found(row)).properties,
    query: Type.String({ description: 'The text searched for, trimmed.' }),
    searchedFields: Type.Array(Type.String(), { description: 'The fields that were searched.' }),
  })
}

export const ConversionSearchPage = SearchPage(Conversion)
export type ConversionSearchPage = Static<typeof ConversionSearchPage>

export const CampaignSearchPage = SearchPage(Campaign)
export type CampaignSearchPage = Static<typeof CampaignSearchPage>

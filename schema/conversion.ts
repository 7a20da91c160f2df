import { type Static, Type } from '@sinclair/typebox'
import { devices, entityFields, SubIds, storedAt } from './click.ts'
import { OrderedPage, pageParameters } from './page.ts'
import { orderParameters, rangeParameters } from './range.ts'
import { formatParameter, listFormats } from './rowFormat.ts'
import { Currency, Id, Instant, Money, Nullable } from './scalars.ts'

export const conversionStatuses = ['approved', 'pending', 'declined', 'hold', 'refunded', 'chargeback'] as const
export const conversionSources = ['cpa', 'revenue'] as const

const text = (description: string) => Nullable(Type.String({ description }))
const statusWord = `(${conversionStatuses.join('|')})`

export const Conversion = Type.Object(
  {
    id: Id,
    source: Type.Union(conversionSources.map((source) => Type.Literal(source))),
    status: Type.Union(conversionStatuses.map((status) => Type.Literal(status))),
    externalStatus: text('The status in the sender’s own word.'),
    eventName: text('Such as purchase.'),
    convertedAt: Instant,
    clickedAt: Nullable(Instant),
    createdAt: Instant,
    updatedAt: Instant,
    clickId: Nullable(Id),
    visitorId: Nullable(Id),
    transactionId: text('The sender’s id of the sale.'),
    ...entityFields,
    country: text('ISO 3166-1 alpha-2.'),
    device: Type.Unsafe<(typeof devices)[number] | null>({ type: ['string', 'null'], enum: [...devices, null] }),
    os: text('Operating system.'),
    browser: text('Browser.'),
    subIds: SubIds,
    payout: Nullable(Money),
    revenue: Nullable(Money),
    currency: Nullable(Currency),
    revenueBase: Nullable(Type.Number({ description: 'revenue in baseCurrency, at the rate given with it.' })),
    baseCurrency: Type.String({ description: 'Currency of the account.' }),
    couponCode: text('As the sender gave it.'),
    isTest: Type.Boolean({ description: 'Counted nowhere; listed with include_test_mode.' }),
    storedAt,
  },
  { $id: 'Conversion' },
)
export type Conversion = Static<typeof Conversion>

export const ConversionPage = OrderedPage(Conversion)

export const ConversionQuery = Type.Object(
  {
    ...pageParameters,
    ...rangeParameters,
    ...orderParameters,
    ...formatParameter(listFormats),
    campaign_id: Type.Optional(Type.String({ ...Id, description: 'Only conversions of this campaign.' })),
    status: Type.Optional(
      Type.String({
        pattern: `^${statusWord}(,${statusWord})*$`,
        description: `Only conversions in this state now; one or several of ${conversionStatuses.join(', ')}, with commas between.`,
        examples: ['approved', 'pending,hold'],
      }),
    ),
    source: Type.Optional(
      Type.Union(
        [...conversionSources, 'all' as const].map((source) => Type.Literal(source)),
        { default: 'all', description: 'Where conversions come from.' },
      ),
    ),
    include_test_mode: Type.Optional(Type.Boolean({ default: false, description: 'Whether to list tests too.' })),
  },
  { additionalProperties: false },
)
export type ConversionQuery = Static<typeof ConversionQuery>

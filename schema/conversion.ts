import { type Static, Type } from '@sinclair/typebox'
import { devices, entityFields, SubIds, storedAt } from './click.ts'
import { fieldsParameter } from './fields.ts'
import { columnFilterNames, columnFilterParameters, filterParameters } from './filters.ts'
import { OrderedPage, pageParameters } from './page.ts'
import { orderParameters, rangeParameters } from './range.ts'
import { formatParameter, listFormats } from './rowFormat.ts'
import { Currency, Id, Instant, Money, Nullable } from './scalars.ts'

export const conversionStatuses = ['approved', 'pending', 'declined', 'hold', 'refunded', 'chargeback'] as const
export const conversionSources = ['cpa', 'revenue'] as const

const text = (description: string) => Nullable(Type.String({ description }))
const statusPattern = `(${conversionStatuses.join('|')})`

export const Conversion = Type.Object(
  {
    id: Id,
    source: Type.Union(conversionSources.map((source) => Type.Literal(source))),
    status: Type.Union(conversionStatuses.map((status) => Type.Literal(status))),
    externalStatus: text('Status in the terms of the sender.'),
    eventName: text('Name of the event, for example purchase.'),
    convertedAt: Instant,
    clickedAt: Nullable(Instant),
    createdAt: Instant,
    updatedAt: Instant,
    clickId: Nullable(Id),
    visitorId: Nullable(Id),
    transactionId: text('Transaction id of the sender.'),
    ...entityFields,
    country: text('Country code, ISO 3166-1 alpha-2.'),
    device: Type.Unsafe<(typeof devices)[number] | null>({ type: ['string', 'null'], enum: [...devices, null] }),
    os: text('Operating system.'),
    browser: text('Browser.'),
    subIds: SubIds,
    payout: Nullable(Money),
    revenue: Nullable(Money),
    currency: Nullable(Currency),
    revenueBase: Nullable(
      Type.Number({ description: '`revenue` in `baseCurrency`, at the rate imported with the conversion.' }),
    ),
    baseCurrency: Type.String({ description: 'Currency of the account.' }),
    couponCode: text('Coupon code, as sent.'),
    isTest: Type.Boolean({
      description: 'Test conversion: excluded from stats and reports, listed only with `include_test_mode=true`.',
    }),
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
    ...fieldsParameter(Conversion),
    ...filterParameters,
    ...columnFilterParameters(columnFilterNames, 'conversions'),
    status: Type.Optional(
      Type.String({
        pattern: `^${statusPattern}(,${statusPattern})*$`,
        description: `Only conversions with one of these current statuses, separated by commas: ${conversionStatuses.join(', ')}.`,
        examples: ['approved', 'pending,hold'],
      }),
    ),
    source: Type.Optional(
      Type.Union(
        [...conversionSources, 'all' as const].map((source) => Type.Literal(source)),
        { default: 'all', description: 'Only conversions of this source.' },
      ),
    ),
    include_test_mode: Type.Optional(
      Type.Boolean({ default: false, description: 'Whether to include test conversions.' }),
    ),
  },
  { additionalProperties: false },
)
export type ConversionQuery = Static<typeof ConversionQuery>

import { type Static, Type } from '@sinclair/typebox'
import { sharedFields, storedAt } from './click.ts'
import { conversionAttributeNames } from './dimensions.ts'
import { exportedDimensions } from './fields.ts'
import { columnFilterNames, filterParameters, filterParametersOf, filterTreeParameter, namesInTree } from './filters.ts'
import { listParameters, OrderedPage } from './page.ts'
import { Currency, Id, Instant, Money, Named, Nullable, NullableText, OneOf, optional } from './scalars.ts'

export const conversionStatuses = ['approved', 'pending', 'declined', 'hold', 'refunded', 'chargeback'] as const
export const conversionSources = ['cpa', 'revenue'] as const

/** Filters of conversions. Clicks of reports and stats have none of these values. */
export const conversionFilterParameters = filterParametersOf(
  conversionAttributeNames,
  'conversions',
  {
    status: ` One of ${conversionStatuses.join(', ')}: the current status.`,
    source: ` One of ${conversionSources.join(', ')}; \`all\` alone is no filter.`,
  },
  { status: conversionStatuses, source: [...conversionSources, 'all'] },
)

export const Conversion = Named('Conversion', {
  id: Id,
  source: OneOf(conversionSources),
  status: OneOf(conversionStatuses),
  externalStatus: NullableText('Status in the terms of the sender.'),
  eventName: NullableText('Name of the event, for example purchase.'),
  convertedAt: Instant,
  clickedAt: Nullable(Instant),
  createdAt: Instant,
  updatedAt: Instant,
  clickId: Nullable(Id),
  visitorId: Nullable(Id),
  transactionId: NullableText('Transaction id of the sender.'),
  ...sharedFields,
  payout: Nullable(Money),
  revenue: Nullable(Money),
  currency: Nullable(Currency),
  revenueBase: Nullable(
    Type.Number({ description: '`revenue` in `baseCurrency`, at the rate imported with the conversion.' }),
  ),
  baseCurrency: Type.String({ description: 'Currency of the account.' }),
  couponCode: NullableText('Coupon code, as sent.'),
  isTest: Type.Boolean({
    description: 'Test conversion: excluded from stats and reports, listed only with `include_test_mode=true`.',
  }),
  storedAt,
})
export type Conversion = Static<typeof Conversion>

export const ConversionPage = OrderedPage(Conversion)

export const ConversionQuery = Type.Object({
  ...listParameters(Conversion, exportedDimensions.conversions),
  ...filterParameters,
  ...filterParametersOf(columnFilterNames, 'conversions'),
  ...conversionFilterParameters,
  ...filterTreeParameter(namesInTree.conversions),
  ...optional({
    include_test_mode: Type.Boolean({ default: false, description: 'Whether to include test conversions.' }),
  }),
})
export type ConversionQuery = Static<typeof ConversionQuery>

import { type Static, Type } from '@sinclair/typebox'
import { dimensions } from './dimensions.ts'
import { metricTexts } from './metrics.ts'
import { Named, NullableText, OneOf } from './scalars.ts'

const since = (what: string) => Type.String({ description: `First version with this ${what}.`, examples: ['1.0.0'] })

const DimensionEntry = Type.Object({
  name: OneOf(dimensions, { description: 'A value of `group_by` of a report.', examples: ['campaign'] }),
  resources: Type.Array(OneOf(['clicks', 'conversions', 'costs', 'events']), {
    description:
      'Rows that have a value; other rows count under `(not set)`. Conversions and events have the values of their clicks.',
  }),
  since: since('dimension'),
})

const MetricEntry = Type.Object({
  name: Type.String({ examples: ['roi'] }),
  description: Type.String({ examples: [metricTexts.roi] }),
  formula: NullableText('How the metric is computed from other ones, such as `100 * profit / cost`; null for a sum.'),
  unit: OneOf(['count', 'money', 'percent'], { description: '`money` is in the currency of the account.' }),
  since: since('metric'),
})

const FilterEntry = Type.Object({
  name: Type.String({
    description: 'Name of the parameter, and in the parameter `filters`.',
    examples: ['campaign_id'],
  }),
  endpoints: Type.Array(
    Type.Object({
      paths: Type.Array(Type.String(), { description: 'Paths of endpoints.', examples: [['/clicks', '/reports']] }),
      operators: Type.Array(Type.String(), {
        description:
          'With `contains`: operators in the parameter `filters`. Without: the parameter of the name takes values (`is`), and values after `!` (`is_not`).',
      }),
    }),
    { description: 'Endpoints that take the filter, by operators.' },
  ),
})

/** What can be asked for: names that other documents and tools need not list. */
export const ApiSchema = Named('ApiSchema', {
  dimensions: Type.Array(DimensionEntry, { description: 'Beside `property:` and the name of a property of events.' }),
  metrics: Type.Array(MetricEntry, { description: 'Metrics of reports and stats; the last three of reports only.' }),
  filters: Type.Array(FilterEntry),
})
export type ApiSchema = Static<typeof ApiSchema>

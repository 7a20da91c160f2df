import { type Static, Type } from '@sinclair/typebox'
import { Currency, described, Instant, Named, Nullable, OneOf, optional } from './scalars.ts'
import { scopes } from './scopes.ts'
import { PlanLimits } from './usage.ts'

/** The API key of a request, without the secret. */
export const Key = Named('Key', {
  id: Type.String({ format: 'uuid', description: 'Id of the key, as in `tributary key list`.' }),
  name: Type.String({ description: 'Purpose of the key, as given when it was created.', examples: ['BI tool'] }),
  accountId: Type.String({ examples: ['acme'] }),
  accountName: Type.String({ examples: ['Acme'] }),
  currency: described(Currency, 'Currency of every amount in stats and reports.'),
  plan: Type.String({ description: 'Name of the subscription plan.', examples: ['pro'] }),
  scopes: Type.Array(OneOf(scopes), { description: 'Operations that the key may call.' }),
  ...optional({
    filters: Type.Record(Type.String(), Type.Array(Type.String()), {
      description:
        'Present if the key sees a part of the account: values by filter. For each filter, a row has one of the values.',
    }),
    hidden: Type.Array(Type.String(), { description: 'In that case: metrics and fields that do not exist for it.' }),
  }),
  expiresAt: Nullable(described(Instant, 'When the key expires; null if it does not expire.')),
  limits: PlanLimits,
})
export type Key = Static<typeof Key>

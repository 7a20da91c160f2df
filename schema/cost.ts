import { type Static, Type } from '@sinclair/typebox'
import { sharedFields, storedAt } from './click.ts'
import { filterParameters, filterTreeParameter, namesInTree } from './filters.ts'
import { listParameters, OrderedPage, retainedFrom } from './page.ts'
import { Currency, described, Id, Instant, Money, Named } from './scalars.ts'

export const Cost = Named('Cost', {
  id: described(Id, 'As imported, or derived from the time and the dimensions of the row.'),
  spentAt: Instant,
  updatedAt: Instant,
  ...sharedFields,
  cost: described(Money, 'In `currency`; may be negative. 0: the row was taken back.'),
  currency: Currency,
  costBase: Type.Number({ description: '`cost` in `baseCurrency`, at the rate imported with the row.' }),
  baseCurrency: Type.String({ description: 'Currency of the account.' }),
  storedAt,
})
export type Cost = Static<typeof Cost>

export const CostPage = Type.Object({ ...OrderedPage(Cost).properties, ...retainedFrom })

export const CostQuery = Type.Object({
  ...listParameters(Cost),
  ...filterParameters,
  ...filterTreeParameter(namesInTree.costs),
})
export type CostQuery = Static<typeof CostQuery>

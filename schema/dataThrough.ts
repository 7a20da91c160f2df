import { Type } from '@sinclair/typebox'
import { Instant, Nullable, optional } from './scalars.ts'

const through = Nullable(Instant)

/** Field of reports and stats. */
export const dataThrough = optional({
  dataThrough: Type.Object(
    { clicks: through, conversions: through, costs: through, ...optional({ events: through }) },
    {
      $id: 'DataThrough',
      description:
        'Up to when the account has rows, whatever the range and the filters: the latest `clickedAt`, `convertedAt` and `spentAt` that was stored and not in the future then, bots and tests included; null without rows. Erasure and retention do not lower it. `events`, only with metrics of events: the latest `occurredAt` of an event that is stored now and not in the future. The ETag does not depend on it. Absent for keys that see a part of the account.',
    },
  ),
})

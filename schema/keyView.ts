import { type Static, Type } from '@sinclair/typebox'
import { viewFilterNames } from './filters.ts'

/** What can be hidden from a key: fields of rows, with their amounts in the currency of the account, and metrics that read them. */
export const hideableNames = ['cost', 'revenue', 'payout', 'ip', 'userAgent', 'externalClickId']

const nameOf = (names: readonly string[]) =>
  Type.String({ pattern: `^(${names.join('|')})$`, description: `one of ${names.join(', ')}` })

/** The part of an account that a key sees. A program refuses a key with a name that it does not know. */
export const KeyView = Type.Object(
  {
    /** Values by filter: for every filter, a row has one of them. */
    filters: Type.Record(nameOf(viewFilterNames), Type.Array(Type.String({ minLength: 1 }), { minItems: 1 }), {
      additionalProperties: false,
      minProperties: 1,
    }),
    hidden: Type.Array(nameOf(hideableNames)),
  },
  { additionalProperties: false },
)
export type KeyView = Static<typeof KeyView>

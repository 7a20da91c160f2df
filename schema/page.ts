import { type TSchema, Type } from '@sinclair/typebox'

export const pageLimitDefault = 50
export const pageLimitMax = 200

/** The two parameters that every list takes. */
export const pageParameters = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: pageLimitMax, default: pageLimitDefault, description: 'Rows a page.' }),
  ),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2048,
      description: '`nextCursor` of the page before. It never expires and goes with the filters it was made for.',
    }),
  ),
}

/** The envelope of every list. */
export function Page<T extends TSchema>(row: T) {
  return Type.Object({
    data: Type.Array(row),
    nextCursor: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Pass it as `cursor` to read on; null exactly when `hasMore` is false.',
    }),
    hasMore: Type.Boolean(),
  })
}

/** The envelope of a list that can be walked by `storedAt`. */
export function OrderedPage<T extends TSchema>(row: T) {
  return Type.Object({
    ...Page(row).properties,
    asOf: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'date-time',
      description:
        'With `updated_since`: every version that our store took before this moment can be seen now; null without. Nothing is ever stored before it, also when a clock steps back, so no row is skipped; it stays the same while nothing is stored.',
    }),
  })
}

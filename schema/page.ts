import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import { fieldsParameter, SelectableRow } from './fields.ts'
import { listRangeParameters, orderParameters } from './range.ts'
import { formatParameter, listFormats } from './rowFormat.ts'
import { described, Instant, Nullable, optional } from './scalars.ts'

export const pageLimitDefault = 50
export const pageLimitMax = 200
/** Bytes of the JSON of the rows of a page; a page has at least one row. */
export const pageBytesMax = 4 * 1_048_576

/** Field of responses that read rows which an account may remove by age. */
export const retainedFrom = optional({
  retainedFrom: described(
    Instant,
    'Present if the response would need rows from before this time: the account has removed them by its retention. Sums of whole UTC days still count them.',
  ),
})

/** Field of reports and stats, which read sums or rows. */
export const countedFrom = {
  retainedFrom: Nullable(
    described(
      Instant,
      'Null, or from when clicks, conversions and costs count that are not read from sums: the account has removed earlier clicks by its retention. Sums of whole UTC days, and of quarters of an hour by campaign, count the whole range.',
    ),
  ),
}

/** Query parameters of every list and search. */
export const pageParameters = optional({
  limit: Type.Integer({
    minimum: 1,
    maximum: pageLimitMax,
    default: pageLimitDefault,
    description: 'Number of rows per page; a page of long rows ends at 4 MiB.',
  }),
  cursor: Type.String({
    minLength: 1,
    maxLength: 2048,
    description: '`nextCursor` of the previous page. It never expires and is valid only with the same filters.',
  }),
})

/** Query parameters of a list in the order of time. @param row schema of its rows @param ofExports further fields of exports */
export function listParameters(row: TObject, ofExports?: object) {
  return {
    ...pageParameters,
    ...listRangeParameters,
    ...orderParameters,
    ...formatParameter(listFormats),
    ...fieldsParameter(row, Object.keys(ofExports ?? {})),
  }
}

/** Response of a search or a journey; each row has all fields. */
export function CompletePage<T extends TSchema>(row: T) {
  return Type.Object({
    data: Type.Array(row),
    nextCursor: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Pass it as `cursor` to read the next page; null if and only if `hasMore` is false.',
    }),
    hasMore: Type.Boolean(),
  })
}

/** Response of a list, which has the parameter `fields`. */
export function Page<T extends TObject>(row: T) {
  return CompletePage(SelectableRow(row))
}

const asOfText =
  'every version with a `storedAt` before this time is visible; null otherwise. No row is stored with an earlier `storedAt` afterwards, even if a clock is set back, so a sync that continues from here skips no row. It does not change while nothing is stored.'

/**
 * Response of a list that supports `updated_since` and `updated_after`.
 * @param asOf end of the description of `asOf`: what the time promises
 */
export function OrderedPage<T extends TObject>(row: T, asOf = asOfText) {
  return Type.Object({
    ...Page(row).properties,
    asOf: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'date-time',
      description: `With \`updated_since\` or \`updated_after\`: ${asOf}`,
    }),
  })
}

import { type Static, type TSchema, Type } from '@sinclair/typebox'

/** Every id of ours and of our customers: campaign, click, visitor, account, … */
export const idPattern = '^[A-Za-z0-9_.:-]{1,64}$'
export const Id = Type.String({ pattern: idPattern, description: 'Letters, digits, `_ . : -`; 1 to 64 characters.' })

/** Ids of events may be longer: callers build them of their own order and step names. */
export const eventIdPattern = '^[A-Za-z0-9_.:-]{1,128}$'

/** A moment as it leaves us: RFC 3339, UTC, milliseconds. */
export const Instant = Type.String({
  format: 'date-time',
  examples: ['2026-11-21T03:00:00.000Z'],
  description: 'RFC 3339, UTC, with milliseconds.',
})

/** An amount of money: at most 6 decimals; its currency stands beside it. */
export const Money = Type.Number({ description: 'At most 6 decimals, in the currency beside it.' })

export const Currency = Type.String({ pattern: '^[A-Z]{3}$', description: 'ISO 4217.' })

/**
 * The same schema or `null`: absent values are null, never left out.
 * Written as a type list, not as a union, so that clients generated from OpenAPI 3.1 get `string | null`.
 */
export function Nullable<T extends TSchema>(schema: T) {
  return Type.Unsafe<Static<T> | null>({ ...schema, type: [schema.type, 'null'] })
}

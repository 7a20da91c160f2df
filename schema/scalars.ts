import {
  type ArrayOptions,
  type SchemaOptions,
  type Static,
  type StringOptions,
  type TOptional,
  type TProperties,
  type TSchema,
  Type,
} from '@sinclair/typebox'

/** Every id: campaign, click, visitor, account, … */
export const idLengthMax = 64
export const idPattern = idPatternOf(idLengthMax)
export const Id = Type.String({ pattern: idPattern, description: 'Letters, digits, `_ . : -`; 1 to 64 characters.' })

/** Event ids may be longer: clients build them from order numbers and step names. */
export const eventIdLengthMax = 128
export const eventIdPattern = idPatternOf(eventIdLengthMax)

/** A time in a response. */
export const Instant = Type.String({
  format: 'date-time',
  examples: ['2026-11-21T03:00:00.000Z'],
  description: 'RFC 3339, UTC, with milliseconds.',
})

/** An amount of money; a `currency` field accompanies it. */
export const Money = Type.Number({ description: 'At most 6 decimals, in the accompanying currency.' })

export const Currency = Type.String({ pattern: '^[A-Z]{3}$', description: 'ISO 4217.' })

/**
 * The schema or `null`: absent values are null, never omitted.
 * A type list instead of a union, so that clients generated from OpenAPI 3.1 get `string | null`.
 */
export function Nullable<T extends TSchema>(schema: T) {
  return Type.Unsafe<Static<T> | null>({ ...schema, type: [schema.type, 'null'] })
}

/** An object with a name in the OpenAPI document. */
export function Named<Fields extends TProperties>($id: string, fields: Fields) {
  return Type.Object(fields, { $id })
}

/** A text, or null where there is none. */
export function NullableText(text: string | StringOptions) {
  return Nullable(Type.String(typeof text === 'string' ? { description: text } : text))
}

/** One of some texts. */
export function OneOf<const Name extends string>(names: readonly Name[], options?: SchemaOptions) {
  return Type.Unsafe<Name>({ type: 'string', enum: names, ...options })
}

/** One of some texts, or null. TRAP: the documentation page warns of `null` as a member of a union. */
export function NullableOneOf<const Name extends string>(names: readonly Name[]) {
  return Type.Unsafe<Name | null>({ type: ['string', 'null'], enum: [...names, null] })
}

/** Marks the schema of a text that is a list: a request may repeat the parameter instead of separating the values with commas. */
export const isRepeatable = Symbol('isRepeatable')

/**
 * One or more of some names, separated by commas; the value stays one text.
 * @param options `maxItems`: largest number of names; `pattern`: of further names
 */
export function ListOf(names: readonly string[], { pattern, ...options }: ArrayOptions & { pattern?: string } = {}) {
  const items = pattern === undefined ? OneOf(names) : OneOfOrLike(names, pattern)
  return Type.Unsafe<string>({ type: 'array', items, [isRepeatable]: true, ...options })
}

/** One of some texts, or a text that matches a pattern. */
export function OneOfOrLike(names: readonly string[], pattern: string, options?: SchemaOptions) {
  return Type.Unsafe<string>({ type: 'string', anyOf: [OneOf(names), Type.String({ pattern })], ...options })
}

/** The same schema with another description. */
export function described<Schema extends TSchema>(schema: Schema, description: string): Schema {
  return { ...schema, description }
}

/**
 * Makes each of some properties optional, to spread them into an object. TRAP: an optional parameter has no `examples`, which
 * tools would prefill and send as filters.
 */
export function optional<Properties extends TProperties>(properties: Properties) {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, Type.Optional(schema)])) as {
    [Name in keyof Properties]: TOptional<Properties[Name]>
  }
}

/** @returns the pattern of ids with up to `lengthMax` characters */
export function idPatternOf(lengthMax: number): string {
  return `^[A-Za-z0-9_.:-]{1,${lengthMax}}$`
}

import type { FieldType } from './fieldTypes.ts'
import { RowError } from './rowError.ts'

/** The fields of a row of a resource, by their API names. */
export interface RowShape<Row extends object> {
  readonly name: string
  /** Type of each field that sets the property of the same name. */
  readonly fields: { readonly [Name in keyof Row]?: FieldType<NonNullable<Row[Name]>> }
  /** Types of fields that set text properties which other fields set too: `subIds` and `sub1`. */
  readonly spread?: Readonly<Record<string, FieldType<Partial<Row>>>>
  /** Fields of exported rows that are not stored: names, counts. */
  readonly ignored: readonly string[]
  readonly required: readonly (keyof Row & string)[]
}

/** Values of one line of a file, by field name. */
export type RawFields = Readonly<Record<string, unknown>>

/** Reads the fields of a line into a row. A field is absent when it is missing, null, or the empty string. */
export type RowReader<Row> = (fields: RawFields, from: 'json' | 'cells') => Row

/**
 * Makes the reader of a resource.
 * @param blank a row with every field absent, which is copied for each row
 * @returns a function that throws RowError, naming the invalid field
 */
export function rowReader<Row extends object>(shape: RowShape<Row>, blank: Readonly<Row>): RowReader<Row> {
  const readers = new Map<string, { type: FieldType<unknown>; isSpread: boolean } | undefined>()
  for (const name of shape.ignored) readers.set(name, undefined)
  const fieldTypes = Object.entries(shape.fields) as [string, FieldType<unknown>][]
  for (const [name, type] of fieldTypes) readers.set(name, { type, isSpread: false })
  for (const [name, type] of Object.entries(shape.spread ?? {})) readers.set(name, { type, isSpread: true })

  return (fields, from) => {
    // TRAP: V8 takes 3 µs for each property that is added to a copy, far more than for the copy: rows have all of theirs here.
    const row: Row = { ...blank }
    for (const name of Object.keys(fields)) {
      const reader = readers.get(name)
      if (reader === undefined) {
        if (readers.has(name)) continue
        const shown = /^[\w.-]{1,64}$/.test(name) ? name : JSON.stringify(name.slice(0, 64))
        throw new RowError(`${shown}: is not a field of ${shape.name}`)
      }
      const value = fields[name]
      if (isAbsent(value)) continue
      const { type, isSpread } = reader
      try {
        const read = type.read(from === 'cells' && type.fromCell ? type.fromCell(value as string) : value)
        if (isSpread) assignOnce(row, read as Partial<Row>)
        else row[name as keyof Row] = read as Row[keyof Row]
      } catch (error) {
        throw error instanceof RowError ? new RowError(`${name}: ${error.message}`) : error
      }
    }
    for (const name of shape.required) if (isAbsent(fields[name])) throw new RowError(`${name}: is required`)
    return row
  }
}

/** @throws RowError when a property has been set to another text */
function assignOnce<Row extends object>(row: Row, values: Partial<Row>): void {
  for (const [name, value] of Object.entries(values) as [keyof Row & string, Row[keyof Row & string]][]) {
    if (row[name] !== '' && row[name] !== value)
      throw new RowError(`gives ${name} another value than another field does`)
    row[name] = value
  }
}

function isAbsent(value: unknown): boolean {
  return value === null || value === undefined || value === ''
}

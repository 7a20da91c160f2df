import type { FieldType } from './fieldTypes.ts'
import { RowError } from './rowError.ts'

/** What a row of a resource may hold: every field by the name that the API gives it. */
export interface RowShape<Row extends object> {
  /** What the rows are called in messages: `clicks`. */
  readonly name: string
  /** A row with nothing in it, to be filled. */
  readonly blank: () => Row
  /** How each field is read into the property of the same name. */
  readonly fields: { readonly [Name in keyof Row]?: FieldType<NonNullable<Row[Name]>> }
  /** Fields that are spread over several properties, such as `subIds`. */
  readonly spread?: Readonly<Record<string, FieldType<Partial<Row>>>>
  /** Fields that listed and exported rows have but nobody stores: names, counts. */
  readonly ignored: readonly string[]
  /** Properties without which a row is nothing. */
  readonly required: readonly (keyof Row & string)[]
}

/** Values by field name, out of one line of a file. */
export type RawFields = Readonly<Record<string, unknown>>

/** Reads the fields of a line into a row. Absent is: missing, null, or the empty string. */
export type RowReader<Row> = (fields: RawFields, from: 'json' | 'cells') => Row

/**
 * Makes the reader of a resource.
 * @returns a function that throws Refusal naming the field at fault
 */
export function rowReader<Row extends object>(shape: RowShape<Row>): RowReader<Row> {
  type Assign = (row: Row, value: unknown) => void
  const readers = new Map<string, { kind: FieldType<unknown>; assign: Assign } | undefined>()
  for (const name of shape.ignored) readers.set(name, undefined)
  for (const [name, kind] of Object.entries(shape.fields) as [keyof Row & string, FieldType<unknown>][]) {
    const assign: Assign = (row, value) => {
      row[name] = value as Row[typeof name]
    }
    readers.set(name, { kind, assign })
  }
  for (const [name, kind] of Object.entries(shape.spread ?? {})) {
    readers.set(name, { kind, assign: (row, value) => void Object.assign(row, value) })
  }

  return (fields, from) => {
    const row = shape.blank()
    for (const name of Object.keys(fields)) {
      const reader = readers.get(name)
      if (reader === undefined) {
        if (readers.has(name)) continue
        throw new RowError(`${shown(name)}: is not a field of ${shape.name}`)
      }
      const value = fields[name]
      if (isAbsent(value)) continue
      const { kind, assign } = reader
      try {
        assign(row, kind.read(from === 'cells' && kind.fromCell ? kind.fromCell(value as string) : value))
      } catch (error) {
        throw error instanceof RowError ? new RowError(`${name}: ${error.message}`) : error
      }
    }
    for (const name of shape.required) if (isAbsent(fields[name])) throw new RowError(`${name}: is required`)
    return row
  }
}

function isAbsent(value: unknown): boolean {
  return value === null || value === undefined || value === ''
}

/** A name out of a file, fit for a message. */
function shown(name: string): string {
  return /^[\w.-]{1,64}$/.test(name) ? name : JSON.stringify(name.slice(0, 64))
}

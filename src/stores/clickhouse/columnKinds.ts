import type { RowBinary } from './rowBinary.ts'
import { ch, type Fragment, identifier, join } from './sql.ts'

export interface Column<Row> {
  readonly name: string
  /** The type of the bytes that `write` produces; ClickHouse converts it to the type of the table. */
  readonly type: string
  readonly write: (out: RowBinary, row: Row) => void
}

/** A kind of column: the type of its bytes, how a value is written, and the value of an absent field. */
type Kind<Value> = { type: string; write(out: RowBinary, value: Value): void; absent: Value }

const kind = <Value>(type: string, write: Kind<Value>['write'], absent: Value): Kind<Value> => ({ type, write, absent })
const nullable = <Value>(type: string, write: Kind<Value>['write']): Kind<Value | null> => ({
  type: `Nullable(${type})`,
  write(out, value) {
    out.flag(value === null)
    if (value !== null) write(out, value)
  },
  absent: null,
})
const textKind = kind<string>('String', (out, value) => out.text(value), '')

/** Instants are epoch milliseconds UTC, amounts are millionths. */
const kinds = {
  /** Text, empty when absent. */
  text: textKind,
  /** Text that is never absent. */
  id: textKind,
  /** One of a list of values, never absent. */
  word: textKind,
  instant: kind<number>('DateTime64(3)', (out, value) => out.instant(value), 0),
  instantOrNull: nullable<number>('DateTime64(3)', (out, value) => out.instant(value)),
  moneyOrNull: nullable<bigint>('Decimal(18, 6)', (out, value) => out.money(value)),
  floatOrNull: nullable<number>('Float64', (out, value) => out.float(value)),
  flag: kind<boolean>('UInt8', (out, value) => out.flag(value), false),
  uint32: kind<number>('UInt32', (out, value) => out.uint32(value), 0),
  uint64: kind<number>('UInt64', (out, value) => out.uint64(value), 0),
}
export type ColumnKind = keyof typeof kinds

/** The columns of a table by the name of their field: `campaignId` is the column `campaign_id`. */
export type Fields = Readonly<Record<string, ColumnKind>>

export type RowOf<Of extends Fields> = { -readonly [Name in keyof Of]: (typeof kinds)[Of[Name]]['absent'] }

/** @returns the columns of an insert, in the order of the fields */
export function columnsOf<Of extends Fields>(fields: Of): readonly Column<RowOf<Of>>[] {
  return Object.entries(fields).map(([field, name]) => {
    const { type, write } = kinds[name] as Kind<unknown>
    return { name: columnName(field), type, write: (out, row) => write(out, row[field]) }
  })
}

export function blankRow<Of extends Fields>(fields: Of): RowOf<Of> {
  return Object.fromEntries(Object.entries(fields).map(([field, name]) => [field, kinds[name].absent])) as RowOf<Of>
}

/** @returns the select list of fields under their names; instants as epoch milliseconds, amounts as decimal text */
export function selectFields(fields: Fields): Fragment {
  return join(
    Object.entries(fields).map(([field, name]) => {
      const column = identifier(columnName(field))
      const isInstant = name === 'instant' || name === 'instantOrNull'
      return ch`${isInstant ? ch`toUnixTimestamp64Milli(${column})` : column} AS ${identifier(field)}`
    }),
  )
}

/** @returns a hash of the values of several fields of a row */
export function columnsHash(fields: readonly string[]): Fragment {
  return ch`sipHash64(toString((${join(fields.map((field) => identifier(columnName(field))))})))`
}

/** @returns the column of a field in both databases: `campaign_id` of `campaignId` */
export function columnName(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

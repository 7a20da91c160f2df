import type { RowBinary } from './rowBinary.ts'

/** One column of a table, and the function that writes a row's value. */
export interface Column<Row> {
  readonly name: string
  /** The type of the bytes that `write` produces; ClickHouse converts it to the type of the table. */
  readonly type: string
  readonly write: (out: RowBinary, row: Row) => void
}

/** Builds columns, one line each: `text('click_id', (row) => row.clickId)`. */
export function columnsOf<Row>() {
  const column =
    <Value>(type: string, writeValue: (out: RowBinary, value: Value) => void) =>
    (name: string, select: (row: Row) => Value): Column<Row> => ({
      name,
      type,
      write: (out, row) => writeValue(out, select(row)),
    })
  return {
    text: column<string>('String', (out, value) => out.text(value)),
    instant: column<number>('DateTime64(3)', (out, value) => out.instant(value)),
    instantOrNull: column<number | null>('Nullable(DateTime64(3))', (out, value) => out.instantOrNull(value)),
    moneyOrNull: column<bigint | null>('Nullable(Decimal(18, 6))', (out, value) => out.moneyOrNull(value)),
    floatOrNull: column<number | null>('Nullable(Float64)', (out, value) => out.floatOrNull(value)),
    flag: column<boolean>('UInt8', (out, value) => out.flag(value)),
    uint32: column<number>('UInt32', (out, value) => out.uint32(value)),
    uint64: column<number>('UInt64', (out, value) => out.uint64(value)),
  }
}

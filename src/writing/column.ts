import type { RowBinary } from './rowBinary.ts'

/** One column of a table, and how a row of ours is written into it. */
export interface Column<Row> {
  readonly name: string
  readonly write: (out: RowBinary, row: Row) => void
}

/** Columns as rows of ours fill them, one line a column: `text('click_id', (row) => row.clickId)`. */
export function columnsOf<Row>() {
  const column =
    <Value>(writeValue: (out: RowBinary, value: Value) => void) =>
    (name: string, valueOf: (row: Row) => Value): Column<Row> => ({
      name,
      write: (out, row) => writeValue(out, valueOf(row)),
    })
  return {
    text: column<string>((out, value) => out.text(value)),
    instant: column<number>((out, value) => out.instant(value)),
    instantOrNull: column<number | null>((out, value) => out.instantOrNull(value)),
    moneyOrNull: column<bigint | null>((out, value) => out.moneyOrNull(value)),
    floatOrNull: column<number | null>((out, value) => out.floatOrNull(value)),
    flag: column<boolean>((out, value) => out.flag(value)),
    uint32: column<number>((out, value) => out.uint32(value)),
    uint64: column<number>((out, value) => out.uint64(value)),
  }
}

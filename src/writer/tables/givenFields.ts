import type { Column } from '../../stores/clickhouse/columnKinds.ts'
import { RowBinary } from '../../stores/clickhouse/rowBinary.ts'

/** Fields that have a value in rows without them. Other absent fields are empty or null. */
const fieldsWithDefault = ['source', 'isBot', 'isTest', 'occurredAt', 'receivedAt', 'updatedAt']

/** A row of a file. */
export interface Given {
  /** The sum of `givenBit` of the fields that the file gives, and of `arrivalBit`. */
  given: number
}

/** A bit of `given`: `updatedAt` is the time of arrival, so the row replaces each row that arrived before. */
export const arrivalBit = 1 << fieldsWithDefault.length

/** @returns 0 for a field whose value says whether a file gives it */
export function givenBit(field: string): number {
  const index = fieldsWithDefault.indexOf(field)
  return index < 0 ? 0 : 1 << index
}

type Values = Readonly<Record<string, unknown>>

/** @returns the first field to which a row of a file gives another value than the stored row has. Erased values count as absent */
export function fieldWithOtherValue(fields: readonly string[], row: Given, stored: object): string | undefined {
  return fields.find((field) => {
    const [value, bit] = [(row as Given & Values)[field], givenBit(field)]
    const isGiven = bit === 0 ? value !== '' && value !== null : (row.given & bit) !== 0
    return isGiven && value !== (stored as Values)[field]
  })
}

/** Duplicates that an import may still compare. */
export type Budget = { rows: number }

/** Clicks or pixel events of an import that are compared with the stored rows. */
export const comparedDuplicates = 1_000

/** Duplicates that are compared with stored rows of one query. */
export const comparedTogether = 10_000

const out = new RowBinary()

/** @returns the bytes of a row, valid until the next call */
export function encode<Row>(columns: readonly Column<Row>[], row: Row): Buffer {
  out.length = 0
  for (const column of columns) column.write(out, row)
  return out.bytes
}

/**
 * The same for an encoded row; each field has one column.
 * @param columns in the order of the bytes and of `fields`
 * @param blank the row that gives no field
 */
export function encodedFieldWithOtherValue<Row>(
  { fields, columns, blank }: { fields: readonly string[]; columns: readonly Column<Row>[]; blank: Row },
  { bytes, given }: Given & { bytes: Buffer },
  stored: Row,
): string | undefined {
  let at = 0
  /** Skips the next column if it has the value of a row; the bytes of a value are never the beginning of another value. */
  const skip = (column: Column<Row>, row: Row) => {
    const value = encode([column], row)
    const isEqual = bytes.subarray(at, at + value.length).equals(value)
    if (isEqual) at += value.length
    return isEqual
  }
  const index = columns.findIndex((column, index) => {
    const isGiven = (given & givenBit(fields[index] ?? '')) !== 0
    return !(skip(column, stored) || (!isGiven && skip(column, blank)))
  })
  return fields[index]
}

import type { Cell } from '../../rows/csvWriter.ts'

/** The fields of a row by name, its cursor included. */
export type EncodedRow = Readonly<Record<string, Cell>>

/** Formats rows as a file, part by part. */
export interface RowEncoder {
  /** The beginning of the file; may be empty. */
  begin(): Buffer
  /** The next part of the file. */
  encode(rows: readonly EncodedRow[]): Buffer
  /** The end of the file; may be empty. */
  end(): Buffer
}

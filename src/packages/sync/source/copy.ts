import type { CopySource, SourceChecksums, Span } from './checksums.ts'
import type { ChangingResource, Resource } from './resources.ts'

/** What reads the source for a run. */
export interface Reader extends CopySource {
  /** Called with the number of rows that were stored, and the part of the resource that is done, 0 to 1. */
  onRows(resource: string, rows: number, fraction: number): void
}

/** Columns or fields that were added to an existing copy and are filled now. */
export interface Filled {
  columns: string[]
  /** Rows before this UTC day lack the columns: the source has removed them by age. */
  from?: string
}

export interface Verified extends Span {
  /** What was compared for each day. */
  compared: string[]
  days: number
  rows: number
  repaired: string[]
}

/** What an update has done. */
export interface Updated {
  /** The time before which all rows are copied. */
  asOf: string
  /** Undefined if no column is new. */
  filled: Filled | undefined
  /** Undefined if neither the source nor the copy has rows. */
  verified?: Verified | undefined
  /** Days for which a file was written or removed. */
  written?: string[]
}

/** A copy of any kind. A process that ends at any moment leaves rows and the state that describes them; the next one continues. */
export interface Copy {
  /**
   * Assigns the copy to an account, once, and adds resources to it: until each of them is copied, the copy is unfinished.
   * @throws SyncError when it is a copy of another account
   */
  assign(accountId: string, resources: readonly ChangingResource[]): Promise<void>
  /**
   * Copies all rows of a metadata resource.
   * @returns undefined if no column is new
   */
  copyAll(reader: Reader, resource: Resource): Promise<Filled | undefined>
  /**
   * Copies what was stored since the last update.
   * @param mustVerify whether all days are compared with the source, and replaced if they differ
   */
  update(reader: Reader, resource: ChangingResource, mustVerify: boolean): Promise<Updated>
  close(): Promise<void>
}

/**
 * @param repaired days that differed and were replaced
 * @param compared by default what `--verify` compares the rows of a database with
 */
export function verified(
  { key, time, amount }: ChangingResource,
  { range, days }: SourceChecksums,
  repaired: string[],
  compared = ['rows', `hash of ${[...key, time].join(', ')} and storedAt`, ...(amount ? [amount] : [])],
): Verified {
  return { ...range, compared, days: days.length, rows: days.reduce((sum, { rows }) => sum + rows, 0), repaired }
}

import type { DayChecksum, DayRange, Source } from '../source/checksums.ts'
import type { ChangingResource, Resource } from '../source/resources.ts'

/** What reads the source for a run. */
export interface Reader extends Source {
  /** Called with the number of rows that were stored, and the part of the resource that is done, 0 to 1. */
  onRows(resource: string, rows: number, fraction: number): void
}

/** Columns that were added to an existing table and are filled now. */
export interface Filled {
  columns: string[]
  /** Rows before this UTC day lack the columns: the source has removed them by age. */
  from?: string
}

/** The days and checksums of a copy. */
export interface ComparedCopy {
  /** First and last UTC day with rows; undefined for an empty table. */
  days(resource: ChangingResource): Promise<DayRange | undefined>
  /** Checksums of the rows that were stored before `asOf`. */
  checksums(resource: ChangingResource, asOf: string, range: DayRange): Promise<DayChecksum[]>
}

/** A copy in a database. A process that ends at any moment leaves rows and the state that describes them; the next one continues. */
export interface Target extends ComparedCopy {
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
   * Copies the rows that were stored since the last pass, all of them at first and when columns are new, or continues an
   * interrupted pass.
   * @returns the time before which all rows are copied, and the new columns
   */
  copyChanges(reader: Reader, resource: ChangingResource): Promise<{ copied: string; filled?: Filled | undefined }>
  /**
   * Makes the rows of a UTC day equal to the rows of the source.
   * @returns number of rows; undefined if the source has removed the day by age: the copy keeps it
   */
  replaceDay(reader: Reader, resource: ChangingResource, day: string): Promise<number | undefined>
  close(): Promise<void>
}

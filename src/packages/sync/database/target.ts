import type { Copy, Filled, Reader } from '../source/copy.ts'
import type { ChangingResource } from '../source/resources.ts'
import type { CopyChecksums } from './compare.ts'

/** A copy in a database. */
export interface DatabaseCopy extends CopyChecksums, Omit<Copy, 'update'> {
  /**
   * Copies the rows that were stored since the last pass, all of them at first and when columns are new, or continues an
   * interrupted pass.
   * @returns the time before which all rows are copied, and the new columns
   */
  copyChanges(reader: Reader, resource: ChangingResource): Promise<{ copied: string; filled?: Filled | undefined }>
  /**
   * Stores the time before which all rows of a resource are copied, when a pass has ended.
   * @param times `copied`: the `X-As-Of` of the pass. It stays just after the last row while the source stores no rows. `before`: a time
   *   of the source before the pass: a source without unfinished rows gives none an earlier time later
   * @returns the stored time
   */
  storeAsOf(resource: ChangingResource, times: { copied: string; before: string }): Promise<string>
  /**
   * Makes the rows of a UTC day equal to the rows of the source.
   * @returns number of rows; undefined if the source has removed the day by age: the copy keeps it
   */
  replaceDay(reader: Reader, resource: ChangingResource, day: string): Promise<number | undefined>
}

import { ExpectedError } from '../expectedError.ts'

/** How many rows an import may reject: a number of rows, or a percentage of the rows read. */
export type RejectLimit = { readonly rows: number } | { readonly percent: number }

/** An import has stopped because it rejected too many rows; the message is a sentence. */
export class TooManyRejects extends ExpectedError {}

/** Rows after which a percentage is compared, and after which an import without a limit stops if it has rejected all of them. */
const firstRows = 1_000

/**
 * Compares the rows read so far with the limit.
 * @param limit undefined: the first 1,000 rows must not all be rejected
 * @param isEnd whether all rows were read
 * @throws TooManyRejects
 */
export function assertWithin(
  limit: RejectLimit | undefined,
  { read, rejected }: { read: number; rejected: number },
  isEnd: boolean,
): void {
  if (limit === undefined) {
    if (rejected === firstRows && read === firstRows) {
      throw new TooManyRejects(`The first ${firstRows} rows were all rejected; --max-rejects sets another limit.`)
    }
    return
  }
  const isExceeded =
    'rows' in limit ? rejected > limit.rows : (isEnd || read >= firstRows) && rejected * 100 > limit.percent * read
  if (!isExceeded) return
  const shown = 'rows' in limit ? `${limit.rows}` : `${limit.percent}%`
  throw new TooManyRejects(`${rejected} of ${read} rows were rejected, more than --max-rejects ${shown}.`)
}

import type { Filled, Reader, Target } from './database/target.ts'
import type { ChangingResource } from './source/resources.ts'

/** Passes that may end before the time that `copyBeyond` is given. */
const passesMax = 3

/** What a run needs. */
export interface Run extends Reader {
  target: Target
}

/**
 * Copies changes until the copy has all rows that were stored before `asOf`. One pass is enough, unless it continues one that
 * began before `asOf`, or a clock was set back.
 * @param asOf undefined for one pass
 * @returns undefined if no column is new
 */
export async function copyBeyond(
  { target, ...reader }: Run,
  resource: ChangingResource,
  asOf: string | undefined,
): Promise<Filled | undefined> {
  let added: Filled | undefined
  for (let pass = 1; pass <= passesMax; pass++) {
    const { copied, filled } = await target.copyChanges(reader, resource)
    added ??= filled
    if (asOf === undefined || copied >= asOf) break
  }
  return added
}

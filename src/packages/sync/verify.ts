import type { Run } from './copy.ts'
import { differences } from './database/compare.ts'
import { type DayRange, requestChecksums, type SourceChecksums } from './source/checksums.ts'
import { TemporaryError } from './source/errors.ts'
import type { ChangingResource } from './source/resources.ts'

/** Reads of a day that differs; conversions may change between the reads of the checksums and of the rows. */
const repairsMax = 3

export interface Verified extends DayRange {
  /** What was compared for each day: the number of rows, the hash of their keys, times and `storedAt`, and the sum of an amount. */
  compared: string[]
  days: number
  rows: number
  repaired: string[]
}

/**
 * Compares the copy with checksums that were read before the copy was updated, and replaces the days that differ.
 * @throws TemporaryError when a day still differs after several replacements
 */
export async function verifyCopy(run: Run, resource: ChangingResource, source: SourceChecksums): Promise<Verified> {
  const repaired = new Set<string>()
  let different = await differences(run.target, resource, source)
  for (let attempt = 0; different.length > 0; attempt++) {
    if (attempt === repairsMax) {
      throw new TemporaryError(`${resource.name} of ${different[0]} still differ from the source; run --verify again.`)
    }
    const again: string[] = []
    for (const [index, day] of different.entries()) {
      // Before the rows: rows that are stored in between are later than its `asOf`, and not compared.
      const checksums = await requestChecksums(run, resource, { from: day, to: day })
      // The source has removed the day by age: the copy keeps it.
      if (checksums.range.from > day) continue
      const stored = await run.target.replaceDay(run, resource, day)
      if (stored === undefined) continue
      run.onRows(resource.name, stored, (index + 1) / different.length)
      repaired.add(day)
      again.push(...(await differences(run.target, resource, checksums)))
    }
    different = again
  }
  return verified(resource, source, [...repaired].sort())
}

/** @param repaired days that differed and were replaced */
export function verified(
  { key, time, amount }: ChangingResource,
  { range, days }: SourceChecksums,
  repaired: string[],
): Verified {
  const compared = ['rows', `hash of ${[...key, time].join(', ')} and storedAt`, ...(amount ? [amount] : [])]
  return { ...range, compared, days: days.length, rows: days.reduce((sum, { rows }) => sum + rows, 0), repaired }
}

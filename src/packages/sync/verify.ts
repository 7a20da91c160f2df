import { checkedBatches, type Run } from './copy.ts'
import {
  type DayRange,
  dayRange,
  isRetained,
  requestChecksums,
  type SourceChecksums,
  timeRange,
} from './source/checksums.ts'
import { TemporaryError } from './source/errors.ts'
import { checkDay } from './source/received.ts'
import { type ChangingResource, exportedFields } from './source/resources.ts'

/** Reads of a day that differs; conversions may change between the reads of the checksums and of the rows. */
const repairsMax = 3

export interface Verified extends DayRange {
  /** What was compared for each day: the number of rows, the hash of their keys and `storedAt`, and the sum of an amount. */
  compared: string[]
  days: number
  rows: number
  repaired: string[]
}

/** Reads the checksums of every day with rows, in the source or in the copy. @returns undefined if there are none */
export async function readChecksums(run: Run, resource: ChangingResource): Promise<SourceChecksums | undefined> {
  const range = dayRange(await timeRange(run, resource), await run.target.days(resource))
  return range && (await requestChecksums(run, resource, range))
}

/**
 * Compares the copy with checksums that were read before the copy was updated, and replaces the days that differ.
 * @throws TemporaryError when a day still differs after several replacements
 */
export async function verifyCopy(run: Run, resource: ChangingResource, source: SourceChecksums): Promise<Verified> {
  const repaired = new Set<string>()
  let different = await differences(run, resource, source)
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
      const query = { ...resource.query, from: day, to: day }
      const fields = exportedFields(resource)
      const rows = run.client.exportBatches(resource.path, { query, fields, signal: run.signal })
      const batches = checkedBatches(rows, (part) => checkDay(resource, day, part))
      const stored = await run.target.replaceDay(resource, day, batches, () => isRetained(run, resource, day))
      if (stored === undefined) continue
      run.onRows(resource.name, stored, (index + 1) / different.length)
      repaired.add(day)
      again.push(...(await differences(run, resource, checksums)))
    }
    different = again
  }
  return verified(resource, source, [...repaired].sort())
}

/** @param repaired days that differed and were replaced */
export function verified(
  { key, amount }: ChangingResource,
  { range, days }: SourceChecksums,
  repaired: string[],
): Verified {
  const compared = ['rows', `hash of ${key.join(', ')} and storedAt`, ...(amount ? [amount] : [])]
  return { ...range, compared, days: days.length, rows: days.reduce((sum, { rows }) => sum + rows, 0), repaired }
}

/** @returns the days with rows that differ */
async function differences({ target }: Run, resource: ChangingResource, source: SourceChecksums): Promise<string[]> {
  const copied = new Map((await target.checksums(resource, source.asOf, source.range)).map((day) => [day.day, day]))
  const missing = source.days.filter(({ day, rows, amount, hash }) => {
    const copy = copied.get(day)
    return copy?.rows !== rows || copy.hash !== hash || Number(copy.amount) !== Number(amount)
  })
  const known = new Set(source.days.map(({ day }) => day))
  return [...missing.map(({ day }) => day), ...[...copied.keys()].filter((day) => !known.has(day))]
}

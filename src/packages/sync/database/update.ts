import { requestChecksums, type SourceChecksums } from '../source/checksums.ts'
import { type Copy, type Filled, type Reader, type Updated, type Verified, verified } from '../source/copy.ts'
import { TemporaryError } from '../source/errors.ts'
import type { ChangingResource } from '../source/resources.ts'
import { differentDays, readChecksums } from './compare.ts'
import type { DatabaseCopy } from './target.ts'

/** Passes that may end before the `asOf` of the checksums: one continues an older pass, or a clock was set back. */
const passesMax = 3

/** Reads of a day that differs; conversions may change between the reads of the checksums and of the rows. */
const repairsMax = 3

/**
 * Opens `Copy.update` for one run.
 * @returns a function that updates one resource after another
 */
export function openUpdate(target: DatabaseCopy): Copy['update'] {
  /** The latest `X-As-Of` of the run. */
  let before = ''
  return async (reader, resource, mustVerify) => {
    const { copied, ...updated } = await updateTarget(target, reader, resource, mustVerify)
    await target.storeAsOf(resource, { copied, before })
    if (copied > before) before = copied
    return updated
  }
}

/** As `Copy.update`. Checksums are read first, so that the copy is beyond their `asOf` when it is compared. */
async function updateTarget(
  target: DatabaseCopy,
  reader: Reader,
  resource: ChangingResource,
  mustVerify: boolean,
): Promise<Updated & { copied: string }> {
  const checksums = mustVerify ? await readChecksums(reader, target, resource) : undefined
  let filled: Filled | undefined
  let copied = ''
  for (let pass = 1; pass <= passesMax; pass++) {
    const changes = await target.copyChanges(reader, resource)
    filled ??= changes.filled
    copied = changes.copied
    if (checksums === undefined || copied >= checksums.asOf) break
  }
  return { copied, filled, verified: checksums && (await verify(target, reader, resource, checksums)) }
}

/**
 * Compares the copy with checksums that were read before the copy was updated, and replaces the days that differ.
 * @throws TemporaryError when a day still differs after several replacements
 */
async function verify(
  target: DatabaseCopy,
  reader: Reader,
  resource: ChangingResource,
  source: SourceChecksums,
): Promise<Verified> {
  const repaired = new Set<string>()
  let different = await differentDays(target, resource, source)
  for (let attempt = 0; different.length > 0; attempt++) {
    if (attempt === repairsMax) {
      throw new TemporaryError(`${resource.name} of ${different[0]} still differ from the source; run --verify again.`)
    }
    const again: string[] = []
    for (const [index, day] of different.entries()) {
      // Before the rows: rows that are stored in between are later than its `asOf`, and not compared.
      const checksums = await requestChecksums(reader, resource, { from: day, to: day })
      // The source has removed the day by age: the copy keeps it.
      if (checksums.range.from > day) continue
      const stored = await target.replaceDay(reader, resource, day)
      if (stored === undefined) continue
      reader.onRows(resource.name, stored, (index + 1) / different.length)
      repaired.add(day)
      again.push(...(await differentDays(target, resource, checksums)))
    }
    different = again
  }
  return verified(resource, source, [...repaired].sort())
}

import { requestChecksums, type SourceChecksums } from '../source/checksums.ts'
import { type Copy, type Filled, type Reader, type Updated, type Verified, verified } from '../source/copy.ts'
import { TemporaryError } from '../source/errors.ts'
import { type ChangingResource, events } from '../source/resources.ts'
import { differentDays, readChecksums } from './compare.ts'
import { earlier } from './state.ts'
import type { DatabaseCopy } from './target.ts'

/** Passes that may end before the `asOf` of the checksums: one continues an older pass, or a clock was set back. */
const passesMax = 3

/** Reads of a day that differs; conversions may change between the reads of the checksums and of the rows. */
const repairsMax = 3

/** Clicks, conversions and costs have the clock of PostgreSQL, events have the clock of ClickHouse; `doctor` names larger differences. */
const clocksMs = 2_000

/**
 * Opens `Copy.update` for one run.
 * @param hasEvents whether the run copies events
 * @returns a function that updates one resource after another
 */
export function openUpdate(target: DatabaseCopy, hasEvents: boolean): Copy['update'] {
  /** A time of the source before the next resource is read, '' if unknown. */
  let before: string | undefined
  return async (reader, resource, mustVerify) => {
    before ??= hasEvents ? await presentOf(reader) : ''
    const { copied, ...updated } = await updateTarget(target, reader, resource, mustVerify)
    // The clock of the other resources is no bound for events.
    await target.storeAsOf(resource, { copied, before: resource === events ? '' : before })
    if (copied > before) before = copied
    return updated
  }
}

/** @returns the present of the source by its events, whose `asOf` advances without new rows; '' if it cannot be read now */
async function presentOf(reader: Reader): Promise<string> {
  try {
    // A day without rows.
    const { asOf } = await requestChecksums(reader, events, { from: '2000-01-01', to: '2000-01-01' })
    return earlier(asOf, clocksMs)
  } catch {
    // Clicks and conversions are copied first; the copying of events has the error.
    reader.signal?.throwIfAborted()
    return ''
  }
}

/** Checksums are read first, so that the copy is beyond their `asOf` when it is compared. */
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

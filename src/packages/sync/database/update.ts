import { requestChecksums, type SourceChecksums } from '../source/checksums.ts'
import { type Copy, type Filled, type Reader, type Verified, verified } from '../source/copy.ts'
import { TemporaryError } from '../source/errors.ts'
import { type ChangingResource, events } from '../source/resources.ts'
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
    // Before the rows, so that the copy is beyond their `asOf` when it is compared.
    const checksums = mustVerify ? await target.readChecksums(reader, resource) : undefined
    const { copied, filled } = await copyUntil(reader, resource, checksums?.asOf ?? '')
    const proof = checksums && (await verify(reader, resource, checksums))
    // The clock of the other resources is no bound for events.
    const asOf = await target.storeAsOf(resource, { copied, before: resource === events ? '' : before })
    if (copied > before) before = copied
    return { asOf, filled, verified: proof }
  }

  /** Copies until all rows before `asOf` are copied. */
  async function copyUntil(reader: Reader, resource: ChangingResource, asOf: string) {
    let filled: Filled | undefined
    for (let pass = 1; ; pass++) {
      const changes = await target.copyChanges(reader, resource)
      filled ??= changes.filled
      if (changes.copied >= asOf || pass === passesMax) return { copied: changes.copied, filled }
    }
  }

  /**
   * Compares the copy with checksums that were read before the copy was updated, and replaces the days that differ.
   * @throws TemporaryError when a day still differs after several replacements
   */
  async function verify(reader: Reader, resource: ChangingResource, source: SourceChecksums): Promise<Verified> {
    const repaired = new Set<string>()
    let different = await target.differentDays(resource, source)
    for (let attempt = 0; different.length > 0; attempt++) {
      if (attempt === repairsMax) {
        throw new TemporaryError(
          `${resource.name} of ${different[0]} still differ from the source; run --verify again.`,
        )
      }
      const again: string[] = []
      for (const [index, day] of different.entries()) {
        // Before the rows: rows that are stored in between are later than its `asOf`, and not compared.
        const checksums = await requestChecksums(reader, resource, { from: day, to: day })
        // The source has removed the day by age: the copy keeps it.
        if (checksums.range.from > day) continue
        // A row has changed since the checksums that the day differs from.
        if ((await target.differentDays(resource, checksums)).length === 0) continue
        const stored = await target.replaceDay(reader, resource, day)
        if (stored === undefined) continue
        reader.onRows(resource.name, stored, (index + 1) / different.length)
        repaired.add(day)
        again.push(...(await target.differentDays(resource, checksums)))
      }
      different = again
    }
    return verified(resource, source, [...repaired].sort())
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

import { setImmediate as immediate } from 'node:timers/promises'
import { Turn } from '../stores/timing/turn.ts'
import { whenAborted } from '../stores/timing/whenAborted.ts'
import type { Writer } from '../writer/fence/session.ts'
import { openWriter } from '../writer/openWriter.ts'
import { type AlteredValue, AlteredValues } from './alteredValues.ts'
import { type Batches, openBatches } from './batches.ts'
import { openDecoder } from './decoder.ts'
import { checkHeader } from './header.ts'
import type { ImportObserver, ImportOptions } from './options.ts'
import { RowError } from './readers/rowError.ts'
import { openRejects } from './rejects.ts'
import { type ImportSource, openSource } from './source.ts'
import type { Tally } from './tally.ts'

/**
 * Imports rows in batches, each stored as a whole or not at all. After any interruption, running it again completes the
 * import.
 * @param tally updated during the import; after a failure it holds the counts so far
 * @returns the values that changed
 * @throws what the source throws, TooManyRejects, LeaseLost, the reason of `signal`, or the error of a database that stays unavailable
 */
export async function importRows(
  stores: Writer['stores'],
  options: ImportOptions,
  tally: Tally,
  { onMessage, signal, onProgress }: ImportObserver,
): Promise<AlteredValue[]> {
  const { resource, account, mapping, isDryRun, statementWindowMs } = options
  const ended = new AbortController()
  const reading = AbortSignal.any([signal, ended.signal])
  const check = (names: readonly string[]) => checkHeader(resource, names, mapping)
  const source = 'path' in options.source ? await openSource(options.source, check, reading) : options.source
  const altered = new AlteredValues()
  const rejects = openRejects(options, tally, onMessage)
  const working = new AbortController()
  const unlink = whenAborted(signal, () => working.abort(signal.reason))
  let writer: Writer | undefined
  let batches: Batches | undefined
  try {
    if (!isDryRun) {
      writer = await openWriter(stores, account.id, { onMessage, signal: working.signal, statementWindowMs })
      const { lost } = writer.lease
      whenAborted(lost, () => ended.abort(lost.reason))
      await options.prepare?.(writer)
    }
    const decoder = await openDecoder(stores, writer, options, source, altered)
    batches = writer && openBatches(writer, options, tally)
    if (source.isStream) {
      // What standard input gave until a signal is stored; the caller ends the process at the second signal.
      unlink()
      batches?.storeRegularly((error) => ended.abort(error))
    }
    const turn = new Turn()
    for await (const rows of source.isStream ? untilSignal(source.rows, signal) : source.rows) {
      for (const row of rows) {
        if (turn.isOver(row.text.length)) await immediate()
        tally.read += 1
        const decoded = decoder.decode(row)
        if (decoded instanceof RowError) await rejects.add(row, decoded)
        else batches?.add(decoded, row.text.length)
        if (batches?.isFull) await batches.storeFilled()
      }
      onProgress(tally, source.fractionRead())
    }
    if (!signal.aborted) rejects.assertWithinLimit()
    await batches?.end(onMessage)
    const unseen = decoder.warning()
    if (unseen !== undefined && tally.read > 0) onMessage(unseen)
    return altered.list()
  } finally {
    unlink()
    ended.abort(new Error('The import has ended.'))
    await batches?.close()
    for (const line of [...altered.summary(), ...rejects.summary()]) onMessage(line)
    await rejects.close().finally(() => writer?.close())
  }
}

/** Yields the same blocks, and ends when the signal has ended their source. */
async function* untilSignal(blocks: ImportSource['rows'], signal: AbortSignal): ImportSource['rows'] {
  try {
    yield* blocks
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

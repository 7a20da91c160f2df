import { setImmediate as immediate } from 'node:timers/promises'
import { fromMillionths } from '../query/money.ts'
import { selectRows } from '../stores/clickhouse/select.ts'
import { Turn } from '../stores/timing/turn.ts'
import { whenAborted } from '../stores/timing/whenAborted.ts'
import type { Writer } from '../writer/fence/session.ts'
import { openWriter } from '../writer/openWriter.ts'
import type { RowReading } from '../writer/upserts/currentRows.ts'
import { type AlteredValue, alteredLines } from './alteredValues.ts'
import { type Batches, openBatches } from './batches.ts'
import { openDecoder } from './decoder.ts'
import { checkHeader, mappedColumns } from './header.ts'
import type { ImportObserver, ImportOptions } from './options.ts'
import { noMapping } from './readers/mapping.ts'
import { RowError } from './readers/rowError.ts'
import { openRejects, type Rejects } from './rejects.ts'
import { openReplacedDays } from './replacedDays.ts'
import { shownRow } from './shownRow.ts'
import { type ImportSource, openSource, SourceError } from './source.ts'
import { surveySheet } from './survey.ts'
import type { Tally } from './tally.ts'

/** Rows that a dry run shows. */
const shownRows = 3

/**
 * Imports rows in batches, each stored as a whole or not at all. After any interruption, running it again completes the
 * import.
 * @param tally updated during the import; after a failure it holds the counts so far
 * @returns the values that changed
 * @throws what the source throws, TooManyRejects, LeaseLost, the reason of `signal`, or the error of a database that stays unavailable
 */
export async function importRows(
  stores: Writer['stores'],
  given: ImportOptions,
  tally: Tally,
  { onMessage, signal, onProgress }: ImportObserver,
): Promise<AlteredValue[]> {
  const { account, isDryRun, statementWindowMs, mapping = noMapping } = given
  const ended = new AbortController()
  const { source, sheet, skipped } = await openRows(given, AbortSignal.any([signal, ended.signal]))
  // Also equal rows of a sheet that replaces days get its time, so that no older sheet counts after it.
  const updatedAtMs = mapping.updatedAtMs ?? (mapping.replaceDays ? given.nowMs : undefined)
  const options = { ...given, mapping: { ...mapping, updatedAtMs, hasCommas: sheet?.hasCommas ?? false } }
  const altered: AlteredValue[] = []
  const rejects = openRejects(options, tally, onMessage)
  const working = new AbortController()
  const stopListening = whenAborted(signal, () => working.abort(signal.reason))
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
    const reader: RowReading = writer ?? {
      select: (_, query, label) => selectRows(stores.clickhouse, query, { label }),
    }
    const replaced = sheet && mapping.replaceDays ? await openReplacedDays(reader, options, sheet, tally) : undefined
    batches = writer && openBatches(writer, options, tally, rejects)
    const steps: Steps = { options, tally, onMessage, onProgress, source, sheet, decoder, rejects, replaced, batches }
    if (source.isStream) {
      // What standard input gave until a signal is stored; the caller ends the process at the second signal.
      stopListening()
      batches?.storeRegularly((error) => ended.abort(error))
    }
    await readRows(steps, source.isStream ? untilSignal(source.rows, signal) : source.rows)
    for (const [decoded, row] of replaced?.release(onMessage) ?? []) {
      batches?.add(decoded, row)
      if (batches?.isFull) await batches.storeFilling()
    }
    if (!signal.aborted) rejects.assertWithinLimit()
    for (const sentence of skipped) onMessage(`${sentence}.`)
    for (const sentence of sheet?.sentences ?? []) onMessage(sentence)
    const storedMs = (await batches?.end(onMessage)) ?? 0
    // A batch rejects rows too.
    if (!signal.aborted) rejects.assertWithinLimit()
    const replacedMs = Math.max(storedMs, await replaceMissing(steps, writer))
    if (mapping.updatedAtMs === undefined) warnOfOlderFile(steps, replacedMs)
    const unseen = decoder.warning()
    if (unseen !== undefined && tally.read > 0) onMessage(unseen)
    return altered
  } finally {
    stopListening()
    ended.abort(new Error('The import has ended.'))
    await batches?.close()
    for (const line of [...alteredLines(altered), ...rejects.summary()]) onMessage(line)
    await rejects.close().finally(() => writer?.close())
  }
}

/** What the steps of an import share. A dry run has no batches. */
interface Steps extends Omit<ImportObserver, 'signal'>, Pick<OpenedRows, 'source' | 'sheet'> {
  options: ImportOptions
  tally: Tally
  decoder: Awaited<ReturnType<typeof openDecoder>>
  rejects: Rejects
  /** Of a sheet that replaces days. */
  replaced: Awaited<ReturnType<typeof openReplacedDays>> | undefined
  batches: Batches | undefined
}

/** Decodes all rows, and stores each of them or rejects it. Rows that `replaced` holds are stored later. */
async function readRows(steps: Steps, blocks: ImportSource['rows']): Promise<void> {
  const { options, tally, onMessage, onProgress, source, sheet, decoder, rejects, replaced } = steps
  const turn = new Turn()
  let shown = 0
  for await (const rows of blocks) {
    for (const row of rows) {
      if (turn.isOver(row.text.length)) await immediate()
      tally.read += 1
      if (sheet?.totals.has(row.line)) {
        tally.totals = (tally.totals ?? 0) + 1
        continue
      }
      const decoded = decoder.decode(row)
      if (decoded instanceof RowError) await rejects.add(row, decoded)
      else if (replaced?.admits(decoded, row) ?? true) steps.batches?.add(decoded, row)
      if (options.isDryRun && !(decoded instanceof RowError) && shown++ < shownRows)
        onMessage(`line ${row.line} as it would be stored: ${shownRow(options.resource, decoded.row)}`)
      if (steps.batches?.isFull) await steps.batches.storeFilling()
    }
    onProgress(tally, source.fractionRead())
  }
}

/**
 * Sets the costs that the sheet lacks to 0, unless a row was rejected.
 * @returns when the latest of them was stored, epoch milliseconds; 0: there is none
 */
async function replaceMissing({ tally, replaced, decoder }: Steps, writer: Writer | undefined): Promise<number> {
  if (!replaced) return 0
  const nothing = { rows: 0, cost: 0n, storedMs: 0 }
  const { storedMs, ...counts } = tally.rejected > 0 ? nothing : await replaced.replace(writer, decoder.derivedIds)
  tally.replaced = { ...counts, cost: fromMillionths(counts.cost) }
  return storedMs
}

/** @param replacedMs when the latest of the replaced costs was stored, epoch milliseconds */
function warnOfOlderFile({ source, onMessage }: Steps, replacedMs: number): void {
  if (replacedMs <= (source.modifiedMs ?? Number.POSITIVE_INFINITY)) return
  const at = new Date(replacedMs).toISOString()
  onMessage(`warning: the file is older than costs that it replaces, stored at ${at}; --updated-at gives its time.`)
}

type OpenedRows = Awaited<ReturnType<typeof openRows>>

/**
 * Opens the rows. A CSV file of costs is read once before, for what needs all of its rows.
 * @returns also sentences on lines that are not read; they are complete once the rows were read
 */
async function openRows({ resource, account, mapping = noMapping, source }: ImportOptions, signal: AbortSignal) {
  const skipped = new Set<string>()
  const csv = {
    columns: mappedColumns(mapping),
    checkHeader: (names: readonly string[], line: number) => checkHeader(resource, names, mapping, line),
    onSkipped: (sentence: string) => skipped.add(sentence),
  }
  const open = async () => ('path' in source ? await openSource(source, csv, signal) : source)
  const first = await open()
  const isSheet = resource === 'costs' && first.from === 'cells' && first.modifiedMs !== undefined
  const mayHaveTotals = resource === 'costs' && first.from === 'cells' && mapping.map.length > 0 && !mapping.keepTotals
  if (!isSheet && (mapping.replaceDays || mayHaveTotals))
    throw new SourceError('a CSV file of costs is read twice, so it must be a file; --keep-totals reads a pipe once.')
  if (!isSheet) return { source: first, sheet: undefined, skipped }
  const sheet = await surveySheet(first.rows, mapping, account.currency)
  const second = await open()
  if (second.modifiedMs !== first.modifiedMs) throw new SourceError('the file changed while it was read; run it again.')
  return { source: second, sheet, skipped }
}

/** Yields the same blocks, and ends when the signal has ended their source. */
async function* untilSignal(blocks: ImportSource['rows'], signal: AbortSignal): ImportSource['rows'] {
  try {
    yield* blocks
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

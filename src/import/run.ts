import { setImmediate as immediate } from 'node:timers/promises'
import type { Account } from '../accounts/accounts.ts'
import { readRetainedRanges } from '../stores/postgres/retainedRanges.ts'
import { Turn } from '../stores/timing/turn.ts'
import { whenAborted } from '../stores/timing/whenAborted.ts'
import { completeErasures } from '../writer/erasure/completeErasures.ts'
import { ErasedIdentifiers } from '../writer/erasure/erasedIdentifiers.ts'
import type { Writer } from '../writer/fence/session.ts'
import { openWriter } from '../writer/openWriter.ts'
import { comparedDuplicates } from '../writer/store/givenFields.ts'
import { attributeEarlyConversions } from '../writer/store/reattribution.ts'
import { openLookUps, RowBatch, type Table } from '../writer/store/rowBatch.ts'
import { type Alteration, type AlteredValue, AlteredValues } from './alteredValues.ts'
import { UnknownCampaigns } from './campaigns.ts'
import { checkHeader } from './header.ts'
import { type Input, type Mapping, noMapping } from './readers/mapping.ts'
import { RemovedMonthError, RowError } from './readers/rowError.ts'
import { assertWithin, type Reject, type RejectLimit, RejectReasons, Rejects } from './rejects.ts'
import { type ResourceName, resourceTables } from './resourceNames.ts'
import { firstLines, type ReadCost } from './resources/cost.ts'
import { decodeRow, type RowSource, readerOf } from './rows.ts'
import { type ImportFile, type ImportSource, openSource } from './source.ts'

export interface ImportOptions {
  resource: ResourceName
  account: Account
  /** A file, which is opened, or rows that need no file. */
  source: ImportFile | ImportSource
  /** Path of the file for rejected rows; undefined: they are passed to `onMessage`. */
  rejects: string | undefined
  /** When rejected rows end the import; absent: when the first 1,000 rows are all rejected. */
  rejectLimit?: RejectLimit
  /** Time of pixel events, costs and metadata without times of their own, epoch milliseconds. */
  nowMs: number
  mapping?: Mapping
  /** Whether the rows are only checked. */
  isDryRun?: boolean
  /** Whether `account export` wrote the rows; the limit then does not count rows of removed months. */
  isMoved?: boolean
  /** Called under the lease, before the first row is stored. */
  prepare?: (writer: Writer) => Promise<void>
  /** Of the writer. */
  statementWindowMs?: number | undefined
}

/**
 * Characters of the file that one batch may hold. It ends batches of very long rows only: 50,000 rows of common length are
 * far below it.
 */
const batchCharactersMax = 64 << 20

/** Row counts by outcome; `read` is the sum of inserted, updated, duplicates and rejected once the import has ended. */
export interface Tally {
  read: number
  inserted: number
  updated: number
  duplicates: number
  /** Duplicates of a stored row that is newer. */
  older: number
  /** Duplicates that differ from a stored row which is not newer. */
  conflicting: number
  rejected: number
}

export function emptyTally(): Tally {
  return { read: 0, inserted: 0, updated: 0, duplicates: 0, older: 0, conflicting: 0, rejected: 0 }
}

export interface ImportObserver {
  /** Receives progress lines, warnings and, at the end, the reasons of rejected rows. */
  onMessage(line: string): void
  /** Ends the import after the batch that is being stored. */
  signal: AbortSignal
  /** Called after each block of the file. @param fraction of the file that was read, 0 to 1; undefined: size unknown */
  onProgress(tally: Readonly<Tally>, fraction: number | undefined): void
}

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
  const { resource, account, nowMs, mapping, isDryRun, isMoved = false, rejectLimit, statementWindowMs } = options
  const ended = new AbortController()
  const reading = AbortSignal.any([signal, ended.signal])
  const check = (names: readonly string[]) => checkHeader(resource, names, mapping)
  const source = 'path' in options.source ? await openSource(options.source, check, reading) : options.source
  const changes = new AlteredValues()
  /** Of the row that is being read. */
  const altered: Alteration[] = []
  const note: Input['note'] = (field, message, value) => altered.push({ field, message, value })
  const input: Input = { ...noMapping, ...mapping, from: source.from, isMoved, note }
  const rejects = new Rejects(options.rejects, isDryRun ? () => {} : onMessage)
  let limited = 0
  const mapped = input.map.flatMap(([column, field]) => (field === '' ? [] : [column]))
  /** Columns of `--map` that no JSON row has had; the header of a CSV file has been checked. */
  const unseen = new Set(source.from === 'json' ? mapped : [])
  const reasons = new RejectReasons()
  const conflicting: string[] = []
  const working = new AbortController()
  const unlink = whenAborted(signal, () => working.abort(signal.reason))
  let storeTimer: NodeJS.Timeout | undefined
  let writer: Writer | undefined
  let batches: AlternatingBatches | undefined
  try {
    if (!isDryRun)
      writer = await openWriter(stores, account.id, { onMessage, signal: working.signal, statementWindowMs })
    const lost = writer?.lease.lost
    lost?.addEventListener('abort', () => ended.abort(lost.reason), { once: true })
    if (writer) await options.prepare?.(writer)
    const campaigns = writer && new UnknownCampaigns(writer)
    const table = resourceTables[resource]
    const read = readerOf(table, account.currency, isMoved)
    const retained = await (writer?.readRetained() ?? readRetainedRanges(stores.postgres, account.id))
    const erased = writer && !isMoved ? await ErasedIdentifiers.read(writer) : undefined
    const rules = { accountId: account.id, retained, erased }
    const isChanging = table === 'conversions' || table === 'costs'
    const importFile = writer && isChanging && !isMoved ? await source.fingerprint() : undefined
    const rowSource: RowSource = { nowMs, undatedAtMs: nowMs, importFile }
    const assertFirst = firstLines()
    const lookUps = writer && openLookUps(writer, { rows: comparedDuplicates })
    const newBatch = () => writer && lookUps && new RowBatch(writer, lookUps, isMoved)
    let isToErase = false
    /** Rows of the filled batch by the campaign that they name. */
    let rowsByCampaign = new Map<string, number>()
    const storeBatch = async (batch: RowBatch) => {
      const named = rowsByCampaign
      rowsByCampaign = new Map()
      await campaigns?.count(named)
      const { outcomes, conflicts, toErase } = await batch.store(nowMs)
      isToErase ||= toErase.length > 0
      for (const outcome of outcomes) {
        tally[outcome === 'inserted' || outcome === 'updated' ? outcome : 'duplicates'] += 1
        if (outcome === 'older') tally.older += 1
      }
      tally.conflicting += conflicts.length
      conflicting.push(...conflicts.slice(0, shownConflicts - conflicting.length))
    }
    batches = new AlternatingBatches(newBatch, rowsMax[table], storeBatch)
    if (source.isStream) {
      // What standard input gave until a signal is stored; the caller ends the process at the second signal.
      unlink()
      const storeFilled = () => batches?.storeFilled().catch((error: unknown) => ended.abort(error))
      storeTimer = setInterval(() => batches?.characters && storeFilled(), visibleMs)
    }
    const turn = new Turn()
    for await (const rows of source.isStream ? untilSignal(source.rows, signal) : source.rows) {
      for (const { line, text, fields } of rows) {
        if (turn.isOver(text.length)) await immediate()
        tally.read += 1
        try {
          if (fields instanceof RowError) throw fields
          for (const column of unseen) if (Object.hasOwn(fields, column)) unseen.delete(column)
          const decoded = decodeRow(table, read, [fields, input, line], rules, rowSource)
          if (decoded.table === 'costs') assertFirst(decoded.row as ReadCost, line)
          batches.filled?.add(decoded)
          const { campaignId } = decoded.row
          if (typeof campaignId === 'string') rowsByCampaign.set(campaignId, (rowsByCampaign.get(campaignId) ?? 0) + 1)
          if (altered.length > 0) changes.count(line, altered)
        } catch (error) {
          if (!(error instanceof RowError)) throw error
          tally.rejected += 1
          const reject: Reject = { line, reason: error.message, row: text }
          reasons.add(error.reasons, reject)
          await rejects.add(reject)
          if (!(isMoved && error instanceof RemovedMonthError)) limited += 1
          assertWithin(rejectLimit, { read: tally.read, rejected: limited }, false)
        }
        altered.length = 0
        batches.characters += text.length
        if (batches.isFull) await batches.storeFilled()
      }
      onProgress(tally, source.fractionRead())
    }
    clearInterval(storeTimer)
    if (!signal.aborted) assertWithin(rejectLimit, { read: tally.read, rejected: limited }, true)
    await batches.storeFilled()
    await batches.settle()
    if (writer && table === 'clicks') await attributeEarlyConversions(writer, [account.id])
    if (writer && isToErase) await completeErasures(writer, { ifStillRead: 'leave' })
    const warning = campaigns?.warning()
    if (warning !== undefined) onMessage(warning)
    // Rows of an exported account still have what was erased since the export.
    if (tally.conflicting > 0 && !isMoved) onMessage(conflictWarning(resource, tally.conflicting, conflicting, nowMs))
    const missing = `${unseen.size === 1 ? 'column' : 'columns'} ${[...unseen].join(', ')}`
    if (tally.read > 0 && unseen.size > 0) onMessage(`warning: no row has the ${missing} of --map.`)
  } finally {
    unlink()
    clearInterval(storeTimer)
    ended.abort(new Error('The import has ended.'))
    // The lease must not be released while a batch is being stored.
    await batches?.settle().catch(() => {})
    for (const line of [...changes.summary(), ...reasons.summary()]) onMessage(line)
    await rejects.close().finally(() => writer?.close())
  }
  return changes.list()
}

/** One batch is filled while the other one is stored. */
class AlternatingBatches {
  /** Gets the next rows. */
  filled: RowBatch | undefined
  /** Characters of the rows read since the batch became the filled one, also of rejected rows. */
  characters = 0
  #other: RowBatch | undefined
  readonly #rowsMax: number
  readonly #store: (batch: RowBatch) => Promise<void>
  #swapping: Promise<void> = Promise.resolve()
  #storing: Promise<void> = Promise.resolve()

  /** @param newBatch returns undefined in a dry run @param store stores and empties a batch */
  constructor(newBatch: () => RowBatch | undefined, rowsMax: number, store: (batch: RowBatch) => Promise<void>) {
    ;[this.filled, this.#other] = [newBatch(), newBatch()]
    this.#rowsMax = rowsMax
    this.#store = store
  }

  get isFull(): boolean {
    const { filled } = this
    return filled?.isFull || (filled?.size ?? 0) >= this.#rowsMax || this.characters >= batchCharactersMax
  }

  /**
   * Starts to store the filled batch once the other one is stored, and then fills the other one.
   * @throws the error of the batch that was stored before; the next call, or `settle`, throws the error of this batch
   */
  storeFilled(): Promise<void> {
    this.#swapping = this.#swapping.then(async () => {
      await this.#storing
      this.#storing = this.filled ? this.#store(this.filled) : Promise.resolve()
      // The next await of `#storing` throws a failure; this handler only prevents an unhandled rejection before it.
      this.#storing.catch(() => {})
      ;[this.filled, this.#other] = [this.#other, this.filled]
      this.characters = 0
    })
    return this.#swapping
  }

  /** Waits until no batch is being stored. @throws the error of a batch; no other batch is then being stored */
  async settle(): Promise<void> {
    await this.#swapping
    await this.#storing
  }
}

/** Rows of one batch, which are decoded until it is stored; clicks are encoded, and limited by their bytes. */
const rowsMax: Record<Table, number> = {
  clicks: Number.POSITIVE_INFINITY,
  conversions: 10_000,
  costs: 10_000,
  pixel_events: 20_000,
  campaigns: 50_000,
  offers: 50_000,
  landing_pages: 50_000,
  traffic_sources: 50_000,
}

const shownConflicts = 3

/** @param ids the first ones */
function conflictWarning(resource: ResourceName, count: number, ids: readonly string[], nowMs: number): string {
  const differ = `${count === 1 ? `1 row differs from the stored row with its id, and was` : `${count} rows differ from the stored rows with their ids, and were`} not stored (${ids.join(', ')}${count > ids.length ? ', …' : ''}).`
  if (resource === 'conversions' || resource === 'costs') {
    const updatedAt = `${new Date(nowMs).toISOString().slice(0, 19)}Z`
    const removed = resource === 'costs' ? ' The id of a cost that was removed by its age stays taken.' : ''
    return `warning: ${differ} A ${resource.slice(0, -1)} is replaced by a row with a later updatedAt, such as --constant updatedAt=${updatedAt}.${removed}`
  }
  const never =
    resource === 'clicks' ? 'click never changes, so a repeated click corrects no cost' : 'event never changes'
  return `warning: ${differ} A stored ${never}. The first ${comparedDuplicates} duplicates of an import are compared.`
}

/** Rows of standard input wait no longer for a full batch, milliseconds. */
const visibleMs = 2_000

/** Yields the same blocks, and ends when the signal has ended their source. */
async function* untilSignal(blocks: ImportSource['rows'], signal: AbortSignal): ImportSource['rows'] {
  try {
    yield* blocks
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

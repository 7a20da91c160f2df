import type { NamedTable } from '../../schema/metadata.ts'
import type { Account } from '../accounts/accounts.ts'
import type { RetainedRanges } from '../stores/postgres/retainedRanges.ts'
import { ErasedIdentifiers } from '../writer/erasure/erasedIdentifiers.ts'
import type { Writer } from '../writer/fence/session.ts'
import { ClickBatch, existingClicks } from '../writer/store/clicks.ts'
import { flush } from '../writer/store/flush.ts'
import { comparedDuplicates } from '../writer/store/givenFields.ts'
import type { MetadataRow } from '../writer/store/metadata.ts'
import { existingPixelEvents } from '../writer/store/pixelEvents.ts'
import { attributeLateClicks } from '../writer/store/reattribution.ts'
import type { RowOutcome } from '../writer/store/rowOutcome.ts'
import type { Click } from '../writer/tables/click.ts'
import type { PixelEvent } from '../writer/tables/pixelEvent.ts'
import type { UnknownCampaigns } from './campaigns.ts'
import { clickReader } from './readers/click.ts'
import { conversionReader } from './readers/conversion.ts'
import { costReader, type ReadCost } from './readers/cost.ts'
import type { Input } from './readers/mapping.ts'
import { metadataReader } from './readers/metadata.ts'
import { pixelEventReader } from './readers/pixelEvent.ts'
import type { RawFields, RowReader } from './readers/rowDecoder.ts'
import { RemovedMonthError, RowError } from './readers/rowError.ts'
import { type ResourceName, resourceTables } from './resourceNames.ts'
import type { ImportSource } from './source.ts'

export interface StoredCounts {
  inserted: number
  updated: number
  duplicates: number
  /** Duplicates of a stored row that is newer. */
  older: number
}

export interface StoredRows extends StoredCounts {
  /** Ids of duplicates that differ from a stored row which is not newer. */
  conflicts: readonly string[]
}

const noRows: StoredRows = { inserted: 0, updated: 0, duplicates: 0, older: 0, conflicts: [] }

/** Rows of one resource that are stored together; empty again once they are stored. */
export interface RowBatch {
  readonly isFull: boolean
  /** @throws RowError when the row is rejected */
  add(fields: RawFields, input: Input, line: number): void
  store(): Promise<StoredRows>
}

/** Reads and stores the rows of one resource during one import. */
export interface ResourceImport {
  /** Called twice: one batch is filled while the other is stored. */
  newBatch(): RowBatch
  /** Called once after all rows are stored. */
  finish?(): Promise<void>
}

/** @returns the reader of rows of a file, to check them without an import; `nowMs` and `isMoved` as of an import */
export function readerOf(
  resource: ResourceName,
  account: Pick<Account, 'id' | 'currency'>,
  isMoved: boolean,
  nowMs = 0,
): RowReader<unknown> {
  const table = resourceTables[resource]
  if (table === 'clicks') return clickReader(account)
  if (table === 'conversions') return conversionReader(account, isMoved)
  if (table === 'costs') return costReader(account, isMoved, nowMs)
  return table === 'pixel_events' ? pixelEventReader(account.id, isMoved, nowMs) : metadataReader(table, account.id)
}

/** Checks the rows of a resource as an import does, and stores none. */
export function dryRun(
  resource: ResourceName,
  account: Account,
  { clicksMs, eventsMs }: RetainedRanges,
  nowMs: number,
): ResourceImport {
  const read = readerOf(resource, account, false, nowMs) as RowReader<
    Pick<Click, 'clickedAt'> & Pick<PixelEvent, 'occurredAt'> & ReadCost
  >
  const assertFirst = firstLines()
  const add: RowBatch['add'] = (fields, input, line) => {
    const row = read(fields, input)
    if (resource === 'clicks') assertRetained('clickedAt', row.clickedAt, clicksMs)
    if (resource === 'pixel-events') assertRetained('occurredAt', row.occurredAt, eventsMs)
    if (resource !== 'costs') return
    assertRetained('spentAt', row.spentAt, clicksMs)
    assertFirst(row, line)
  }
  return { newBatch: () => ({ isFull: false, add, store: async () => noRows }) }
}

/** One import: its account, its file and its start time, epoch milliseconds. */
export interface ImportRun {
  writer: Writer
  account: Account
  source: Pick<ImportSource, 'fingerprint'>
  campaigns: Pick<UnknownCampaigns, 'add'>
  nowMs: number
  /**
   * Whether `account export` wrote the rows: they are stored as they are. Erasures have blanked them, and they have what they
   * copied from their clicks and campaigns.
   */
  isMoved: boolean
}

export async function importResource(resource: ResourceName, run: ImportRun): Promise<ResourceImport> {
  const table = resourceTables[resource]
  if (table === 'clicks') return await importClicks(run)
  if (table === 'conversions') return await importConversions(run)
  if (table === 'costs') return await importCosts(run)
  return table === 'pixel_events' ? await importPixelEvents(run) : importMetadata(table, run)
}

async function importClicks({ writer, account, campaigns, isMoved }: ImportRun): Promise<ResourceImport> {
  const read = clickReader(account)
  const existing = existingClicks(writer)
  const erased = await ErasedIdentifiers.read(writer)
  const { clicksMs } = await writer.readRetained()
  const compared = { rows: comparedDuplicates }
  return {
    newBatch() {
      const batch = new ClickBatch(existing, compared)
      return {
        get isFull() {
          return batch.isFull
        },
        add(fields, input) {
          const click = read(fields, input)
          assertRetained('clickedAt', click.clickedAt, clicksMs)
          if (!isMoved) erased.blankClick(click)
          batch.add(click)
          campaigns.add(click.campaignId)
        },
        async store() {
          await erased.recordFound()
          const { clicks } = await flush(writer, { clicks: batch })
          return countOutcomes(clicks, batch.conflicts)
        },
      }
    },
    async finish() {
      await attributeLateClicks(writer, [account.id])
      await erased.finish()
    },
  }
}

async function importConversions({ writer, account, source, campaigns, isMoved }: ImportRun): Promise<ResourceImport> {
  const read = conversionReader(account, isMoved)
  const importFile = isMoved ? '' : await source.fingerprint()
  const erased = await ErasedIdentifiers.read(writer)
  return {
    newBatch: () =>
      bufferedBatch(
        10_000,
        (fields, input, importLine) => {
          const row = read(fields, input)
          if (!isMoved) erased.blankConversion(Object.assign(row, { importFile, importLine }))
          campaigns.add(row.campaignId)
          return row
        },
        async (conversions) => (await flush(writer, { conversions, isMoved })).conversions,
      ),
  }
}

async function importCosts({ writer, account, source, campaigns, nowMs, isMoved }: ImportRun): Promise<ResourceImport> {
  const read = costReader(account, isMoved, nowMs)
  const importFile = isMoved ? '' : await source.fingerprint()
  const { clicksMs } = await writer.readRetained()
  const assertFirst = firstLines()
  return {
    newBatch: () =>
      bufferedBatch(
        10_000,
        (fields, input, importLine) => {
          const row = read(fields, input)
          assertRetained('spentAt', row.spentAt, clicksMs)
          assertFirst(row, importLine)
          if (!isMoved) Object.assign(row, { importFile, importLine })
          campaigns.add(row.campaignId)
          return row
        },
        async (costs) => (await flush(writer, { costs })).costs,
      ),
  }
}

/** @returns a check of the costs of one file, which throws RowError for a derived id that an earlier line has */
function firstLines(): (row: ReadCost, line: number) => void {
  const lines = new Map<string, number>()
  return ({ id, hasDerivedId }, line) => {
    if (!hasDerivedId) return
    const first = lines.get(id)
    if (first !== undefined)
      throw new RowError(`same day and dimensions as line ${first}: map \`id\` or another dimension`)
    lines.set(id, line)
  }
}

async function importPixelEvents({ writer, account, campaigns, nowMs, isMoved }: ImportRun): Promise<ResourceImport> {
  const read = pixelEventReader(account.id, isMoved, nowMs)
  const existing = existingPixelEvents(writer)
  const erased = await ErasedIdentifiers.read(writer)
  const { eventsMs } = await writer.readRetained()
  const compared = { rows: comparedDuplicates }
  return {
    newBatch: () =>
      bufferedBatch(
        20_000,
        (fields, input) => {
          const event = read(fields, input)
          assertRetained('occurredAt', event.occurredAt, eventsMs)
          if (!isMoved) erased.blankEvent(event)
          campaigns.add(event.campaignId)
          return event
        },
        async (rows) => (await flush(writer, { events: { rows, existing, compared }, isMoved })).pixel_events,
      ),
  }
}

function importMetadata(table: NamedTable, { writer, account, nowMs }: ImportRun): ResourceImport {
  const read = metadataReader(table, account.id)
  const store = async (rows: readonly MetadataRow[]) =>
    (await flush(writer, { metadata: { nowMs, rows: { [table]: rows } } }))[table] ?? []
  return { newBatch: () => bufferedBatch(50_000, read, store) }
}

/** @throws RemovedMonthError when rows of that time have been removed: the sums still count the removed clicks */
export function assertRetained(field: string, atMs: number, retainedMs: number): void {
  if (atMs >= retainedMs) return
  const month = new Date(retainedMs).toISOString().slice(0, 10)
  throw new RemovedMonthError(`${field}: is before ${month}; the account has removed earlier rows`)
}

/** @param conflicts ids of the rows with that outcome */
function countOutcomes(outcomes: readonly RowOutcome[], conflicts: readonly string[]): StoredRows {
  const counts = { inserted: 0, updated: 0, duplicate: 0, older: 0, conflict: 0 }
  for (const outcome of outcomes) counts[outcome] += 1
  const { inserted, updated, duplicate, older, conflict } = counts
  return { inserted, updated, duplicates: duplicate + older + conflict, older, conflicts }
}

/** A batch that keeps its rows decoded until they are stored. */
function bufferedBatch<Row extends { id: string }>(
  rowsMax: number,
  read: (fields: RawFields, input: Input, line: number) => Row,
  store: (rows: readonly Row[]) => Promise<readonly RowOutcome[]>,
): RowBatch {
  let rows: Row[] = []
  return {
    get isFull() {
      return rows.length >= rowsMax
    },
    add(fields, input, line) {
      rows.push(read(fields, input, line))
    },
    async store() {
      const stored = rows
      rows = []
      const outcomes = stored.length > 0 ? await store(stored) : []
      const conflicts = stored.flatMap(({ id }, index) => (outcomes[index] === 'conflict' ? [id] : []))
      return countOutcomes(outcomes, conflicts)
    },
  }
}

import type { NamedTable } from '../../schema/metadata.ts'
import type { Account } from '../accounts/accounts.ts'
import { ErasedIdentifiers } from '../writer/erasure/erasedIdentifiers.ts'
import type { Writer } from '../writer/lease/writer.ts'
import { ClickBatch, existingClicks } from '../writer/store/clicks.ts'
import { storeConversions } from '../writer/store/conversions.ts'
import { attributeLateClicks } from '../writer/store/lateClicks.ts'
import { storeMetadata } from '../writer/store/metadata.ts'
import { existingPixelEvents, storePixelEvents } from '../writer/store/pixelEvents.ts'
import { assignOwners } from './campaignOwners.ts'
import { clickReader } from './readers/click.ts'
import { conversionReader } from './readers/conversion.ts'
import { metadataReaders } from './readers/metadata.ts'
import { pixelEventReader } from './readers/pixelEvent.ts'
import type { RawFields } from './readers/rowDecoder.ts'
import { RemovedMonthError } from './readers/rowError.ts'
import type { ResourceName } from './resourceNames.ts'
import type { Source } from './source.ts'
import { UnknownCampaigns } from './unknownCampaigns.ts'

/** Row counts of a stored batch. */
export interface Outcome {
  inserted: number
  updated: number
  duplicates: number
}

/** Rows of one resource that are stored together; empty again once they are stored. */
export interface RowBatch {
  readonly isFull: boolean
  /** @throws RowError when the row is rejected */
  add(fields: RawFields, from: 'json' | 'cells', line: number): void
  store(): Promise<Outcome>
}

/** Reads and stores the rows of one resource during one import. */
export interface ResourceImport {
  /** Called twice: one batch is filled while the other is stored. */
  newBatch(): RowBatch
  /** Called once after all rows are stored. */
  finish?(): Promise<void>
  /** For resources with rows that refer to campaigns. */
  readonly unknownCampaigns?: UnknownCampaigns
}

/** One import: its account, its file and its start time, epoch milliseconds. */
export interface ImportRun {
  writer: Writer
  account: Account
  source: Pick<Source, 'fingerprint'>
  nowMs: number
  /**
   * Whether the rows are those of a folder of `account export`: they are stored as they are. Erasures have blanked them, and
   * they have what they copied from their clicks and campaigns.
   */
  isMoved: boolean
}

/** The importer of each resource. */
export const resources = {
  clicks: importClicks,
  conversions: importConversions,
  'pixel-events': importPixelEvents,
  campaigns: importMetadata('campaigns'),
  offers: importMetadata('offers'),
  'landing-pages': importMetadata('landing_pages'),
  'traffic-sources': importMetadata('traffic_sources'),
} as const satisfies Record<ResourceName, (run: ImportRun) => Promise<ResourceImport>>

async function importClicks({ writer, account, isMoved }: ImportRun): Promise<ResourceImport> {
  const read = clickReader(account)
  const existing = existingClicks(writer)
  const erased = await ErasedIdentifiers.read(writer)
  const { clicksMs } = await writer.readRetained()
  const unknownCampaigns = new UnknownCampaigns(writer)
  return {
    unknownCampaigns,
    newBatch() {
      const batch = new ClickBatch()
      let added = 0
      return {
        get isFull() {
          return batch.isFull
        },
        add(fields, from) {
          const click = read(fields, from)
          assertRetained('clickedAt', click.clickedAt, clicksMs)
          if (!isMoved) erased.blankClick(click)
          batch.add(click)
          unknownCampaigns.add(click.campaignId)
          added += 1
        },
        async store() {
          await unknownCampaigns.lookUp()
          await erased.recordFound()
          const inserted = await batch.store(writer, existing)
          const outcome = { inserted, updated: 0, duplicates: added - inserted }
          added = 0
          return outcome
        },
      }
    },
    async finish() {
      await attributeLateClicks(writer)
      await erased.finish()
    },
  }
}

async function importConversions({ writer, account, source, isMoved }: ImportRun): Promise<ResourceImport> {
  const read = conversionReader(account, isMoved)
  const importFile = isMoved ? '' : await source.fingerprint()
  const erased = await ErasedIdentifiers.read(writer)
  const unknownCampaigns = new UnknownCampaigns(writer)
  return {
    unknownCampaigns,
    newBatch: () =>
      bufferedBatch(
        10_000,
        (fields, from, importLine) => {
          const row = read(fields, from)
          if (!isMoved) erased.blankConversion(Object.assign(row, { importFile, importLine }))
          unknownCampaigns.add(row.campaignId)
          return row
        },
        async (rows) => {
          await unknownCampaigns.lookUp()
          return await storeConversions(writer, rows, isMoved)
        },
      ),
  }
}

async function importPixelEvents({ writer, account, nowMs, isMoved }: ImportRun): Promise<ResourceImport> {
  const read = pixelEventReader(account.id, nowMs)
  const existing = existingPixelEvents(writer)
  const erased = await ErasedIdentifiers.read(writer)
  const { eventsMs } = await writer.readRetained()
  const unknownCampaigns = new UnknownCampaigns(writer)
  return {
    unknownCampaigns,
    newBatch: () =>
      bufferedBatch(
        20_000,
        (fields, from) => {
          const event = read(fields, from)
          assertRetained('occurredAt', event.occurredAt, eventsMs)
          if (!isMoved) erased.blankEvent(event)
          unknownCampaigns.add(event.campaignId)
          return event
        },
        async (events) => {
          await unknownCampaigns.lookUp()
          if (!isMoved) await assignOwners(writer, events)
          const inserted = await storePixelEvents(writer, existing, events)
          return { inserted, updated: 0, duplicates: events.length - inserted }
        },
      ),
  }
}

function importMetadata(table: NamedTable): (run: ImportRun) => Promise<ResourceImport> {
  return async ({ writer, account, nowMs }) => {
    const read = metadataReaders[table](account.id)
    return { newBatch: () => bufferedBatch(50_000, read, (rows) => storeMetadata(writer, table, rows, nowMs)) }
  }
}

/** @throws RemovedMonthError when rows of that time have been removed: the sums still count the removed clicks */
function assertRetained(field: string, atMs: number, retainedMs: number): void {
  if (atMs >= retainedMs) return
  const month = new Date(retainedMs).toISOString().slice(0, 10)
  throw new RemovedMonthError(`${field}: is before ${month}; the account has removed earlier rows`)
}

/** A batch that keeps its rows decoded until they are stored. */
function bufferedBatch<Row>(
  rowsMax: number,
  read: (fields: RawFields, from: 'json' | 'cells', line: number) => Row,
  store: (rows: readonly Row[]) => Promise<Outcome>,
): RowBatch {
  let rows: Row[] = []
  return {
    get isFull() {
      return rows.length >= rowsMax
    },
    add(fields, from, line) {
      rows.push(read(fields, from, line))
    },
    async store() {
      const outcome = rows.length > 0 ? await store(rows) : { inserted: 0, updated: 0, duplicates: 0 }
      rows = []
      return outcome
    },
  }
}

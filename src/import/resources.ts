import type { NamedTable } from '../../schema/metadata.ts'
import type { Account } from '../accounts/accounts.ts'
import { ClickBatch, existingClicks } from '../writer/store/clicks.ts'
import { storeConversions } from '../writer/store/conversions.ts'
import { attributeLateClicks } from '../writer/store/lateClicks.ts'
import { storeMetadata } from '../writer/store/metadata.ts'
import { existingPixelEvents, storePixelEvents } from '../writer/store/pixelEvents.ts'
import type { Writer } from '../writer/writer.ts'
import { assignOwners } from './campaignOwners.ts'
import type { RawFields } from './fields.ts'
import { clickReader } from './readers/click.ts'
import { conversionReader } from './readers/conversion.ts'
import { metadataReaders } from './readers/metadata.ts'
import { pixelEventReader } from './readers/pixelEvent.ts'
import type { ResourceName } from './resourceNames.ts'
import type { Source } from './source.ts'

/** What became of rows that were taken. */
export interface Outcome {
  inserted: number
  updated: number
  duplicates: number
}

/** Rows of one resource, gathered and stored together; empty again once they are stored. */
export interface RowBatch {
  readonly isFull: boolean
  /** @throws Refusal when the row is not taken */
  add(fields: RawFields, from: 'json' | 'cells', line: number): void
  store(): Promise<Outcome>
}

/** How the rows of one resource are taken and stored, for one run. */
export interface ResourceImport {
  /** Two are filled and stored in turns: while one is on its way, the next one fills. */
  newBatch(): RowBatch
  /** What remains to be done once every row is stored. */
  finish?(): Promise<void>
}

/** One run: into which account, out of what, and when it began. */
export interface ImportRun {
  writer: Writer
  account: Account
  source: Pick<Source, 'fingerprint'>
  nowMs: number
}

/** Everything that can be imported, by the name that the command gives it. */
export const resources = {
  clicks: importClicks,
  conversions: importConversions,
  'pixel-events': importPixelEvents,
  campaigns: importMetadata('campaigns'),
  offers: importMetadata('offers'),
  'landing-pages': importMetadata('landing_pages'),
  'traffic-sources': importMetadata('traffic_sources'),
} as const satisfies Record<ResourceName, (run: ImportRun) => Promise<ResourceImport>>

async function importClicks({ writer, account }: ImportRun): Promise<ResourceImport> {
  const read = clickReader(account)
  const known = existingClicks(writer)
  return {
    newBatch() {
      const batch = new ClickBatch()
      let added = 0
      return {
        get isFull() {
          return batch.isFull
        },
        add(fields, from) {
          batch.add(read(fields, from))
          added += 1
        },
        async store() {
          const inserted = await batch.store(writer, known)
          const outcome = { inserted, updated: 0, duplicates: added - inserted }
          added = 0
          return outcome
        },
      }
    },
    async finish() {
      await attributeLateClicks(writer)
    },
  }
}

async function importConversions({ writer, account, source }: ImportRun): Promise<ResourceImport> {
  const read = conversionReader(account)
  const importFile = await source.fingerprint()
  return {
    newBatch: () =>
      bufferedBatch(
        10_000,
        (fields, from, importLine) => ({ ...read(fields, from), importFile, importLine }),
        (rows) => storeConversions(writer, rows),
      ),
  }
}

async function importPixelEvents({ writer, account, nowMs }: ImportRun): Promise<ResourceImport> {
  const read = pixelEventReader(account.id, nowMs)
  const known = existingPixelEvents(writer)
  return {
    newBatch: () =>
      bufferedBatch(20_000, read, async (events) => {
        await assignOwners(writer, events)
        const inserted = await storePixelEvents(writer, known, events)
        return { inserted, updated: 0, duplicates: events.length - inserted }
      }),
  }
}

function importMetadata(table: NamedTable): (run: ImportRun) => Promise<ResourceImport> {
  return async ({ writer, account, nowMs }) => {
    const read = metadataReaders[table](account.id)
    return { newBatch: () => bufferedBatch(50_000, read, (rows) => storeMetadata(writer, table, rows, nowMs)) }
  }
}

/** A batch that keeps its rows as they are read until they are stored. */
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

import type { Account } from '../accounts/accounts.ts'
import { openWriter } from '../writer/open.ts'
import type { Writer } from '../writer/writer.ts'
import { Rejects } from './rejects.ts'
import type { ResourceName } from './resourceNames.ts'
import { type Outcome, type RowBatch, resources } from './resources.ts'
import { RowError } from './rowError.ts'
import type { Source } from './source.ts'

/** What is to be imported, and into what. */
export interface ImportOptions {
  resource: ResourceName
  account: Account
  /** Opens the rows. @param signal ends the reading, also while it waits for more */
  open(signal: AbortSignal): Promise<Source>
  /** Where rejected rows go; undefined: to `say`. */
  rejects: string | undefined
  /** When pixel events and metadata without times of their own came to be, epoch milliseconds. */
  nowMs: number
}

/** How many rows were read and what became of them: `read` is the sum of the others once the import has ended. */
export interface Tally extends Outcome {
  read: number
  rejected: number
}

export interface ImportObserver {
  onMessage(line: string): void
  /** Ends the import after the batch that is on its way. */
  signal: AbortSignal
  /** Called now and then. @param fraction of the file, 0 to 1, where it is known */
  onProgress(tally: Readonly<Tally>, fraction: number | undefined): void
}

/**
 * Imports rows. They are stored in batches, each of them wholly or not at all; whatever ends an import, running it
 * again completes it.
 * @param tally counts as it goes, and tells how far it came when it fails
 * @throws what the source throws, LeaseLost, the reason of `signal`, or the error of a store that stays away
 */
export async function importRows(
  stores: Writer['stores'],
  { resource, account, open, rejects: rejectsPath, nowMs }: ImportOptions,
  tally: Tally,
  { onMessage: say, signal, onProgress }: ImportObserver,
): Promise<void> {
  const ended = new AbortController()
  const source = await open(AbortSignal.any([signal, ended.signal]))
  const rejects = new Rejects(rejectsPath, say)
  let writer: Writer | undefined
  let batches: DoubleBuffer | undefined
  try {
    writer = await openWriter(stores, account.id, { onMessage: say, signal })
    const { lost } = writer.lease
    lost.addEventListener('abort', () => ended.abort(lost.reason), { once: true })
    const { newBatch, finish } = await resources[resource]({ writer, account, source, nowMs })
    batches = new DoubleBuffer(newBatch, tally)
    for await (const rows of source.rows) {
      for (const { line, text, fields } of rows) {
        tally.read += 1
        try {
          if (fields instanceof RowError) throw fields
          batches.filling.add(fields, source.from, line)
        } catch (error) {
          if (!(error instanceof RowError)) throw error
          tally.rejected += 1
          await rejects.add({ line, reason: error.message, row: text })
        }
        if (batches.filling.isFull) await batches.handOver()
      }
      onProgress(tally, source.fractionRead())
    }
    await batches.handOver()
    await batches.settled()
    await finish?.()
  } finally {
    ended.abort(new Error('The import has ended.'))
    // The next writer must not come in while a batch is on its way.
    await batches?.settled().catch(() => {})
    await rejects.close().finally(() => writer?.close())
  }
}

/** Two batches in turns: while one is stored, the next one fills. */
class DoubleBuffer {
  /** The batch that takes rows now. */
  filling: RowBatch
  readonly #tally: Tally
  #resting: RowBatch
  #storing: Promise<void> = Promise.resolve()

  constructor(newBatch: () => RowBatch, tally: Tally) {
    this.filling = newBatch()
    this.#resting = newBatch()
    this.#tally = tally
  }

  /**
   * Begins to store what has been filled, once the batch before is stored.
   * @throws what storing that one threw
   */
  async handOver(): Promise<void> {
    await this.#storing
    const full = this.filling
    this.filling = this.#resting
    this.#resting = full
    this.#storing = full.store().then(({ inserted, updated, duplicates }) => {
      this.#tally.inserted += inserted
      this.#tally.updated += updated
      this.#tally.duplicates += duplicates
    })
    // Whoever waits for it next hears of a failure; until then it is not unheard.
    this.#storing.catch(() => {})
  }

  /** Waits for the batch on its way. @throws what storing it threw */
  async settled(): Promise<void> {
    await this.#storing
  }
}

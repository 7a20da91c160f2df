import type { Account } from '../../accounts/accounts.ts'
import type { Writer } from '../../writer/fence/session.ts'
import type { RowOutcome } from '../../writer/store/rowOutcome.ts'
import type { Input } from '../readers/mapping.ts'
import type { RawFields } from '../readers/rowDecoder.ts'
import { RemovedMonthError } from '../readers/rowError.ts'

/** What became of the rows of a batch, in their order. */
export interface StoredRows {
  outcomes: readonly RowOutcome[]
  /** Ids of duplicates that differ from a stored row which is not newer. */
  conflicts: readonly string[]
}

/** Rows of one resource that are stored together; empty again once they are stored. */
export interface RowBatch {
  readonly isFull: boolean
  /** @returns the id of the campaign that the row names; empty: it names none @throws RowError when the row is rejected */
  add(fields: RawFields, input: Input, line: number): string
  store(): Promise<StoredRows>
}

/** Reads and stores the rows of one resource during one import. */
export interface ResourceImport {
  /** Called twice: one batch is filled while the other is stored. */
  newBatch(): RowBatch
  /** Called once after all rows are stored. */
  finishImport?(): Promise<void>
}

/** One import: its account, its file and its start time, epoch milliseconds. */
export interface ImportRun {
  writer: Writer
  account: Account
  source: { fingerprint(): Promise<string> }
  nowMs: number
  /**
   * Whether `account export` wrote the rows: they are stored as they are. Erasures have blanked them, and they have what they
   * copied from their clicks and campaigns.
   */
  isMoved: boolean
}

/** @throws RemovedMonthError when rows of that time have been removed: the sums still count the removed clicks */
export function assertRetained(field: string, atMs: number, retainedMs: number): void {
  if (atMs >= retainedMs) return
  const month = new Date(retainedMs).toISOString().slice(0, 10)
  throw new RemovedMonthError(`${field}: is before ${month}; the account has removed earlier rows`)
}

/** A batch that keeps its rows decoded until they are stored. */
export function bufferedBatch<Row extends { id: string; campaignId?: unknown }>(
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
      const row = read(fields, input, line)
      rows.push(row)
      return typeof row.campaignId === 'string' ? row.campaignId : ''
    },
    async store() {
      const stored = rows
      rows = []
      const outcomes = stored.length > 0 ? await store(stored) : []
      const conflicts = stored.flatMap(({ id }, index) => (outcomes[index] === 'conflict' ? [id] : []))
      return { outcomes, conflicts }
    },
  }
}

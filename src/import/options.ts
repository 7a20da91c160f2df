import type { Account } from '../accounts/accounts.ts'
import type { Writer } from '../writer/fence/session.ts'
import type { Mapping } from './readers/mapping.ts'
import type { ImportName } from './resourceNames.ts'
import type { ImportFile, ImportSource } from './source.ts'
import type { Tally } from './tally.ts'

/** How many rows an import may reject: a number of rows, or a percentage of the rows read. */
export type RejectLimit = { readonly rows: number } | { readonly percent: number }

export interface ImportOptions {
  resource: ImportName
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

export interface ImportObserver {
  /** Receives progress lines, warnings and, at the end, the reasons of rejected rows. */
  onMessage(line: string): void
  /** Ends the import after the batch that is being stored. */
  signal: AbortSignal
  /** Called after each block of the file. @param fraction of the file that was read, 0 to 1; undefined: size unknown */
  onProgress(tally: Readonly<Tally>, fraction: number | undefined): void
}
